"""Parts that were read before: what is read again, and when."""

import os
import time

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.datasets import described, known_parts, loading
from jobs.datasets.reader import Reader
from jobs.stages.execute import execute
from jobs.store import Store
from jobs.store.user_cache import VARIABLE
from tests.jobs.conftest import people, write_audit
from tests.jobs.datasets.tables_in_parts import loaded, table, write


def test_a_known_part_is_not_read_again_and_a_changed_one_is(tmp_path, small_parts):
    write(tmp_path, table(), table(item_id=[f"j{number}" for number in range(100)]), compression=None)
    time.sleep(0.02)
    before = loaded(tmp_path)
    read = len(small_parts)
    assert loaded(tmp_path).summaries == before.summaries and len(small_parts) == read
    # Of the same size and, to all appearance, of the same time.
    path = tmp_path / "people" / "1.parquet"
    old = path.stat()
    write(tmp_path, table(), table(item_id=[f"k{number}" for number in range(100)]), compression=None)
    assert path.stat().st_size == old.st_size
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    after = loaded(tmp_path)
    assert after.fingerprint != before.fingerprint
    assert set(after.items["item_id"].to_pylist()) >= {"k0", "k99"}
    read = len(small_parts)
    loaded(tmp_path, image_fingerprint="content")
    assert len(small_parts) > read


def test_a_part_that_changed_just_before_it_was_read_is_read_again(tmp_path, small_parts, monkeypatch):
    monkeypatch.setattr(known_parts, "CLOCK_STEP_SECONDS", 3600.0)
    write(tmp_path, table())
    loaded(tmp_path)
    read = len(small_parts)
    loaded(tmp_path)
    assert len(small_parts) == 2 * read


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, small_parts, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    write(tmp_path, table())
    assert loaded(tmp_path).size == 100


def test_data_that_changed_after_the_plan(tmp_path, small_parts):
    path = write_audit(tmp_path)
    _, plan = prepare(read_config(path))
    frame = people()
    frame.assign(gender=frame["gender"][::-1].to_numpy()).to_parquet(tmp_path / "people.parquet")
    store = Store(str(tmp_path / "run"))
    messages = {execute(unit, store).message for unit in plan.stages["items"]}
    assert messages == {"ValueError: the data changed after they were planned with: start the run again"}


def test_an_added_file_leaves_the_other_parts_as_they_are(tmp_path, small_parts):
    def keys():
        block = described({"path": "people", "attributes": {"sex": {}}})
        catalogue = loading.catalogue_of(Reader(block=block, folder=tmp_path))
        return [summary.fingerprint for summary in catalogue.summaries]

    write(tmp_path, table(60), table(60, item_id=[f"j{number}" for number in range(60)]))
    before = keys()
    pq.write_table(pa.table({"item_id": ["new"], "sex": ["m"]}), tmp_path / "people" / "9.parquet")
    assert keys()[: len(before)] == before and len(keys()) == len(before) + 1
