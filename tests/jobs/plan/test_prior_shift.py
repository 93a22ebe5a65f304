"""A probe's people have other shares of levels than the audited ones: probabilities follow the data set's own."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from jobs.cli import main
from jobs.stages.prior_shift import read_shift
from jobs.store import unit_file

from ..conftest import DIMENSION, settings, write_audit
from ..units_in_process import run_units

LABELLED = {"name": "volunteers", "path": "labelled.parquet", "id": "person", "attributes": {"gender": {}}}
PROBES = {"gender": {"dataset": LABELLED}}
GENDER = {"gender": {"probe": "gender", "errors": "probabilities"}}
BLOCK = settings()["dataset"] | {"attributes": GENDER | {"age": {"bins": [50]}}}


def people(size: int, women: float, seed: int) -> pd.DataFrame:
    """People whose vectors say their gender to some extent, alike whatever the shares are."""
    random = np.random.default_rng(seed)
    gender = np.where(random.random(size) < women, "female", "male")
    vectors = random.standard_normal((size, DIMENSION))
    vectors[:, 0] += np.where(gender == "male", 1.2, -1.2)
    return pd.DataFrame(
        {
            "person": [f"{seed}-{number:04d}" for number in range(size)],
            "gender": gender,
            "age": random.integers(18, 90, size),
            "job": "nurse",
            "weight": 1.0,
            "embedding": list((vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)),
        }
    )


def groups_of(plan, store) -> pd.DataFrame:
    """Rows of women in the top-k selections."""
    tables = [store.read_table(unit_file("solve", unit.key, "groups")).to_pandas() for unit in plan.stages["solve"]]
    found = pd.concat(tables)
    return found[found["group"] == "gender=female"]


def shown(plan, store) -> dict[str, list[str]]:
    rows = [store.read_table(unit_file("solve", unit.key, "results")).to_pylist()[0] for unit in plan.stages["solve"]]
    return {row["query"]: row["item_ids"] for row in rows}


@pytest.mark.parametrize("women", [0.8, 0.5])
def test_corrected_shares_are_those_of_the_audited_people(tmp_path, women):
    people(1_000, 0.5, 1).to_parquet(tmp_path / "labelled.parquet")
    audited = people(2_000, women, 2)
    plan, store = run_units(
        tmp_path, table=audited.drop(columns="gender"), dataset=BLOCK, probes=PROBES, methods=["top_k"],
        k=[50], prefilter={"top": 1_500}, function_classes=["linear"], shard_items=2_000,
    )  # fmt: skip
    levels, shift = read_shift(store, plan.stages["shift"][0].key)
    true = (audited["gender"] == "female").mean()
    assert levels == ("female", "male") and shift.why == ""
    assert shift.before[0] == pytest.approx(0.5, abs=0.04)
    assert abs(shift.after[0] - true) <= 1.96 * shift.errors[0] < 0.1
    rows, truth = groups_of(plan, store), audited.set_index("person")["gender"]
    for query, items in shown(plan, store).items():
        row = rows[rows["query"] == query].iloc[0]
        assert row["share_corrected_low"] <= (truth[items] == "female").mean() <= row["share_corrected_high"]
        # Reference and items are read alike: the mean of all people's probabilities is the data set's share.
        assert row["share_reference_corrected"] == pytest.approx(shift.after[0], abs=1e-3)
    if women == 0.5:
        given = np.linspace(0.05, 0.95, 19)
        both = np.stack([given, 1.0 - given], axis=1)
        assert shift.of(both) == pytest.approx(both, abs=0.03)


def test_a_reference_of_the_query_s_own_people_is_read_as_items_are(tmp_path):
    people(1_000, 0.5, 1).to_parquet(tmp_path / "labelled.parquet")
    others = people(1_000, 0.8, 3)
    others.drop(columns="gender").to_parquet(tmp_path / "others.parquet")
    block = BLOCK | {"name": "others", "path": "others.parquet"}
    reference = {"name": "others", "kind": "dataset", "dataset": block, "query_conditioned": True}
    plan, store = run_units(
        tmp_path, table=people(1_000, 0.8, 2).drop(columns="gender"), dataset=BLOCK, probes=PROBES,
        reference=reference, methods=["top_k"], k=[50], prefilter={"top": 400}, function_classes=["linear"],
        shard_items=1_000,
    )  # fmt: skip
    assert len(plan.stages["shift"]) == 2
    truth = others.set_index("person")["gender"]
    for unit in plan.stages["solve"]:
        pool = store.read_table(unit_file("pool", unit.reference.pool, "pool"))["item_id"].to_pylist()
        [row] = [one for one in store.read_table(unit_file("solve", unit.key, "groups")).to_pylist()
                 if one["group"] == "gender=female"]  # fmt: skip
        assert row["share_reference_corrected"] == pytest.approx((truth[pool] == "female").mean(), abs=0.06)


@pytest.mark.system
def test_shares_before_and_after_are_said(tmp_path, capsys):
    people(1_000, 0.5, 1).to_parquet(tmp_path / "labelled.parquet")
    path = write_audit(
        tmp_path, people(1_000, 0.8, 2).drop(columns="gender"), ["nurse"], dataset=BLOCK, probes=PROBES,
        methods=["top_k"], function_classes=["linear"], shard_items=1_000,
    )  # fmt: skip
    output = tmp_path / "run"
    assert main(["run", str(path), "--output", str(output)]) == 0
    printed = capsys.readouterr().out
    assert "probabilities of the probe gender: items has 8" in printed
    assert " male, where the probe learnt from " in printed and "re-weighted for that" in printed
    [said] = json.loads((output / "manifest.json").read_text(encoding="utf-8"))["prior_shifts"]
    assert (said["dataset"], said["probe"], said["left_as_given"]) == ("items", "gender", None)
    assert said["shares"]["female"] == pytest.approx(0.8, abs=0.06)
    page = " ".join((output / "report" / "index.html").read_text(encoding="utf-8").split())
    assert "By them items has 8" in page and "re-weighted for that." in page
