"""Units of one query and k share a case, and say what they would say alone."""

from dataclasses import replace

import pyarrow as pa
import pytest

from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.stages import kept_distances, kept_items, shared_case
from jobs.stages.group_rows import group_rows
from jobs.stages.pool import read_pool
from jobs.stages.shared_case import case_of
from jobs.stages.solve import Solve
from jobs.store import Store
from mprlib import Selection
from mprlib.selection import Status

from .conftest import write_audit

METHODS = ["top_k", {"mopr": {"points": 4, "targets": ["linear"]}}, {"mmr": {"points": 3}}, "dpp"]


@pytest.fixture(scope="module")
def solving(tmp_path_factory) -> tuple[Store, list[Solve]]:
    """A run, and its units that solve, in the order in which they are run."""
    folder = tmp_path_factory.mktemp("shared")
    path = write_audit(folder, methods=METHODS, k=[5, 10], function_classes=["linear", "groups"])
    assert main(["run", str(path), "--output", str(folder / "run")]) == 0
    return Store(str(folder / "run")), list(prepare(read_config(path))[1].stages["solve"])


def content(tables: dict[str, pa.Table]) -> list[pa.Table]:
    return [table.drop_columns(["solve_seconds"] if name == "results" else []) for name, table in tables.items()]


def test_rows_do_not_depend_on_which_unit_was_first(solving):
    store, units = solving
    alone = []
    for unit in units:
        shared_case._kept.cache_clear()
        alone.append(content(unit.run(store)))
    for order in (units, units[::-1]):
        together = {unit.key: content(unit.run(store)) for unit in order}
        assert [together[unit.key] for unit in units] == alone


def test_a_case_is_shared_by_methods_alone(solving):
    store, units = solving
    first = units[0]
    same = [unit for unit in units if (unit.query, unit.k) == (first.query, first.k)]
    assert len({unit.method.name for unit in same}) == len(METHODS)
    assert len({id(case_of(unit, store)) for unit in same}) == 1
    kept = case_of(first, store)
    for change in ({"k": 4}, {"seed": 1}, {"missing": "none"}, {"group_attributes": 1}, {"dataset": "other"}):
        assert case_of(replace(first, **change), store) is not kept
        kept = case_of(first, store)


def test_vectors_are_those_of_the_method_alone(solving):
    store, units = solving
    mmr = next(unit for unit in units if unit.method.name == "mmr")
    case = case_of(mmr, store)
    assert case.problem.embeddings is None
    seen = shared_case.with_vectors(mmr, store, case, case.problem)
    assert seen.embeddings is not None and len(seen.embeddings) == case.problem.n
    assert case.problem.embeddings is None


def test_distances_kept_from_query_to_query_choose_the_same(solving, monkeypatch):
    """They stand for vectors, which nobody gathers then; of few people none are kept by default."""
    store, units = solving
    mmr = [unit for unit in units if unit.method.name == "mmr"]
    without = [content(unit.run(store)) for unit in mmr]
    monkeypatch.setattr("jobs.stages.kept_distances.FEWEST_COLUMNS", 1)
    monkeypatch.setattr("jobs.stages.kept_distances.LARGEST_PART", 10.0)
    monkeypatch.setattr(shared_case, "pool_vectors", lambda *arguments: pytest.fail("vectors were gathered"))
    kept_distances._people.cache_clear()
    assert [content(unit.run(store)) for unit in mmr] == without
    assert mmr[0].cost().memory_bytes > replace(mmr[0], size=replace(mmr[0].size, people=0)).cost().memory_bytes


def test_items_kept_from_query_to_query_are_those_of_the_pools(solving, monkeypatch):
    """Of a pool that holds most of them, rows, scores and weights alone are read; of few of many, all."""
    store, units = solving
    of_queries = list({unit.query: unit for unit in units}.values())
    read = []

    def reading(store, key, columns=None, **asked):
        read.append(columns)
        return read_pool(store, key, columns, **asked)

    monkeypatch.setattr(kept_items, "read_pool", reading)
    kept = [kept_items.pool_items(unit, store) for unit in of_queries]
    monkeypatch.setattr(kept_items, "LARGEST_PART", 0.0)
    for unit, own in zip(of_queries, kept):
        whole = kept_items.pool_items(unit, store)
        for name in ("rows", "scores", "ids", "weights"):
            assert getattr(own, name).tolist() == getattr(whole, name).tolist()
        assert [codes.tolist() for codes in own.codes] == [codes.tolist() for codes in whole.codes]
        assert own.relevance.to_pylist() == whole.relevance.to_pylist()
    assert read == [["row", "score", "weight"]] * len(of_queries) + [None] * len(of_queries)


def test_a_class_over_embeddings_keeps_no_case(solving):
    store, units = solving
    seeing = replace(units[0], reference_vectors=units[2].vectors, vectors=units[2].vectors)
    assert case_of(seeing, store) is not case_of(seeing, store)


def test_groups_of_many_selections_are_those_of_each(solving):
    """Of several sizes, and of a row without a selection."""
    store, units = solving
    unit = next(unit for unit in units if unit.method.name == "mopr")
    case = case_of(unit, store)
    best = case.problem.best_first
    selections = [
        Selection(
            items=best[:size],
            status=Status.DONE,
            method="mopr",
            value=value,
            similarity=0.0,
            mpr=None,
            mpr_upper_bound=None,
        )
        for size, value in ((5, 0.1), (3, 0.2), (0, 0.3), (5, None), (7, 0.5))
    ]
    alone = pa.concat_tables([group_rows(unit, case, [one]) for one in selections])
    assert group_rows(unit, case, selections).equals(alone)
    assert alone.num_rows == 4 * len(set(alone["group"].to_pylist()))
    assert group_rows(unit, case, selections[2:3]).num_rows == 0


def test_a_reference_is_kept_with_what_was_computed_of_it(solving):
    store, units = solving
    by_query = {unit.query: unit for unit in units}
    first, second = (case_of(unit, store).problem.population for unit in list(by_query.values())[:2])
    assert first is second
