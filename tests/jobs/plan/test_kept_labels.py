"""Predicted labels of pools that are a small part of a data set: read once for all pools, or of their items alone."""

import pytest

from jobs.stages import kept_items, labels
from jobs.stages.labels import Labels, predicted_levels, with_kept_labels, with_predicted
from jobs.stages.pool import read_pool

from ..conftest import people
from ..units_in_process import run_units
from .test_probes import PREDICTED, PROBES, write_labelled


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    write_labelled(folder)
    hidden = people().drop(columns="gender")
    changes = {"prefilter": {"top": 20}, "shard_items": 30, "methods": ["top_k"], "k": [5]}
    return run_units(folder, table=hidden, dataset=PREDICTED, probes=PROBES, **changes)


def reads_of_labels(store, monkeypatch) -> list[str]:
    """Labels units whose tables are read from now on."""
    read, read_table = [], store.read_table

    def reading(name, **asked):
        if name.startswith(f"units/{Labels.stage}/"):
            read.append(name)
        return read_table(name, **asked)

    monkeypatch.setattr(type(store), "read_table", lambda self, name, **asked: reading(name, **asked))
    return read


def test_labels_are_read_once_for_the_pools_of_all_queries(solved, monkeypatch):
    plan, store = solved
    units, labelled = plan.stages["solve"], plan.stages["labels"]
    # Who has no vector has no level, and leaves the pool.
    before = [with_predicted(read_pool(store, unit.pool), unit.predicted, store) for unit in units]
    read = reads_of_labels(store, monkeypatch)
    labels._levels_of_rows.cache_clear()
    for unit, expected in zip(units, before):
        assert unit.size.people > kept_items.LARGEST_PART * unit.size.items
        found = kept_items.pool_items(unit, store)
        assert found.rows.tolist() == expected["row"].to_pylist()
        levels = [list(unit.levels["gender"])[code] for code in found.codes[list(unit.levels).index("gender")]]
        assert levels == expected["attribute:gender"].to_pylist()
    assert len(units) > 1 and len(labelled) > 1
    assert len(read) == len(labelled)


def test_an_item_without_a_predicted_level_leaves_the_pool(solved):
    plan, store = solved
    unit = plan.stages["solve"][0]
    fewer = {name: keys[:1] for name, keys in unit.predicted.items()}
    pool = read_pool(store, unit.pool)
    one, other = with_predicted(pool, fewer, store), with_kept_labels(pool, unit.catalogue, 200, fewer, store)
    assert one["row"].to_pylist() == other["row"].to_pylist() and 0 < one.num_rows < pool.num_rows
    assert one["attribute:gender"].to_pylist() == other["attribute:gender"].to_pylist()


def test_few_items_are_looked_up_table_by_table(solved, monkeypatch):
    plan, store = solved
    unit = plan.stages["solve"][0]
    ids, keys = read_pool(store, unit.pool)["item_id"], unit.predicted["gender"]
    few = predicted_levels(ids, keys, store)
    monkeypatch.setattr(labels, "FEW_ITEMS", 0)
    assert few.to_pylist() == predicted_levels(ids, keys, store).to_pylist()
    assert predicted_levels(ids[:0], keys, store).to_pylist() == []


def test_an_estimate_counts_the_labels_of_all_items(solved):
    unit = solved[0].stages["solve"][0]
    assert unit.cost().memory_bytes - unit.size.people * 270 == unit.size.items * 2_000


def test_labels_of_too_many_people_are_not_kept(solved, monkeypatch):
    plan, store = solved
    unit = plan.stages["solve"][0]
    kept = kept_items.pool_items(unit, store)
    monkeypatch.setattr(labels, "MOST_KEPT", unit.size.people - 1)
    monkeypatch.setattr(labels, "_levels_of_rows", None)
    found = kept_items.pool_items(unit, store)
    assert (found.ids.tolist(), [one.tolist() for one in found.codes]) == (
        kept.ids.tolist(),
        [one.tolist() for one in kept.codes],
    )
    assert unit.cost().memory_bytes - unit.size.people * 10 == unit.size.items * 2_000
