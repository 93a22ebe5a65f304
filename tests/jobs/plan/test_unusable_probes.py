"""Probes that cannot be trained, or that nobody has: said before anything runs."""

import pandas as pd
import pytest

from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.errors import UsageError

from ..conftest import write_audit
from .test_probes import PREDICTED, PROBES, write_labelled


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("dataset.attributes.gender.probe=gendr", ["dataset", "'gendr'", "probes has gender"]),
        ("dataset.attributes.gender={probe: gender, column: sex}", ["probe goes alone", "column"]),
        ("methods=[{clip_clip: {probe: gendr}}]", ["clip_clip", "'gendr'", "probes has gender"]),
        ("methods=[{clip_clip: {probe: gender, attributes: [gender]}}]", ["both attributes and probe"]),
        ("probes.gender.attribute=sex", ["probes.gender", "no attribute 'sex'", "gender"]),
        ("probes.gender.dataset.attributes={gender: {probe: gender}}", ["itself predicted by a probe"]),
        ("probes.gender.held_out_share=1", ["held_out_share"]),
        ("probes.gender.helt_out_share=1", ["did you mean 'held_out_share'?"]),
        ("methods=[{pbm: {probes: [age]}}]", ["methods.0.pbm.probes", "'age'"]),
        ("methods=[{pbm: {probes: [gender], attributes: [age]}}]", ["both attributes and probes"]),
    ],
)
def test_unusable_probes_are_found_before_anything_runs(tmp_path, override, words):
    write_labelled(tmp_path)
    path = write_audit(tmp_path, dataset=PREDICTED, probes=PROBES)
    with pytest.raises(UsageError) as caught:
        prepare(read_config(path, (override,)))
    for word in words:
        assert word in str(caught.value)


def test_one_level_and_unknown(tmp_path):
    write_labelled(tmp_path)
    table = pd.read_parquet(tmp_path / "labelled.parquet")
    table.loc[table["gender"] == "male", "gender"] = None
    table.to_parquet(tmp_path / "labelled.parquet")
    with pytest.raises(UsageError, match="one level of gender"):
        prepare(read_config(write_audit(tmp_path, dataset=PREDICTED, probes=PROBES)))


def test_too_few_labels_of_a_level(tmp_path):
    write_labelled(tmp_path, count=12)
    path = write_audit(tmp_path, dataset=PREDICTED, probes=PROBES)
    with pytest.raises(UsageError, match="too few to train on and hold out"):
        prepare(read_config(path))
