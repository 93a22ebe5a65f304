"""The search as stages: the same pools however the work is cut, and errors that name the shard."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.plan.estimate import estimate
from jobs.plan.search_units import MERGED_TABLES
from jobs.run.dispatch import UnitEnded
from jobs.stages.embed import VECTORS, Embed, open_shard
from jobs.stages.execute import commit, execute
from jobs.stages.pool import pool_vectors, read_pool
from jobs.stages.queries import query_tables
from jobs.stages.rescore import FOUND
from jobs.stages.vectors import Shard, rows_at, rows_with_vectors, shard_table, to_column, to_matrix
from jobs.store import Store, receipt_file, unit_file

from .conftest import write_audit

ROWS, WIDTH, TOP = 800, 8, 60


def crowd(ids: list[str] | None = None) -> pd.DataFrame:
    """People of whom one in twenty has exactly another's vector."""
    generator = np.random.default_rng(5)
    vectors = generator.standard_normal((ROWS, WIDTH))
    vectors[generator.integers(0, ROWS, ROWS // 20)] = vectors[generator.integers(0, ROWS, ROWS // 20)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return pd.DataFrame(
        {
            "person": [f"p{number:03d}" for number in generator.permutation(ROWS)] if ids is None else ids,
            "gender": generator.choice(["female", "male"], ROWS),
            "age": generator.integers(18, 90, ROWS),
            "job": "nurse",
            "weight": generator.uniform(0.5, 2.0, ROWS),
            "embedding": list(vectors.astype(np.float32)),
        }
    )


def searched(folder, table=None, shards=1, parts=1, top=TOP, **prefilter):
    """Plan and store of an audit, all units done up to its pools; parts of one search task each."""
    folder.mkdir(exist_ok=True)
    table = crowd() if table is None else table
    number = 2 if prefilter.get("storage") == "float16" else 4
    prefilter |= {"top": top, "shard_megabytes": len(table) / parts * WIDTH * number / 1e6}
    methods = ["top_k", {"mmr": {"values": [0.5]}}]
    path = write_audit(folder, table, prefilter=prefilter, shard_items=len(table) // shards, methods=methods)
    inputs, plan = prepare(read_config(path))
    store = Store(str(folder / "run"))
    vectors = np.array(inputs.query_vectors["vector"].to_pylist(), dtype=np.float32)
    for unit in plan.units:
        if unit.stage == "items":
            commit(unit, store, plan.made[unit.key](), 0.0)
        elif unit.stage == "queries":
            commit(unit, store, query_tables(unit.prompts, vectors), 0.0)
        elif unit.stage != "solve":
            assert execute(unit, store).message == ""
    return plan, store


def pools(plan, store) -> list[dict]:
    """Pools, with the vectors of their items."""
    found = []
    shards = [unit.key for unit in plan.stages["embed"]]
    for unit in plan.stages["pool"]:
        pool = read_pool(store, unit.key)
        vectors = pool_vectors(store, shards, pool["row"].to_numpy())
        assert vectors.dtype == np.float32
        found.append(pool.to_pydict() | {"vector": vectors.tolist()})
    return found


@pytest.fixture(scope="module", params=["float32", "float16"])
def whole(request, tmp_path_factory):
    """Pools of one shard, and the storage."""
    return pools(*searched(tmp_path_factory.mktemp("whole"), storage=request.param)), request.param


@pytest.mark.parametrize("backend", ["faiss", "torch"])
@pytest.mark.parametrize(("shards", "parts"), [(1, 1), (4, 4), (16, 16), (16, 4)])
def test_pools_are_the_same_whatever_shards_and_backend(tmp_path, whole, backend, shards, parts):
    expected, storage = whole
    plan, store = searched(tmp_path, shards=shards, parts=parts, backend=backend, storage=storage)
    assert len(plan.stages["embed"]) == shards
    assert len(plan.stages["prefilter"]) == len(plan.stages["rescore"]) == parts
    assert pools(plan, store) == expected


def test_pools_are_the_best_by_brute_force(whole):
    found, storage = whole
    frame, queries = crowd(), _queries()
    vectors = np.array(frame["embedding"].tolist()).astype(storage).astype(np.float64)
    for pool, query in zip(found, queries):
        scores = vectors @ query
        by_id = dict(zip(frame["person"], scores))
        assert np.allclose(pool["score"], np.sort(scores)[::-1][:TOP], rtol=0, atol=1e-12)
        assert np.allclose(pool["score"], [by_id[item] for item in pool["item_id"]], rtol=0, atol=1e-12)
        ranked = list(zip([-score for score in pool["score"]], pool["item_id"]))
        assert ranked == sorted(ranked)
        known = frame.set_index("person").loc[pool["item_id"]]
        assert known["gender"].tolist() == pool["attribute:gender"]
        assert np.array_equal(np.array(pool["vector"]), np.array(known["embedding"].tolist()).astype(storage))


def _queries() -> np.ndarray:
    """As `write_audit` draws them."""
    vectors = np.random.default_rng(7).standard_normal((2, WIDTH))
    vectors[:, 0] += 2.0
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32).astype(np.float64)


@pytest.mark.system
def test_two_workers_make_the_pools_of_one(tmp_path, cluster):
    expected = pools(*searched(tmp_path / "one", shards=4, parts=4))
    plan, store = searched(tmp_path / "two", shards=4, parts=4)
    for stage in ("prefilter", "merge", "rescore", "pool"):
        for unit in plan.stages[stage]:
            for name in store.list(f"units/{stage}/{unit.key}"):
                store.delete(name)
        ended = [event for event in cluster.run_tasks(plan.stages[stage], store) if isinstance(event, UnitEnded)]
        assert [event.outcome.message for event in ended] == [""] * len(plan.stages[stage])
    assert pools(plan, store) == expected


def test_merges_form_a_tree_and_hold_little_more_than_the_depth(tmp_path):
    plan, store = searched(tmp_path, shards=16, parts=16)
    merges = plan.stages["merge"]
    assert [len(unit.found.keys) for unit in merges] == [MERGED_TABLES, MERGED_TABLES, 2]
    for unit in merges:
        rows = store.read_table(unit_file("merge", unit.key, "candidates"))["rows"].to_pylist()
        # No more than the ties of the cut beyond the depth: each vector has few copies.
        assert all(TOP <= len(one) <= TOP + 5 for one in rows)


def test_a_depth_beyond_the_data_gives_all_of_it(tmp_path):
    for pool in pools(*searched(tmp_path, shards=4, parts=4, top=5000)):
        assert len(set(pool["item_id"])) == ROWS


def test_ids_that_are_unicode_or_long(tmp_path):
    ids = [f"{number:03d} 守衛 \U0001f692 {'é' * 200}"[:: -1 if number % 2 else 1] for number in range(ROWS)]
    first, second = searched(tmp_path / "a", crowd(ids)), searched(tmp_path / "b", crowd(ids), shards=4, parts=4)
    assert pools(*first) == pools(*second)
    assert set(pools(*first)[0]["item_id"]) <= set(ids)


def replaced_shard(store, plan, vectors, storage="float32"):
    """Put other vectors in the place of the first shard's."""
    key = plan.stages["embed"][0].key
    ids = open_shard(store, key).ids
    store.write_table(Embed.file(key, VECTORS), shard_table(ids.slice(0, len(vectors)), vectors, storage))
    return key


def failure_of(plan, store, stage="prefilter") -> str:
    unit = plan.stages[stage][0]
    store.delete(receipt_file(stage, unit.key))
    return execute(unit, store).message


def test_a_shard_of_another_dimension_or_dtype_is_named(tmp_path):
    plan, store = searched(tmp_path, shards=4, parts=2)
    key = replaced_shard(store, plan, np.ones((200, WIDTH + 1)))
    assert failure_of(plan, store) == f"ValueError: shard {key}: item vectors have 9 numbers, query vectors 8"
    replaced_shard(store, plan, np.ones((200, WIDTH)), "float16")
    assert failure_of(plan, store) == f"ValueError: shard {key}: vectors are float16, the configuration stores float32"


def test_a_row_that_is_not_finite_names_shard_row_and_item(tmp_path):
    plan, store = searched(tmp_path, shards=4, parts=2)
    key = plan.stages["embed"][1].key
    name = Embed.file(key, VECTORS)
    table = store.map_table(name)
    vectors = to_matrix(table["vector"]).copy()
    vectors[7, 0] = np.nan
    store.write_table(name, table.set_column(1, "vector", to_column(vectors)))
    message = failure_of(plan, store)
    assert f"shard {key}" in message and "row 7" in message and repr(table["item_id"][7].as_py()) in message


@pytest.mark.parametrize(("value", "storage"), [(np.nan, "float32"), (np.inf, "float32"), (1e30, "float16")])
def test_embedding_refuses_what_is_not_finite_in_its_storage(value, storage):
    vectors = np.ones((3, 4))
    vectors[1, 2] = value
    with pytest.raises(ValueError, match=f"item 'b' holds a value that is not finite in {storage}"):
        shard_table(ids_of("a", "b", "c"), vectors, storage)


def ids_of(*names):
    import pyarrow as pa

    return pa.chunked_array([pa.array(names)])


@pytest.mark.parametrize("rows", [0, 1])
def test_an_empty_shard_and_one_of_one_vector(tmp_path, rows):
    plan, store = searched(tmp_path, shards=4, parts=1)
    before = store.read_table(unit_file("prefilter", plan.stages["prefilter"][0].key, "candidates"))
    replaced_shard(store, plan, np.zeros((rows, WIDTH)))
    assert failure_of(plan, store) == ""
    after = store.read_table(unit_file("prefilter", plan.stages["prefilter"][0].key, "candidates"))
    assert before["prompt"].equals(after["prompt"])
    assert all(len(found) >= TOP for found in after["rows"].to_pylist())


def test_vectors_are_mapped_not_copied(tmp_path):
    plan, store = searched(tmp_path, storage="float16")
    shard = open_shard(store, plan.stages["embed"][0].key)
    assert shard.vectors.dtype == np.float16
    assert shard.vectors.base is not None and not shard.vectors.flags.writeable
    assert shard.largest_length == pytest.approx(1.0, abs=1e-2)


def test_a_store_elsewhere_finds_the_same(tmp_path, whole):
    _, storage = whole
    plan, store = searched(tmp_path, shards=4, parts=4, storage=storage)
    elsewhere = Store(f"memory://{tmp_path.name}")
    for name in store.list("units"):
        elsewhere.write(name, store.read(name))
    unit = plan.stages["rescore"][0]
    assert execute(unit, elsewhere).message == ""
    name = unit_file("rescore", unit.key, FOUND)
    assert elsewhere.map_table(name).equals(store.map_table(name))


def test_a_plan_says_what_the_search_reads(tmp_path):
    path = write_audit(tmp_path, crowd(), prefilter={"top": TOP}, shard_items=200)
    settings = read_config(path).settings
    plan = prepare(read_config(path))[1]
    missing = {unit.key for unit in plan.units}
    cost = estimate(settings, plan, missing)
    assert cost.read_bytes == ROWS * WIDTH * 4 + 2 * TOP * WIDTH * 4
    assert cost.search_seconds > 0
    assert estimate(settings, plan, set()).read_bytes == 0


def test_a_mapped_shard_is_not_copied(tmp_path):
    store = Store(str(tmp_path))
    vectors = np.random.default_rng(0).normal(size=(1000, WIDTH)).astype(np.float32)
    store.write_table("shard.arrow", pa.table({"vector": to_column(vectors)}))
    column = store.map_table("shard.arrow")["vector"]
    found = to_matrix(column)
    assert np.shares_memory(found, column.chunk(0).flatten().to_numpy())
    assert np.array_equal(found, vectors)


def test_positions_are_rows_of_the_catalogue_where_some_have_no_vector():
    extents, with_vector = (4, 3, 5, 0, 6), ([0, 1, 2, 3], [1], [], [], [0, 2, 5])
    shards = [
        Shard(
            key=str(extent),
            ids=pa.chunked_array([], pa.string()),
            vectors=np.zeros((len(places), 2)),
            places=np.array(places, dtype=np.int64),
            extent=extent,
            largest_length=1.0,
        )
        for extent, places in zip(extents, with_vector)
    ]
    known = rows_with_vectors(shards, 10)
    for positions in ([], [0], [7], [1, 4, 6], range(8)):
        asked = np.array(positions, dtype=np.int64)
        assert rows_at(shards, asked, 10).tolist() == known[asked].tolist()
