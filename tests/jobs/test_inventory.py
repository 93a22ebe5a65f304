"""What a run takes for done, for damaged and for left behind."""

import os

import pyarrow as pa
import pytest

from jobs.stages.execute import commit
from jobs.store import TEMPORARY, Store, receipt_file, take_inventory, unit_file
from tests.jobs.fake_units import fake_unit

TABLE = pa.table({"x": [1, 2, 3]})
UNITS = [fake_unit(f"{number:020d}", f"work {number}", "pool") for number in range(4)]
NAMES = [(one.stage, one.key) for one in UNITS]


@pytest.fixture(params=["local", "memory"])
def store(request, tmp_path):
    store = Store(str(tmp_path / "run") if request.param == "local" else f"memory://{tmp_path.name}")
    for one in UNITS[:3]:
        commit(one, store, {"pool": TABLE}, 0.1)
    return store


@pytest.fixture
def disk(tmp_path):
    store = Store(str(tmp_path))
    for one in UNITS[:3]:
        commit(one, store, {"pool": TABLE}, 0.1)
    return store


def path(store, number):
    return store.path(unit_file(*NAMES[number], "pool"))


class Reads:
    """Counts the files that are hashed."""

    def __init__(self, monkeypatch):
        self.names = []
        held = Store.holds

        def holds(store, name, *content):
            self.names.append(name)
            return held(store, name, *content)

        monkeypatch.setattr(Store, "holds", holds)


def test_whole_units_are_done_and_not_read(store, monkeypatch):
    reads = Reads(monkeypatch)
    found = take_inventory(store, NAMES)
    assert list(found.done) == [key for _, key in NAMES[:3]]
    assert (found.damaged, found.leftovers, reads.names) == ((), (), [])


def test_what_was_written_since_is_damaged(store):
    name = unit_file(*NAMES[0], "pool")
    data = bytearray(store.read(name))
    data[10] ^= 1
    store.write(name, bytes(data))
    store.write(receipt_file(*NAMES[1]), b"{")
    store.delete(unit_file(*NAMES[2], "pool"))
    found = take_inventory(store, NAMES)
    assert (found.done, found.damaged) == ({}, tuple(NAMES[:3]))


def test_a_clock_that_was_set_back_or_forward_makes_nothing_wrong_true_or_right_false(disk, monkeypatch):
    """Times are compared for being the same, never for being later: another time costs a look at the content."""
    data = bytearray(disk.read(unit_file(*NAMES[0], "pool")))
    data[10] ^= 1
    written = os.stat(path(disk, 0)).st_mtime_ns
    disk.write(unit_file(*NAMES[0], "pool"), bytes(data))
    for number, shift in ((0, -(10**9)), (1, -(10**15)), (2, 10**15)):
        os.utime(path(disk, number), ns=(written + shift, written + shift))
    reads = Reads(monkeypatch)
    found = take_inventory(disk, NAMES)
    assert list(found.done) == [key for _, key in NAMES[1:3]]
    assert found.damaged == (NAMES[0],)
    assert len(reads.names) == 3


def test_a_folder_that_was_copied_without_its_times_is_read(disk, monkeypatch):
    for number in range(3):
        os.utime(path(disk, number))
    reads = Reads(monkeypatch)
    assert len(take_inventory(disk, NAMES).done) == len(reads.names) == 3


def test_leftovers_are_temporary_files_anywhere(store):
    names = {f"report/index.html{TEMPORARY}1", f"{receipt_file(*NAMES[3])}{TEMPORARY}2"}
    for name in names:
        store.write(name, b"half")
    found = take_inventory(store, NAMES)
    assert set(found.leftovers) == names
    assert len(found.done) == 3


def test_more_receipts_than_are_read_at_once(store, monkeypatch):
    monkeypatch.setattr("jobs.store.inventory.RECEIPTS_AT_ONCE", 2)
    assert len(take_inventory(store, NAMES).done) == 3


def test_an_empty_or_absent_folder_has_nothing(tmp_path):
    assert take_inventory(Store(str(tmp_path / "absent")), NAMES).done == {}
    assert take_inventory(Store("memory://absent"), NAMES).done == {}
