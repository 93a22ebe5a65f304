"""Large data sets are read in parts: what a plan and its units say of them is what they say of the whole."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from jobs import datasets
from jobs.datasets import described, loading, scan, table_files
from jobs.datasets.catalogue import attribute_columns
from jobs.errors import UsageError
from jobs.stages.solve import Solve
from jobs.store.user_cache import VARIABLE
from tests.jobs.conftest import write_audit
from tests.jobs.datasets.layouts import write_clip_retrieval, write_webdataset
from tests.jobs.datasets.tables_in_parts import loaded, same_items, table, write
from tests.jobs.units_in_process import run_plan


@pytest.mark.parametrize("changes", [{}, {"missing": "drop"}, {"text": "{sex}, {age}"}])
@pytest.mark.parametrize("row_group_size", [7, 25, 100])
def test_parts_hold_what_the_whole_holds(tmp_path, small_parts, monkeypatch, changes, row_group_size):
    write(tmp_path, table(), table(item_id=[f"j{number}" for number in range(100)]), row_group_size=row_group_size)
    parts = loaded(tmp_path, **changes)
    monkeypatch.setattr(table_files, "PART_ROWS", 1000)
    whole = loaded(tmp_path, **changes)
    assert len(whole.parts) == 1 and len(parts.parts) >= 7
    assert max(summary.rows for summary in parts.summaries) <= 30
    same_items(parts, whole)
    for fact in ("size", "levels", "missing", "dropped", "remarks"):
        assert getattr(parts, fact) == getattr(whole, fact)
    assert [parts.counts(name) for name in ("sex", "age")] == [whole.counts(name) for name in ("sex", "age")]
    starts, stops = zip(*parts.shards(20))
    assert starts == (0, *stops[:-1]) and stops[-1] == parts.size


def test_results_are_those_of_one_part(tmp_path, small_parts, monkeypatch):
    found = []
    for rows in (30, 1000):
        monkeypatch.setattr(table_files, "PART_ROWS", rows)
        folder = tmp_path / str(rows)
        folder.mkdir()
        plan, store = run_plan(write_audit(folder, shard_items=20))
        assert (len(plan.stages["items"]) > 1) is (rows == 30)
        tables = pa.concat_tables(store.read_table(Solve.file(unit.key, "results")) for unit in plan.solved)
        found.append(tables.drop_columns(_timings(tables)))
    assert found[0].equals(found[1])


def _timings(rows):
    return [name for name in rows.column_names if name.endswith("seconds") or name in ("unit", "run_id")]


def test_processes_read_what_this_one_would(tmp_path, small_parts, monkeypatch):
    write(tmp_path, table(), row_group_size=25)
    expected = loaded(tmp_path)
    monkeypatch.setattr(loading, "scanned", scan.scanned)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "other"))
    found = loaded(tmp_path)
    assert found.summaries == expected.summaries
    write(tmp_path, table(weight=-1.0), row_group_size=25)
    with pytest.raises(UsageError, match=r"dataset items: weight column 'weight' .* has -1 in row 1 of .*0.parquet"):
        loaded(tmp_path)


def test_unknown_is_a_level_where_any_part_has_it(tmp_path, small_parts):
    first, second = table(sex=["f", "x"] * 50), table(item_id=[f"j{number}" for number in range(100)])
    changes = {"attributes": {"sex": {"map": {"x": "unknown"}}}}
    write(tmp_path, first, second)
    assert loaded(tmp_path, **changes).levels["sex"] == ("f", "m", "unknown")
    second.loc[90, "sex"] = "unknown"
    write(tmp_path, first, second)
    catalogue = loaded(tmp_path, **changes)
    assert catalogue.levels["sex"] == ("f", "m", "unknown", "missing") and catalogue.missing == "missing"
    level = dict(zip(catalogue.items["item_id"].to_pylist(), attribute_columns(catalogue.items)["sex"]))
    assert (level["i001"], level["j90"], level["j3"]) == ("unknown", "unknown", "missing")


def test_what_map_renames_may_be_in_any_part(tmp_path, small_parts):
    write(tmp_path, table(sex=["f", "x"] * 50), table(sex=["m", "f"] * 50, item_id=[f"j{one}" for one in range(100)]))
    assert loaded(tmp_path, attributes={"sex": {"map": {"x": "m"}}}).levels["sex"] == ("f", "m")
    with pytest.raises(UsageError, match="attributes.sex.map renames 'y', which column 'sex' of people lacks"):
        loaded(tmp_path, attributes={"sex": {"map": {"y": "m"}}})


def test_one_value_in_all_parts(tmp_path, small_parts):
    write(tmp_path, table(sex="f"), table(sex="f", item_id=[f"j{number}" for number in range(100)]))
    with pytest.raises(UsageError, match="attribute 'sex' has one value, 'f'"):
        loaded(tmp_path)


def test_files_of_text_are_parts_by_their_size(tmp_path, small_parts, monkeypatch):
    monkeypatch.setattr(table_files, "PART_BYTES", 2_000)
    write(tmp_path, table(60), table(60, item_id=[f"j{number}" for number in range(60)]), ending="csv")
    catalogue = loaded(tmp_path)
    assert [summary.rows for summary in catalogue.summaries] == [60, 60]
    with pytest.raises(UsageError, match=r"attributes.age needs numbers, .* 'old' in row 3 of .*1.csv"):
        write(tmp_path, table(60), table(60, item_id=[f"j{n}" for n in range(60)], age="old"), ending="csv")
        frame = pd.read_csv(tmp_path / "people/1.csv").assign(age=["1", "2"] + ["old"] * 58)
        frame.to_csv(tmp_path / "people/1.csv", index=False)
        loaded(tmp_path)


def test_columns_that_nobody_asks_for_are_not_looked_at(tmp_path, small_parts):
    """A page of such a column is damaged, and its checksum would say so."""
    folder = write(tmp_path, table(remark=["x" * 500] * 100), compression=None, write_page_checksum=True)
    path = folder / "people" / "0.parquet"
    content = path.read_bytes()
    place = content.index(b"x" * 400) + 200
    path.write_bytes(content[:place] + b"y" + content[place + 1 :])
    assert loaded(tmp_path).size == 100
    with pytest.raises(UsageError, match="cannot read"):
        loaded(tmp_path, text="{remark}")


def test_vectors_in_files_stay_with_their_items(tmp_path, small_parts, monkeypatch):
    monkeypatch.setattr(table_files, "PART_ROWS", 7)
    block = write_clip_retrieval(tmp_path)
    catalogue = datasets.load(described(block), tmp_path, "embedding")
    assert len(catalogue.parts) > 3
    start = 0
    for part in catalogue.parts:
        items, summary = part.read().items, part.summary
        for low, high in summary.shards(2):
            files = summary.vector_files_of(low, high)
            rows = items.slice(low, high - low)
            numbers = [int(one.removeprefix("pictures/")[:-4]) for one in rows["item_id"].to_pylist()]
            assert files.take(rows["vector_row"].to_numpy())[:, 0].tolist() == numbers
        start += summary.rows
    assert start == 36


def test_a_part_of_which_nothing_stays(tmp_path, small_parts, monkeypatch):
    frame = table(120)
    frame.loc[30:59, "sex"] = None
    vectors = [np.array([1.0, number], dtype=np.float32) for number in range(120)]
    write(tmp_path, frame.assign(embedding=vectors), row_group_size=30)
    block = described({"path": "people", "attributes": {"sex": {}}, "missing": "drop"})
    catalogue = datasets.load(block, tmp_path, "embedding")
    assert [summary.rows for summary in catalogue.summaries] == [23, 0, 23, 22]
    assert catalogue.items["item_id"].null_count == 0 and catalogue.items["vector"].null_count == 0
    shards = catalogue.shards(1000)
    assert len(shards) == 3 and shards[-1][1] == catalogue.size and catalogue.vector_width == 2


def test_files_without_rows_are_no_part_that_fails(tmp_path, small_parts, monkeypatch):
    monkeypatch.setattr(table_files, "PART_BYTES", 1_000)
    write(tmp_path, table(0), table(60), table(0), ending="csv")
    assert loaded(tmp_path).size == 60
    (tmp_path / "people" / "1.csv").write_text("item_id,sex,age,weight\n")
    with pytest.raises(UsageError, match="no rows|no items left"):
        loaded(tmp_path)


def test_shards_of_pictures_are_parts(tmp_path, small_parts, monkeypatch):
    block = write_webdataset(tmp_path)
    whole = datasets.load(described(block), tmp_path)
    monkeypatch.setattr("jobs.datasets.webdataset.PART_BYTES", 1.0)
    parts = datasets.load(described(block), tmp_path)
    assert len(parts.parts) > 1
    same_items(parts, whole)
    assert parts.skipped.to_pylist() == whole.skipped.to_pylist()
    assert (parts.levels, parts.root, parts.remarks) == (whole.levels, whole.root, whole.remarks)
    with pytest.raises(UsageError, match="attributes.nothing names column 'nothing', which .* lacks"):
        datasets.load(described(block | {"attributes": {"nothing": {}}}), tmp_path)


def test_files_of_many_short_rows_are_parts_however_few_their_bytes(tmp_path, small_parts, monkeypatch):
    write(tmp_path, table(), table(item_id=[f"j{number}" for number in range(100)]), ending="csv")
    parts = loaded(tmp_path)
    assert [summary.rows for summary in parts.summaries] == [100, 100] and len(small_parts) == 2
    monkeypatch.setattr(table_files, "PART_ROWS", 300)
    small_parts.clear()
    whole = loaded(tmp_path)
    assert len(whole.parts) == 1 and small_parts == []
    same_items(parts, whole)
