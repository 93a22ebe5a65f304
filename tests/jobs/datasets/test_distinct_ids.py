"""Ids are distinct over all parts of a data set."""

import numpy as np
import pytest

from jobs.datasets.distinct import repeated_hashes
from jobs.errors import UsageError
from tests.jobs.datasets.tables_in_parts import loaded, table, write


def test_an_id_of_two_parts(tmp_path, small_parts):
    write(tmp_path, table(), table(item_id=[f"j{number}" for number in range(99)] + ["i007"]))
    with pytest.raises(UsageError, match="dataset items: id 'i007' occurs 2 times .*: ids must be distinct"):
        loaded(tmp_path)


def test_an_id_of_two_parts_of_which_one_row_is_dropped(tmp_path, small_parts):
    """As where both rows are in one part: whether an id is twice does not depend on what levels rows have."""
    other = table(item_id=[f"j{number}" for number in range(99)] + ["i007"])
    assert other["sex"].isna().iloc[99]
    write(tmp_path, table(), other)
    with pytest.raises(UsageError, match="id 'i007' occurs 2 times .*: ids must be distinct"):
        loaded(tmp_path, missing="drop")


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
