"""A query that is new costs only itself: the searches, pools and selections of the others stay as they are."""

import numpy as np
import pytest

from jobs.audit import prepare, resumed
from jobs.config.entries import MethodEntry
from jobs.config.file import read_config
from jobs.methods import MethodNeeds
from jobs.plan.method_units import method_units
from jobs.plan.plan_file import read_plan, write_plan
from jobs.results.remeasure import remeasure
from jobs.stages.execute import commit, execute
from jobs.stages.queries import Queries
from jobs.stages.solve import Solve
from jobs.store import Store, receipt_file
from tests.jobs.conftest import write_audit
from tests.jobs.units_in_process import WordEncoder, run_units

METHODS = ["top_k", {"clip_clip": {"values": [0, 2]}}, {"mopr": {"points": 3, "targets": ["linear"]}}]
SEARCH = ("prefilter", "merge", "rescore")


def planned(folder, queries, **changes):
    """The plan in view of what the folder has of it, what is missing, and its store."""
    config = read_config(write_audit(folder, queries=queries, methods=METHODS, **changes))
    store = Store(str(folder / "run"))
    plan, found = resumed(config, *prepare(config), store)
    return plan, [unit for unit in plan.units if unit.key not in found.done], store


def finish(plan, missing, store):
    """Compute what is missing."""
    for unit in missing:
        if unit.key in plan.made:
            commit(unit, store, plan.made[unit.key](), 0.0)
        else:
            assert execute(unit, store, WordEncoder).message == "", unit.title


def tables(store, plan):
    """Result rows by title, without times."""
    found = {}
    for unit in plan.solved:
        table = store.read_table(Solve.file(unit.key, "results"))
        found[unit.title] = table.drop_columns(["solve_seconds"])
    return found


def test_one_more_query_is_searched_and_solved_alone(tmp_path):
    before, _ = run_units(tmp_path, queries=["nurse", "chef"], methods=METHODS)
    plan, missing, store = planned(tmp_path, ["nurse", "chef", "artist"])
    assert {unit.prompts for unit in plan.units if unit.stage in ("queries", *SEARCH)} == {("A photo of an artist",)}
    assert sorted({unit.stage for unit in missing}) == ["pool", "prefilter", "queries", "rescore", "solve"]
    assert all("artist" in unit.title for unit in missing if unit.stage in ("pool", "solve"))
    kept = tables(store, before)
    finish(plan, missing, store)
    alone = tmp_path / "whole"
    alone.mkdir()
    whole, other = run_units(alone, queries=["nurse", "chef", "artist"], methods=METHODS)
    found = tables(store, plan)
    assert found == tables(other, whole)
    assert {title: found[title] for title in kept} == kept


def test_nothing_is_searched_where_all_pools_are_there(tmp_path):
    run_units(tmp_path, queries=["nurse", "chef"], methods=METHODS)
    finish(*planned(tmp_path, ["nurse", "chef", "artist"]))
    plan, missing, _ = planned(tmp_path, ["nurse", "chef", "artist"])
    assert missing == []
    assert not set(plan.stages) & set(SEARCH)


def test_a_run_that_was_ended_goes_on_with_the_search_that_it_has(tmp_path):
    before, store = run_units(tmp_path, queries=["nurse", "chef"], methods=METHODS)
    for unit in (before.stages["pool"][0], *before.stages["solve"]):
        store.delete(receipt_file(unit.stage, unit.key))
    plan, missing, _ = planned(tmp_path, ["nurse", "chef"])
    assert {unit.stage for unit in missing} == {"pool", "solve"}
    assert [unit.key for unit in plan.stages["rescore"]] == [unit.key for unit in before.stages["rescore"]]


def test_a_method_that_reads_the_query_finds_its_vector_though_its_pool_is_there(tmp_path):
    run_units(tmp_path, queries=["nurse", "chef"], methods=["top_k"], function_classes=["linear"])
    finish(*planned(tmp_path, ["nurse", "chef", "artist"], function_classes=["linear"]))
    plan, missing, store = planned(tmp_path, ["nurse", "chef", "artist"], function_classes=["linear", "groups"])
    finish(plan, missing, store)
    assert len(tables(store, plan)) == len(plan.solved)


@pytest.mark.parametrize("more", [[], ["artist"]])
def test_selections_are_measured_again_from_the_plan_file(tmp_path, more):
    run_units(tmp_path, queries=["nurse", "chef"], methods=METHODS)
    plan, missing, store = planned(tmp_path, ["nurse", "chef", *more])
    finish(plan, missing, store)
    write_plan(store, plan)
    for one in read_plan(store):
        if one.stage == Solve.stage:
            unit = Solve.from_spec(one.title, one.spec)
            assert unit.key == one.key
            rows = store.read_table(Solve.file(unit.key, "results")).to_pylist()
            assert [found["mpr"] for found in remeasure(unit, store, rows)] == [row["mpr"] for row in rows]


@pytest.mark.parametrize(("prompts", "count"), [(("A photo of a nurse",), 1), ((), 0)])
def test_no_query_is_put_behind_tokens_where_none_is_asked(prompts, count):
    """Such a unit would never be done: there is nothing to embed."""
    entry = MethodEntry(name="debias_clip", extras={"tokens": "tokens.safetensors"})
    needs = MethodNeeds(tokens=np.ones((2, 3), dtype=np.float32))
    found = method_units(entry, needs, None, None, Queries(title="", prompts=prompts), {}, {"kind": "any"})
    assert [unit.stage for unit in found.units] == ["tokens", *["debiased"] * count]
    assert (found.keys.debiased is not None) == bool(count)
