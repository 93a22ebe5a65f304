"""Ids are distinct over all parts of a data set."""

import numpy as np
import pytest

from jobs.datasets import table_files
from jobs.datasets.distinct import repeated_hashes
from jobs.errors import UsageError
from tests.jobs.datasets.tables_in_parts import loaded, table, write


def test_an_id_of_two_parts(tmp_path, small_parts):
    write(tmp_path, table(), table(item_id=[f"j{number}" for number in range(99)] + ["i007"]))
    with pytest.raises(UsageError, match="dataset items: id 'i007' occurs 2 times .*: ids must be distinct"):
        loaded(tmp_path)


@pytest.mark.parametrize("rows", [30, 1000])
def test_only_ids_of_items_that_stay_are_compared(tmp_path, small_parts, monkeypatch, rows):
    """i003 has no sex, and is dropped: whether it is read with the other i003 or apart."""
    monkeypatch.setattr(table_files, "PART_ROWS", rows)
    write(tmp_path, table(), table(4, item_id=["i003", "j1", "j2", "j3"]))
    assert loaded(tmp_path, missing="drop").size == 75 + 3
    with pytest.raises(UsageError, match="id 'i003' occurs 2 times .*: ids must be distinct"):
        loaded(tmp_path)


def test_ids_whose_hashes_are_the_same_are_distinct(tmp_path, small_parts, monkeypatch):
    for module in ("jobs.datasets.part", "jobs.datasets.loading"):
        monkeypatch.setattr(f"{module}.id_hashes", lambda ids: np.zeros(len(ids), dtype=np.uint64))
    write(tmp_path, table())
    assert loaded(tmp_path).size == 100


def test_hashes_are_compared_in_ranges(tmp_path, monkeypatch):
    monkeypatch.setattr("jobs.datasets.distinct.HASHES_AT_ONCE", 100)
    generator = np.random.default_rng(3)
    parts = [np.sort(generator.integers(0, 2**64, 1000, dtype=np.uint64)) for _ in range(3)]
    twice = [parts[0][0], parts[0][500], parts[1][-1]]
    parts[2] = np.sort(np.concatenate([parts[2], twice]))
    for number, part in enumerate(parts):
        np.save(tmp_path / f"{number}.npy", part)
    found = list(repeated_hashes([tmp_path / f"{number}.npy" for number in range(3)]))
    assert len(found) > 1 and sorted(np.concatenate(found).tolist()) == sorted(int(one) for one in twice)
