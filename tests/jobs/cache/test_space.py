"""Rows by key: written once, found again, and never wrong, whatever happens to their files."""

import shutil
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from jobs.cache import merging
from jobs.cache.keys import KEY_BYTES, content_key, first_of_each, from_bytes, keys_of_texts
from jobs.cache.merging import merge
from jobs.cache.names import ROWS
from jobs.cache.segment import BLOCK_BYTES, open_segment
from jobs.cache.space import Space
from jobs.store import Store

WIDTH = 100
BLOCK_ROWS = BLOCK_BYTES // (4 * WIDTH)


def numbers(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, WIDTH)).astype(np.float32)


def texts(start: int, stop: int) -> np.ndarray:
    return keys_of_texts([f"text {number}" for number in range(start, stop)])


@pytest.fixture
def space(tmp_path):
    return Space(Store(str(tmp_path / "cache")), "vectors/one")


def again(space: Space) -> Space:
    """The same space as another process sees it."""
    found = Space(space.store, space.folder)
    found.refresh()
    return found


def test_a_key_is_the_first_128_bits_of_blake2b_of_the_content():
    keys = keys_of_texts(["", "a"])
    assert keys.shape == (2, 2)
    assert keys.tobytes() == content_key(b"") + content_key(b"a")
    assert len(content_key(b"")) == KEY_BYTES


def test_the_first_of_each_key():
    keys = keys_of_texts(["b", "a", "b", "c", "a"])
    assert first_of_each(keys).tolist() == [0, 1, 3]


def test_rows_are_found_by_key_in_the_order_that_is_asked(space):
    values = numbers(1000)
    space.add(texts(0, 1000), values, {})
    found = again(space)
    asked = np.array([999, 0, 5, 5, 998, 3])
    is_found, rows = found.take(np.concatenate([texts(0, 1000)[asked], texts(2000, 2002)]))
    assert is_found.tolist() == [True] * 6 + [False] * 2
    assert np.array_equal(rows, values[asked])
    assert found.holds(texts(990, 1010)).tolist() == [True] * 10 + [False] * 10
    assert found.damaged_rows == 0


def test_keys_that_share_their_first_64_bits(space):
    keys = np.array([[7, 3], [7, 1], [7, 2], [9, 1]], dtype="<u8")
    space.add(keys, numbers(4), {})
    is_found, rows = again(space).take(np.array([[7, 2], [7, 4], [9, 1], [9, 2], [7, 1]], dtype="<u8"))
    assert is_found.tolist() == [True, False, True, False, True]
    assert np.array_equal(rows, numbers(4)[[2, 3, 1]])


def test_an_empty_space_and_no_keys(space):
    space.refresh()
    assert not space.holds(texts(0, 3)).any()
    assert not space.take(texts(0, 3))[0].any()
    assert space.add(texts(0, 0), numbers(0), {}) is None
    assert space.take(texts(0, 0))[0].shape == (0,)


def test_a_key_that_is_added_twice_is_kept_once(space):
    keys = np.concatenate([texts(0, 3), texts(0, 3)])
    space.add(keys, numbers(6), {})
    [segment] = again(space).segments
    assert segment.facts.count == 3
    assert np.array_equal(again(space).take(texts(0, 3))[1], numbers(6)[:3])


def overwrite(path, start: bytes) -> None:
    data = Path(path).read_bytes()
    Path(path).write_bytes(start + data[len(start) :])


def rows_file(space: Space, name: str):
    return space.store.path(open_segment(space.store, name).facts.rows_file)


@pytest.mark.parametrize("damage", ["flip", "cut", "gone"])
def test_damaged_rows_are_not_returned(space, damage):
    values = numbers(5 * BLOCK_ROWS)
    name = space.add(texts(0, len(values)), values, {})
    path = rows_file(space, name)
    data = bytearray(Path(path).read_bytes())
    if damage == "flip":
        data[BLOCK_BYTES * 2 + 17] ^= 1
        Path(path).write_bytes(data)
    elif damage == "cut":
        Path(path).write_bytes(data[: BLOCK_ROWS * WIDTH * 4 * 2 + 5])
    else:
        space.store.delete(open_segment(space.store, name).facts.rows_file)
    found = again(space)
    is_found, rows = found.take(texts(0, len(values)))
    assert np.array_equal(rows, values[is_found])
    assert found.damaged_rows == (~is_found).sum() > 0
    expected = {"flip": BLOCK_ROWS, "cut": 3 * BLOCK_ROWS, "gone": len(values)}[damage]
    assert found.damaged_rows == expected


def test_a_damaged_row_is_taken_from_where_it_was_written_again(space):
    values = numbers(2 * BLOCK_ROWS)
    path = rows_file(space, space.add(texts(0, len(values)), values, {}))
    overwrite(path, b"\0" * 100)
    space.add(texts(0, BLOCK_ROWS), values[:BLOCK_ROWS], {})
    is_found, rows = again(space).take(texts(0, len(values)))
    assert is_found.all()
    assert np.array_equal(rows, values)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: b"", lambda data: data[:500] + b"?" + data[501:]]
)
def test_an_index_that_is_damaged_does_not_count(space, damage):
    name = space.add(texts(0, 500), numbers(500), {})
    path = space.store.path(name)
    data = Path(path).read_bytes()
    Path(path).write_bytes(damage(data))
    assert open_segment(space.store, name) is None
    assert not again(space).take(texts(0, 500))[0].any()


def test_what_another_process_adds_is_seen_after_a_refresh(space):
    reader = again(space)
    space.add(texts(0, 10), numbers(10), {})
    assert not reader.holds(texts(0, 10)).any()
    reader.refresh()
    assert reader.holds(texts(0, 10)).all()


def fill(space: Space, segments: int, each: int = 30) -> np.ndarray:
    values = numbers(segments * each)
    for number in range(segments):
        rows = slice(number * each, (number + 1) * each)
        space.add(texts(rows.start, rows.stop), values[rows], {})
    return values


def test_small_segments_are_merged_and_readers_go_on(space):
    values = fill(space, 20)
    reader = again(space)
    assert merge(space.store, space.folder) == 20
    assert len(again(space).segments) == 1
    for one in (reader, again(space)):
        is_found, rows = one.take(texts(0, len(values)))
        assert is_found.all()
        assert np.array_equal(rows, values)
    # Neighbours stay neighbours: a shard of a later week reads few blocks.
    assert np.array_equal(again(space).segments[0].keys, texts(0, len(values)))


def test_replaced_segments_go_after_the_grace_and_a_late_reader_misses(space):
    values = fill(space, 20)
    reader = again(space)
    merge(space.store, space.folder)
    assert merge(space.store, space.folder) == 0
    assert len([name for name in space.store.entries(space.folder) if name.endswith(ROWS)]) == 21
    merge(space.store, space.folder, grace=timedelta(seconds=-5))
    assert len([name for name in space.store.entries(space.folder) if name.endswith(ROWS)]) == 1
    assert not reader.take(texts(0, 60))[0].any()
    reader.refresh()
    is_found, rows = reader.take(texts(0, len(values)))
    assert is_found.all()
    assert np.array_equal(rows, values)


def test_merging_leaves_out_what_is_damaged_and_keeps_its_whole_copy(space):
    values = fill(space, 10)
    names = sorted(space.store.entries(space.folder))
    first = next(name for name in names if name.endswith(".index"))
    damaged = open_segment(space.store, first)
    overwrite(space.store.path(damaged.facts.rows_file), b"\1" * 8)
    lost = ~again(space).take(texts(0, len(values)))[0]
    assert lost.sum() == 30
    again_written = np.flatnonzero(lost)[:7]
    space.add(texts(0, len(values))[again_written], values[again_written], {})
    merge(space.store, space.folder)
    [segment] = again(space).segments
    assert segment.damaged_blocks() == 0
    is_found, rows = again(space).take(texts(0, len(values)))
    assert is_found.sum() == len(values) - 30 + 7
    assert np.array_equal(rows, values[is_found])


def test_large_segments_are_left_alone(space, monkeypatch):
    monkeypatch.setattr(merging, "LARGEST_BYTES", 40 * 30 * WIDTH * 4)
    fill(space, 30)
    merge(space.store, space.folder)
    large = again(space).segments[0].name
    for number in range(9):
        start = 1000 + 40 * number
        space.add(texts(start, start + 40), numbers(40), {})
    merge(space.store, space.folder)
    assert large in [segment.name for segment in again(space).segments]
    assert len(again(space).segments) == 2


def test_use_is_noted_once_a_day(space):
    space.add(texts(0, 10), numbers(10), {})
    for _ in range(2):
        again(space).take(texts(0, 5))
    marks = [name for name in space.store.entries(space.folder) if ".used-" in name]
    assert len(marks) == 1


def test_a_space_that_cannot_be_written_is_read(space, monkeypatch):
    space.add(texts(0, 10), numbers(10), {})

    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Store, "write", refuse)
    assert again(space).take(texts(0, 10))[0].all()


def test_a_folder_that_is_copied_holds_the_same(space, tmp_path):
    values = fill(space, 3)
    shutil.copytree(tmp_path / "cache", tmp_path / "copy")
    found = Space(Store(str(tmp_path / "copy")), space.folder)
    found.refresh()
    assert np.array_equal(found.take(texts(0, 90))[1], values)


def test_keys_from_bytes_are_read_in_pairs():
    assert from_bytes(bytes(range(32))).shape == (2, 2)
