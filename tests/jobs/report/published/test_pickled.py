"""Numbers are read from pickles, and nothing that a pickle names is run."""

import contextlib
import os
import pickle

import numpy as np
import pytest

from jobs.report.published.pickled import NotData, read

CONTENT = {
    "MPR": [0.25, np.float64(0.125), np.float32(0.5), 1],
    "sims": [np.array([3.5]), np.array(2.25)],
    "indices": [np.array([0.0, 1.0, 1.0]), np.arange(6, dtype=np.int64).reshape(2, 3)],
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "big": np.array([1.5, 2.5], dtype=">f8"),
    "names": ("a", b"bytes", None, True, False, 10**30, -1, 2.5),
    "many": list(range(1500)),
    "none": np.zeros(0),
    "nested": {1: {"k": []}},
}


def same(one, other) -> bool:
    if isinstance(other, np.ndarray):
        return np.array_equal(one, other) and one.dtype == other.dtype
    if isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in other)
    if isinstance(other, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return one == other


# Protocol 0 is of Python 1.
@pytest.mark.parametrize("protocol", range(1, pickle.HIGHEST_PROTOCOL + 1))
def test_reads_what_was_written(protocol):
    assert same(read(pickle.dumps(CONTENT, protocol)), CONTENT)


def test_one_array_twice_is_read_twice():
    array = np.array([1.0, 2.0])
    found = read(pickle.dumps([array, array]))
    assert same(found, [array, array])


class Command:
    """Makes a folder when it is unpickled."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return os.mkdir, (self.marker,)


class Stateful:
    pass


@pytest.mark.parametrize("protocol", range(1, pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_is_run(tmp_path, protocol):
    data = pickle.dumps({"MPR": [0.1], "more": Command(tmp_path / "made")}, protocol)
    with pytest.raises(NotData, match="mkdir.*is not run"):
        read(data)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "content",
    [np.array([object()]), np.array(["text"]), Stateful(), os.mkdir, np.dtype("f8"), np.array([1j]), {1, 2}],
    ids=["objects", "texts", "state", "function", "type", "complex", "set"],
)
def test_what_is_no_number_is_refused(content):
    with pytest.raises(NotData):
        read(pickle.dumps({"MPR": content}))


def test_a_small_file_that_unfolds_is_refused():
    """Thirty lists of ten times the one before: 10^30 numbers in a kilobyte; and a list that holds itself."""
    nested: list = [1.0]
    for _ in range(30):
        nested = [nested] * 10
    itself: list = []
    itself.append(itself)
    for content in (nested, itself):
        with pytest.raises(NotData):
            read(pickle.dumps({"MPR": content}))


def test_damaged_files_are_refused():
    data = pickle.dumps(CONTENT)
    random = np.random.default_rng(0)
    for _ in range(300):
        broken = bytearray(data)
        for place in random.integers(0, len(data), size=3):
            broken[place] = random.integers(0, 256)
        for one in (bytes(broken), data[: random.integers(0, len(data))]):
            with contextlib.suppress(NotData):
                read(one)
