"""Exhibits of real people: a part of Pantheon, texts and terms that are true, one query."""

from __future__ import annotations

import pandas as pd
import pytest
import yaml

from jobs.cli import main
from jobs.report.exhibits import EXHIBITS
from tests.data_files import data_file

pytestmark = pytest.mark.system

DATA = data_file("pantheon.parquet")
if not DATA.exists():
    pytest.skip(f"{DATA.name} is absent: its terms do not let it travel with the code", allow_module_level=True)
PEOPLE = 600
CLASSES = ["linear", "linear_regression", "groups"]
METHODS = [
    "top_k",
    {"mopr": {"points": 8, "targets": ["linear"]}},
    {"mopr_qp": {"points": 8, "targets": ["linear"]}},
    {"mopr_integer": {"points": 2, "targets": ["linear"], "nodes": 100}},
    {"mmr": {"points": 4}},
    {"pbm": {"points": 4, "attributes": ["gender"]}},
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pantheon")
    people = pd.read_parquet(DATA)
    people[people["occupation"].isin(["politician", "physicist"])].head(PEOPLE).to_parquet(folder / "people.parquet")
    dataset = {
        "name": "Pantheon",
        "path": "people.parquet",
        "text": "{name}, {occupation}",
        "relevance": "occupation",
        "attributes": {"gender": {}, "continent": {}},
    }
    audit = {
        "dataset": dataset,
        "encoder": {"kind": "sentence"},
        "queries": {"list": ["physicist"]},
        "k": [20],
        "function_classes": CLASSES,
        "methods": METHODS,
        "runtime": {"executor": "local"},
    }
    (folder / "audit.yaml").write_text(yaml.safe_dump(audit))
    assert main(["run", str(folder / "audit.yaml"), "--output", str(folder / "run")]) == 0
    assert main(["exhibits", str(folder / "run"), "--output", str(folder / "made")]) == 0
    return folder / "made"


def test_every_exhibit_is_made(made):
    # All queries have one reference and one k: there is nothing to regress on, and no axis.
    assert {path.stem for path in made.glob("*.tex")} == set(EXHIBITS) - {"over_k", "shown_and_expected"}


def test_precision_is_that_of_true_terms(made):
    rows = pd.read_csv(made / "precision.csv")
    top = rows[(rows["method"] == "top_k") & (rows["mpr_fraction"] == 1.0)]
    # "A photo of a physicist" among physicists and politicians.
    assert (top["mean"] >= 0.8).all() and (rows["mean"] <= 1).all()


def test_mopr_keeps_more_similarity_than_diversity_at_the_same_mpr(made):
    rows = pd.read_csv(made / "trade_off.csv")
    rows = rows[(rows["function_class"] == "linear") & rows["status"].isin(["optimal", "feasible", "done"])]
    mopr, others = rows[rows["method"] == "mopr"], rows[rows["method"].isin(["mmr", "pbm"])]
    for other in others.itertuples():
        at_most = mopr[mopr["mpr"] <= max(other.mpr, mopr["mpr"].min())]
        assert at_most["similarity_bound"].max() >= other.similarity - 1e-9 or other.mpr > mopr["rho"].max()
    sheet = pd.read_csv(made / "contact_sheets.csv")
    assert sheet["text"].str.contains(", physicist").mean() > 0.5
