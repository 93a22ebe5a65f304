"""What a search writes between its stages is removed once it is read, and nobody misses it."""

import json
from dataclasses import replace
from itertools import pairwise

import pandas as pd
import pytest

from jobs.audit import inventory, prepare, resumed
from jobs.cli import main
from jobs.config.file import read_config
from jobs.plan.estimate import REPORT_BYTES, UNIT_DISK_BYTES, estimate
from jobs.plan.staleness import DAMAGED, REMOVED, reasons
from jobs.results.status import status_of
from jobs.results.verify import verify
from jobs.run.intermediate import remove_read
from jobs.stages.execute import execute
from jobs.stages.pool import Pool
from jobs.stages.rescore import FOUND
from jobs.store import Store, read_receipt, receipt_file, unit_file
from tests.jobs.conftest import write_audit
from tests.jobs.units_in_process import WordEncoder, run_units

SEARCH = ("prefilter", "merge", "rescore")
# Small enough for several parts, so that there are merges.
PARTS = {
    "prefilter": {"top": 20, "shard_megabytes": 0.001},
    "shard_items": 30,
    "methods": ["top_k"],
    "function_classes": ["linear"],
}


def run(folder, capsys, **changes):
    """The last line of a run's output, and its folder."""
    path = write_audit(folder, **PARTS | changes)
    assert main(["run", str(path), "--output", str(folder / "run"), "--json"]) == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1]), Store(str(folder / "run"))


def search_files(store):
    return [name for stage in SEARCH for name in store.list(f"units/{stage}")]


def results(store):
    table = pd.read_parquet(store.path("results")).drop(columns=["run_id", "solve_seconds", "unit"])
    return table.sort_values(["query", "method", "parameter_value", "function_class"]).reset_index(drop=True)


def test_a_finished_run_has_none_of_it_and_nothing_to_do(tmp_path, capsys):
    first, store = run(tmp_path, capsys)
    assert search_files(store) == []
    assert {
        read_receipt(store, *name.removesuffix(".json").split("/")[1:]).is_removed
        for stage in SEARCH
        for name in store.list(f"receipts/{stage}")
    } == {True}
    assert verify(store, sample=1000).faults == ()
    counts = status_of(store)["stages"]
    assert all(counts[stage]["done"] == counts[stage]["units"] > 0 for stage in SEARCH)
    again, _ = run(tmp_path, capsys)
    assert (again["computed"], again["cached"]) == (0, first["computed"] + first["cached"])


def test_what_is_asked_later_of_the_same_pools_is_solved_alone(tmp_path, capsys):
    _, store = run(tmp_path, capsys)
    before = results(store)
    methods = ["top_k", {"mmr": {"values": [0.5]}}]
    found, _ = run(tmp_path, capsys, methods=methods)
    assert (found["queries_computed"], found["computed"]) == (0, 2)
    assert search_files(store) == []
    after = results(store)
    assert set(after["method"]) == {"top_k", "mmr"}
    pd.testing.assert_frame_equal(after[after["method"] == "top_k"].reset_index(drop=True), before)


def test_a_new_query_and_a_lost_pool_are_searched_again(tmp_path, capsys):
    _, store = run(tmp_path, capsys)
    before = results(store)
    for stage in ("pool", "solve"):
        store.delete(store.list(f"receipts/{stage}")[0])
    found, _ = run(tmp_path, capsys, queries=["nurse", "chef", "artist"])
    assert found["queries_computed"] == 2
    assert search_files(store) == []
    after = results(store)
    pd.testing.assert_frame_equal(after[after["query"] != "artist"].reset_index(drop=True), before)
    assert (after["query"] == "artist").sum() == 1


def test_all_pools_lost_make_the_whole_search_anew(tmp_path, capsys):
    _, store = run(tmp_path, capsys)
    before = results(store)
    for name in (*store.list("receipts/pool"), *store.list("receipts/solve")):
        store.delete(name)
    config = read_config(tmp_path / "audit.yaml")
    plan, found = resumed(config, *prepare(config), store)
    why = reasons(plan, store, found.done)
    assert {why[unit.key] for stage in SEARCH for unit in plan.stages[stage]} == {REMOVED}
    run(tmp_path, capsys)
    pd.testing.assert_frame_equal(results(store), before)


def finished_units(folder):
    """A small audit whose units are done, and their receipts."""
    plan, store = run_units(folder, **PARTS)
    return plan, store, dict(inventory(plan, store).done)


def test_tables_stay_while_a_reader_is_missing(tmp_path):
    plan, store, done = finished_units(tmp_path)
    missing = plan.stages["pool"][0]
    del done[missing.key]
    remove_read(store, plan, done)
    kept = {name.split("/")[2] for name in search_files(store)}
    assert kept == {unit.key for unit in plan.stages["rescore"]} == set(missing.scored)


def test_what_is_needed_again_is_made_again_back_to_the_vectors(tmp_path):
    """A table of the last stage is lost in the middle of the pools: what it is made of is gone already."""
    plan, store, done = finished_units(tmp_path)
    pool, lost = plan.stages["pool"][0], plan.stages["rescore"][0]
    before = store.read(Pool.file(pool.key, "pool"))
    del done[pool.key]
    remove_read(store, plan, done)
    for unit in (pool, lost):
        store.delete(receipt_file(unit.stage, unit.key))
    found = inventory(plan, store)
    again = {key for _, key in found.removed}
    assert again == {unit.key for stage in ("prefilter", "merge") for unit in plan.stages[stage]}
    for stage, key in found.removed:
        store.delete(receipt_file(stage, key))
    for unit in plan.units:
        if unit.key not in found.done:
            assert execute(unit, store, WordEncoder).message == ""
    assert store.read(Pool.file(pool.key, "pool")) == before


def test_a_run_that_was_killed_while_it_removed_leaves_nothing(tmp_path, capsys):
    plan, store, done = finished_units(tmp_path)
    unit = plan.stages["rescore"][0]
    store.write(receipt_file(unit.stage, unit.key), replace(done[unit.key], files={}).to_json().encode())
    name = unit_file(unit.stage, unit.key, FOUND)
    assert name in inventory(plan, store).leftovers
    solve = plan.stages["solve"][0]
    store.delete(receipt_file(solve.stage, solve.key))
    run(tmp_path, capsys)
    assert search_files(store) == []


def test_tables_of_a_killed_run_go_with_the_next_one_whose_search_is_another(tmp_path, capsys):
    """The pools are there, so that the new query alone is searched, by units of other keys."""
    _, store, done = finished_units(tmp_path)
    left = search_files(store)
    found, _ = run(tmp_path, capsys, queries=["nurse", "chef", "artist"])
    assert found["queries_computed"] == 1 and left
    assert search_files(store) == []
    assert not any(receipt.stage in SEARCH and store.exists(receipt_file(receipt.stage, key))
                   for key, receipt in done.items())  # fmt: skip
    # Whoever goes back has the pools.
    again, _ = run(tmp_path, capsys)
    assert again["computed"] == 0


def test_a_damaged_table_is_called_so(tmp_path):
    plan, store, _ = finished_units(tmp_path)
    pool, lost = plan.stages["pool"][0], plan.stages["rescore"][0]
    store.delete(receipt_file(pool.stage, pool.key))
    store.delete(unit_file(lost.stage, lost.key, FOUND))
    found = inventory(plan, store)
    assert reasons(plan, store, found.done)[lost.key] == DAMAGED


def test_the_estimate_of_disk_is_of_the_moment_that_takes_most(tmp_path):
    """A search with many candidates needs more room than the run in the end."""
    config = read_config(write_audit(tmp_path, **PARTS))
    _, plan = prepare(config)
    costs = {unit.key: unit.cost().disk_bytes for unit in plan.units}
    at_end = sum(costs[unit.key] for unit in plan.units if unit.stage not in SEARCH)
    stages = list(plan.stages)
    searched = [sum(costs[unit.key] for unit in plan.stages[stage]) for stage in stages if stage in SEARCH]
    before = sum(costs[unit.key] for unit in plan.units if unit.stage in stages[: stages.index(SEARCH[0])])
    pools = sum(costs[unit.key] for unit in plan.stages["pool"])
    # Each stage of the search reads what the one before has written, which then goes.
    moments = [before + sum(two) for two in pairwise([*searched, pools])]
    assert max(moments) > at_end
    rest = REPORT_BYTES + UNIT_DISK_BYTES * len(plan.units)
    assert estimate(config.settings, plan, set()).disk_bytes == pytest.approx(max(*moments, at_end) + rest)
