"""Attributes that nobody labelled: a probe learns them elsewhere, and the audit says how often it is wrong."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.errors import UsageError
from jobs.stages import kept_items, labels
from jobs.stages.embed import open_shard
from jobs.stages.order import read_order
from jobs.stages.prior_shift import read_shift
from jobs.stages.probe import judgement, read_probe
from jobs.store import unit_file
from mprlib.baselines.clip_clip import column_order

from ..conftest import people, settings, write_audit
from ..units_in_process import run_units

LABELLED = {"name": "volunteers", "path": "labelled.parquet", "id": "person", "attributes": {"gender": {}}}
PROBES = {"gender": {"dataset": LABELLED}}
# The audited people say their age; their gender is predicted.
PREDICTED = settings()["dataset"] | {"attributes": {"gender": {"probe": "gender"}, "age": {"bins": [30, 60]}}}


def write_labelled(folder, seed=1, count=120):
    table = people(seed).head(count)
    table["person"] = [f"v{number:03d}" for number in range(len(table))]
    table.to_parquet(folder / "labelled.parquet")


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("probes")
    write_labelled(folder)
    methods = ["top_k", {"pbm": {"values": [0.0], "attributes": ["gender"]}}, {"clip_clip": {"values": [1]}}]
    hidden = people().drop(columns="gender")
    return run_units(folder, table=hidden, dataset=PREDICTED, probes=PROBES, methods=methods)


def labels_of(solved) -> pd.DataFrame:
    plan, store = solved
    tables = [store.read_table(unit_file("labels", unit.key, "labels")) for unit in plan.stages["labels"]]
    return pd.concat([table.to_pandas() for table in tables], ignore_index=True)


def women(store, unit) -> dict:
    groups = store.read_table(unit_file("solve", unit.key, "groups")).to_pylist()
    [row] = [row for row in groups if row["group"] == "gender=female"]
    return row


def test_every_item_gets_the_most_probable_level(solved):
    found = labels_of(solved)
    truth = people().set_index("person")["gender"]
    assert found["item_id"].tolist() == truth.index.tolist()
    assert found["probability"].between(0.5, 1).all()
    # Vectors lean to one side by gender: most are told right, not all.
    assert 0.8 < (found["level"].to_numpy() == truth.to_numpy()).mean() < 1


def test_group_shares_are_those_of_the_predicted_labels(solved):
    plan, store = solved
    level = labels_of(solved).set_index("item_id")["level"]
    weight = people().set_index("person")["weight"]
    [unit] = [unit for unit in plan.stages["solve"] if unit.title == "items: nurse: top_k"]
    row = women(store, unit)
    shown = store.read_table(unit_file("solve", unit.key, "results"))["item_ids"][0].as_py()
    assert row["share_selected"] == pytest.approx((level[shown] == "female").mean())
    assert row["share_reference"] == pytest.approx(weight[level == "female"].sum() / weight.sum())


def test_predicted_labels_are_read_once_for_all_pools(solved, monkeypatch):
    """An item without a level is in no pool then."""
    plan, store = solved
    of_queries = list({unit.query: unit for unit in plan.stages["solve"]}.values())
    whole = [pool_of(unit, store, monkeypatch) for unit in of_queries]
    read = []
    monkeypatch.setattr(labels, "predicted_levels", without_the_first(labels.predicted_levels, read))
    kept_items._kept.cache_clear()
    kept = [kept_items.pool_items(unit, store) for unit in of_queries]
    kept_items._kept.cache_clear()
    assert len(read) == 1 < len(of_queries)
    for own, items in zip(kept, whole):
        is_left = items.ids != read[0]
        assert own.ids.tolist() == items.ids[is_left].tolist() != items.ids.tolist()
        assert [codes.tolist() for codes in own.codes] == [codes[is_left].tolist() for codes in items.codes]


def pool_of(unit, store, monkeypatch):
    """A unit's items by its pool's file."""
    with monkeypatch.context() as patched:
        patched.setattr(kept_items, "LARGEST_PART", 0.0)
        return kept_items.pool_items(unit, store)


def without_the_first(levels_of, read):
    """Predicted levels as if the first item had no vector; its id goes to `read`."""

    def levels(ids, keys, store):
        read.append(ids[0].as_py())
        found = levels_of(ids, keys, store).to_pylist()
        return pa.chunked_array([pa.array([None, *found[1:]], pa.string())])

    return levels


def test_errors_on_held_out_items_are_the_confusion_of_predicted_labels(tmp_path):
    write_labelled(tmp_path)
    hidden = people().drop(columns="gender")
    block = PREDICTED | {"attributes": {"gender": {"probe": "gender", "errors": "held_out"}}}
    plan, store = run_units(tmp_path, table=hidden, dataset=block, probes=PROBES, methods=["top_k"])
    [probe] = plan.stages["probe"]
    counts = np.array(judgement(probe, store)["confusion"])
    (right, _), (wrong, _) = counts / counts.sum(axis=1, keepdims=True)
    for unit in plan.stages["solve"]:
        assert probe.key in unit.label_errors.probes.values()
        row = women(store, unit)
        share = (row["share_selected"] - wrong) / (right - wrong)
        assert row["share_corrected"] == pytest.approx(np.clip(share, 0, 1))
        assert row["share_corrected_low"] < row["share_corrected_high"]


def test_calibrated_probabilities_of_each_item_are_used(tmp_path):
    write_labelled(tmp_path)
    hidden = people().drop(columns="gender")
    rows = {}
    for errors in ("held_out", "probabilities"):
        block = PREDICTED | {"attributes": {"gender": {"probe": "gender", "errors": errors}}}
        plan, store = run_units(tmp_path, table=hidden, dataset=block, probes=PROBES, methods=["top_k"])
        rows[errors] = women(store, plan.stages["solve"][0])
    [fit] = plan.stages["probe"]
    [shift] = plan.stages["shift"]
    assert shift.probe == fit.key
    assert all(unit.label_errors.shifts == {"gender": shift.key} for unit in plan.stages["solve"])
    probe = read_probe(store, fit.key)
    for unit in plan.stages["labels"]:
        shard = open_shard(store, unit.vectors)
        table = store.read_table(unit_file("labels", unit.key, "labels"))
        assert np.allclose(table["calibrated"].to_pylist(), probe.calibrated(shard.vectors))
    found, other = rows["probabilities"], rows["held_out"]
    assert found["share_corrected_low"] < found["share_corrected"] < found["share_corrected_high"]
    # Both say something of the same items.
    assert found["share_corrected"] == pytest.approx(other["share_corrected"], abs=0.2)
    assert found["share_corrected"] != other["share_corrected"]
    # The reference's people are read by probabilities, as the items are.
    prior = read_shift(store, shift.key)[1]
    tables = [store.read_table(unit_file("labels", unit.key, "labels")).to_pandas() for unit in plan.stages["labels"]]
    likely = pd.concat(tables).set_index("item_id")["calibrated"].map(lambda row: prior.of([row])[0, 0])
    weight = hidden.set_index("person")["weight"]
    assert found["share_reference_corrected"] == pytest.approx(np.average(likely[weight.index], weights=weight))


@pytest.mark.parametrize("is_right", [True, False])
def test_the_test_of_a_probes_calibration_is_told(tmp_path, capsys, monkeypatch, is_right):
    write_labelled(tmp_path)
    if not is_right:
        # Much too sure of each level.
        monkeypatch.setattr("mprlib.calibration.temperature_of", lambda logits, codes: 0.02)
    block = PREDICTED | {"attributes": {"gender": {"probe": "gender", "errors": "probabilities"}}}
    path = write_audit(tmp_path, table=people().drop(columns="gender"), dataset=block, probes=PROBES, methods=["top_k"])
    output = tmp_path / "run"
    assert main(["run", str(path), "--output", str(output), "--set", "runtime.executor=local"]) == 0
    [line] = [one for one in capsys.readouterr().out.splitlines() if "held-out items off by" in one]
    said = "calibrated: on 24 held-out items off by" if is_right else "NOT calibrated: on 24 held-out items off by"
    assert said in line
    assert ("`errors: held_out`" in line) == (not is_right)
    page = (output / "report" / "index.html").read_text(encoding="utf-8")
    assert "Probabilities that are used of each item are " + said in " ".join(page.split())
    [probe] = json.loads((output / "manifest.json").read_text(encoding="utf-8"))["probes"]
    assert probe["calibration"]["is_kept"] is is_right
    assert main(["run", str(path), "--output", str(output), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["calibration"]["gender"] == probe["calibration"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"probe": None}, "errors are those of a probe"),
        ({"confusion": {"a": {"a": 1}, "b": {"b": 1}}}, "errors and confusion both say"),
        ({"errors": "all"}, "held_out"),
    ],
)
def test_errors_that_are_no_probes_are_refused(tmp_path, changes, said):
    gender = {"probe": "gender", "errors": "held_out"} | changes
    block = PREDICTED | {"attributes": {"gender": {key: value for key, value in gender.items() if value}}}
    with pytest.raises(UsageError, match=said):
        read_config(write_audit(tmp_path, dataset=block, probes=PROBES))


def test_held_out_errors_are_of_items_that_all_get_a_level(tmp_path):
    block = PREDICTED | {"attributes": {"gender": {"probe": "gender", "errors": "held_out"}}}
    probes = {"gender": PROBES["gender"] | {"least_probability": 0.6}}
    with pytest.raises(UsageError, match="least_probability"):
        read_config(write_audit(tmp_path, dataset=block, probes=probes))


def test_pbm_balances_the_predicted_levels(solved):
    plan, store = solved
    level = labels_of(solved).set_index("item_id")["level"]
    [unit] = [unit for unit in plan.stages["solve"] if unit.title == "items: nurse: pbm"]
    shown = store.read_table(unit_file("solve", unit.key, "results"))["item_ids"][0].as_py()
    assert (level[shown] == "female").sum() == 5


def test_pbm_by_a_probe_leaves_the_audited_labels_alone(tmp_path):
    write_labelled(tmp_path)
    probes = {"guess": {"dataset": LABELLED, "attribute": "gender", "least_probability": 0.9}}
    solved = run_units(tmp_path, probes=probes, methods=[{"pbm": {"values": [0.0], "probes": ["guess"]}}])
    plan, store = solved
    level = labels_of(solved).set_index("item_id")["level"]
    assert set(level) == {"female", "male", "unknown"}
    [unit] = [unit for unit in plan.stages["solve"] if unit.title == "items: nurse: pbm"]
    shown = level[store.read_table(unit_file("solve", unit.key, "results"))["item_ids"][0].as_py()]
    assert abs((shown == "female").sum() - (shown == "male").sum()) <= 1
    group = women(store, unit)
    truth = people().set_index("person")
    share = truth["weight"][truth["gender"] == "female"].sum() / truth["weight"].sum()
    assert group["share_reference"] == pytest.approx(share)


def test_clip_clip_orders_columns_by_what_they_tell_of_the_probes_people(tmp_path):
    """The audited people's own labels have no part in it."""
    write_labelled(tmp_path)
    methods = [{"clip_clip": {"values": [1], "probe": "gender"}}]
    plan, store = run_units(tmp_path, probes=PROBES, methods=methods)
    labelled = pd.read_parquet(tmp_path / "labelled.parquet")
    vectors = np.array(labelled["embedding"].tolist(), dtype=np.float32)
    [unit] = plan.stages["order"]
    expected = column_order(vectors, (labelled["gender"] == "male").to_numpy().astype(int))
    assert read_order(store, unit.key).tolist() == expected.tolist()
    assert {one.catalogue for one in plan.stages["information"]} == {plan.stages["probe"][0].catalogue}


def test_a_reference_of_people_without_labels(tmp_path):
    """The reference's people are embedded for their labels, without being searched."""
    write_labelled(tmp_path)
    people(5).drop(columns="gender").to_parquet(tmp_path / "others.parquet")
    others = PREDICTED | {"name": "others", "path": "others.parquet"}
    reference = {"name": "others", "kind": "dataset", "dataset": others}
    plan, store = run_units(tmp_path, reference=reference, probes=PROBES, methods=["top_k"])
    assert len(plan.stages["labels"]) == 3
    group = women(store, plan.stages["solve"][0])
    truth = (people(5)["gender"] == "female").mean()
    assert group["share_reference"] == pytest.approx(truth, abs=0.15)


def test_what_an_attribute_is_predicted_from_is_in_the_keys(tmp_path):
    write_labelled(tmp_path)
    path = write_audit(tmp_path, dataset=PREDICTED, probes=PROBES, methods=["top_k"])
    before = prepare(read_config(path))[1]
    assert {stage: len(units) for stage, units in before.stages.items()}["labels"] == 3
    assert any("attribute 'gender' is predicted by the probe gender" in note for note in before.notes)
    write_labelled(tmp_path, seed=2)
    after = prepare(read_config(path))[1]
    for stage, is_same in (("pool", True), ("probe", False), ("labels", False), ("solve", False)):
        assert ([unit.key for unit in before.stages[stage]] == [unit.key for unit in after.stages[stage]]) == is_same


def test_the_report_and_the_manifest_say_what_is_predicted_and_how_well(tmp_path):
    write_labelled(tmp_path)
    path = write_audit(
        tmp_path, dataset=PREDICTED, probes=PROBES, methods=["top_k"], queries=["nurse"], shard_items=200
    )
    output = tmp_path / "run"
    assert main(["run", str(path), "--output", str(output)]) == 0
    [probe] = json.loads((output / "manifest.json").read_text(encoding="utf-8"))["probes"]
    assert (probe["probe"], probe["dataset"], probe["levels"]) == ("gender", "volunteers", ["female", "male"])
    assert probe["held_out_rows"] == 24
    page = (output / "report" / "index.html").read_text(encoding="utf-8")
    assert "Predicted labels" in page
    assert "attribute gender of items" in page
    assert f"gender: {probe['accuracy']:.0%} of held-out items are labelled right" in page
    shown = pd.read_parquet(output / "items")
    assert {dict(labels)["gender"] for labels in shown["labels"]} <= {"female", "male"}
