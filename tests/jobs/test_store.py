import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.errors import UsageError
from jobs.stages.execute import Outcome, commit, record_failure
from jobs.store import TEMPORARY, Store, failure_file, receipt_file, schema_digest, unit_file, valid_receipt
from tests.jobs.fake_units import fake_unit

TABLE = pa.table({"x": [1, 2, 3]})
WORK = fake_unit("0" * 20, "some work")


@pytest.fixture(params=["local", "memory"])
def store(request, tmp_path) -> Store:
    return Store(str(tmp_path / "run") if request.param == "local" else f"memory://{tmp_path.name}")


def test_writes_reads_lists_and_deletes(store):
    store.write("a/b.txt", b"one")
    store.write("a/b.txt", b"two")
    assert store.read("a/b.txt") == b"two"
    assert store.size("a/b.txt") == 3
    assert store.list("a") == ["a/b.txt"]
    store.delete("a/b.txt")
    store.delete("a/b.txt")
    assert not store.exists("a/b.txt")
    assert store.list("absent") == []


def test_a_committed_unit_is_valid_until_its_file_changes(store):
    assert valid_receipt(store, WORK.stage, WORK.key) is None
    commit(WORK, store, {"results": TABLE}, 0.1)
    receipt = valid_receipt(store, WORK.stage, WORK.key)
    assert receipt.title == "some work"
    assert receipt.files["results"].rows == 3
    assert store.read_table(unit_file(WORK.stage, WORK.key, "results")).equals(TABLE)
    assert store.parquet(unit_file(WORK.stage, WORK.key, "results")).metadata.num_rows == 3
    store.write(unit_file(WORK.stage, WORK.key, "results"), b"cut")
    assert valid_receipt(store, WORK.stage, WORK.key) is None


@pytest.mark.parametrize(
    ("column", "is_kept"),
    [
        (pa.array([[1.5], []], pa.list_(pa.float64())), False),
        (pa.array([[{"group": "a"}]], pa.list_(pa.struct([("group", pa.string())]))), False),
        (pa.array(["a"]).dictionary_encode(), True),
        (pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2)), True),
    ],
)
def test_arrows_schema_is_in_a_file_only_where_readers_need_it(store, column, is_kept):
    store.write_table("t.parquet", pa.table({"x": column}))
    file = store.parquet("t.parquet")
    assert (b"ARROW:schema" in (file.metadata.metadata or {})) == is_kept
    assert file.read()["x"].to_pylist() == column.to_pylist()
    assert file.read()["x"].type.equals(pq.read_table(_plainly_written(pa.table({"x": column})))["x"].type)


def test_tables_that_differ_in_what_is_said_of_them_stay_apart(store):
    """Schemas are equal to Arrow whatever is said of a table or of its columns."""
    digests = set()
    for said in (None, {"whole": "1"}, {"whole": "2"}):
        written = store.write_table("t.parquet", pa.table({"x": [1]}).replace_schema_metadata(said))
        read = store.read_table("t.parquet").schema
        assert read.metadata == (said and {key.encode(): value.encode() for key, value in said.items()})
        assert written.schema_sha256 == schema_digest(read)
        digests.add(written.schema_sha256)
    assert len(digests) == 3
    described = pa.table([[1]], pa.schema([pa.field("x", pa.int64(), metadata={"description": "a number"})]))
    assert store.write_table("t.parquet", described).schema_sha256 in digests


def _plainly_written(table):
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    return pa.BufferReader(buffer.getvalue())


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"files": 3}'])
def test_a_damaged_receipt_is_none(store, content):
    commit(WORK, store, {"results": TABLE}, 0.1)
    store.write(receipt_file(WORK.stage, WORK.key), content)
    assert valid_receipt(store, WORK.stage, WORK.key) is None


def test_success_clears_an_earlier_failure(store):
    record_failure(WORK, store, Outcome(key=WORK.key, message="broke", traceback="..."))
    assert json.loads(store.read(failure_file(WORK.stage, WORK.key)))["message"] == "broke"
    commit(WORK, store, {"results": TABLE}, 0.1)
    assert not store.exists(failure_file(WORK.stage, WORK.key))


def test_a_write_that_fails_leaves_the_old_file_and_no_temporary_one(tmp_path, monkeypatch):
    store = Store(str(tmp_path))
    store.write("a.txt", b"old")

    def broken(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        store.write("a.txt", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert store.read("a.txt") == b"old"


def test_leftovers_of_a_dead_writer_are_not_listed(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / f"part.parquet{TEMPORARY}123").write_bytes(b"half")
    assert Store(str(tmp_path)).list("results") == []


def test_an_unknown_protocol_names_the_output():
    with pytest.raises(UsageError, match="nowhere://x"):
        Store("nowhere://x")
