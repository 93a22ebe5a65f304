"""An object store's files are fetched once per machine, within bounds, and are gone at the end."""

import multiprocessing
import os
import shutil
import signal
import tempfile
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from jobs.store import Store, node_copies

NAME = "units/embed/one/vectors.arrow"


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An object store in memory, whose copies are in a folder of the test; fetched counts what is opened."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(node_copies, "_used", {})
    monkeypatch.setattr(node_copies, "_known", {})
    store = Store(f"memory://{tmp_path.name}")
    fetched = Counter()
    opened = Store.opened

    def counted(self, name):
        fetched[name] += 1
        return opened(self, name)

    monkeypatch.setattr(Store, "opened", counted)
    yield store, fetched
    store.remove_node_copies()


def copies(tmp_path):
    return [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != node_copies.LOCK]


def table(start=0):
    return pa.table({"number": np.arange(start, start + 1000)})


def test_a_file_is_fetched_once_and_mapped(store, tmp_path):
    store, fetched = store
    store.write_table(NAME, table())
    before = pa.total_allocated_bytes()
    found = [store.map_table(NAME) for _ in range(3)]
    assert all(one.equals(table()) for one in found)
    assert pa.total_allocated_bytes() - before < 8 * 1000
    assert fetched == {NAME: 1}
    assert len(copies(tmp_path)) == 1


def test_copies_go_and_what_is_mapped_stays(store, tmp_path):
    store, fetched = store
    store.write_table(NAME, table())
    found = store.map_table(NAME)
    store.remove_node_copies()
    assert copies(tmp_path) == []
    assert found.equals(table())
    assert store.map_table(NAME).equals(table())
    assert fetched == {NAME: 2}


def test_what_was_used_longest_ago_makes_room(store, tmp_path, monkeypatch):
    store, _ = store
    names = [NAME.replace("one", str(number)) for number in range(4)]
    for number, name in enumerate(names):
        store.write_table(name, table(number))
    size = store.size(names[0])
    usage = shutil.disk_usage(tmp_path)
    # Room for two copies and a half.
    monkeypatch.setattr(node_copies, "SHARE_OF_FREE", 1.0)

    def nearly_full(folder):
        taken = sum(path.stat().st_size for path in copies(tmp_path))
        return usage._replace(free=int(2.5 * size) - taken)

    monkeypatch.setattr(node_copies.shutil, "disk_usage", nearly_full)
    for number, name in enumerate(names):
        assert store.map_table(name).equals(table(number))
        assert len(copies(tmp_path)) == min(number + 1, 2)


def test_a_file_without_room_is_read(store, tmp_path, monkeypatch):
    store, _ = store
    store.write_table(NAME, table())
    monkeypatch.setattr(node_copies, "SHARE_OF_FREE", 0.0)
    assert store.map_table(NAME).equals(table())
    assert copies(tmp_path) == []


def test_a_file_that_is_not_there_is_named(store):
    store, _ = store
    with pytest.raises(FileNotFoundError, match="embed/one"):
        store.map_table(NAME)


def _killed(folder):
    """A process that leaves a copy behind."""
    tempfile.tempdir = folder
    store = Store("memory://killed")
    store.write_table(NAME, table())
    store.map_table(NAME)
    os.kill(os.getpid(), signal.SIGKILL)


def test_copies_of_a_killed_process_go_and_those_of_a_living_one_stay(store, tmp_path):
    store, _ = store
    process = multiprocessing.get_context("spawn").Process(target=_killed, args=(str(tmp_path),))
    process.start()
    process.join()
    [left] = copies(tmp_path)
    store.write_table(NAME, table())
    store.map_table(NAME)
    [own] = copies(tmp_path)
    assert own != left
    node_copies.remove_unused()
    assert copies(tmp_path) == [own]
