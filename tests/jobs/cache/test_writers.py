"""Several writers at once, and a cache on an object store."""

import threading

import numpy as np
import pytest

from jobs.cache.damage import faults
from jobs.cache.keys import keys_of_texts
from jobs.cache.merging import merge
from jobs.cache.place import CachePlace, cache_place
from jobs.cache.space import Space
from jobs.cache.upkeep import pieces, removal, remove_all
from jobs.cache.vectors import TEXT, RememberingEncoder, vectors_folder
from jobs.store import Store
from tests.jobs.test_object_store import bucket, server  # noqa: F401 - fixtures

KEY = {"kind": "letters"}
FOLDER = vectors_folder(TEXT, KEY, 1, None)


class Letters:
    """Vectors drawn from a text's letters; notes what it embeds, and takes its time."""

    def __init__(self, seen, wait=lambda: None):
        self.seen, self.wait = seen, wait

    def encode(self, texts):
        self.wait()
        self.seen += texts
        drawn = [np.random.default_rng(list(text.encode())).standard_normal(8) for text in texts]
        return np.stack(drawn).astype(np.float32)

    def close(self):
        pass


def shard(number: int, size: int = 20) -> list[str]:
    return [f"text {place}" for place in range(number * size, (number + 1) * size)]


def embed(place: CachePlace, encoder: Letters, texts: list[str], fault: str = "") -> np.ndarray:
    remembering = RememberingEncoder(lambda: encoder, place, encoder=KEY, version=1)
    vectors = remembering.encode(texts)
    assert fault in remembering.fault if fault else remembering.fault == ""
    return vectors


def test_two_runs_at_once_embed_twice_only_what_both_began(tmp_path):
    place = CachePlace(address=str(tmp_path / "cache"))
    seen = [[], []]
    # Both embed their first two shards in step; then one goes on, and the other finds what it has done.
    together = threading.Barrier(2)
    steps = [0, 0]

    def run(number: int, order: list[int]) -> None:
        def wait() -> None:
            steps[number] += 1
            if steps[number] <= 2:
                together.wait(timeout=60)

        for one in order:
            expected = Letters([]).encode(shard(one))
            assert np.array_equal(embed(place, Letters(seen[number], wait), shard(one)), expected)

    threads = [threading.Thread(target=run, args=args) for args in ((0, [0, 1, 2, 3]), (1, [0, 1, 3, 2]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    both = set(seen[0]) & set(seen[1])
    assert set(shard(0)) <= both
    assert set(seen[0]) | set(seen[1]) == {text for one in range(4) for text in shard(one)}
    # What one had finished before the other began it was not embedded again.
    again = Letters([])
    for one in range(4):
        embed(place, again, shard(one))
    assert again.seen == []


def test_one_run_merges_while_another_reads_and_adds(tmp_path):
    place = CachePlace(address=str(tmp_path / "cache"))
    store = place.store()
    errors = []

    def write() -> None:
        for number in range(30):
            embed(place, Letters([]), shard(number, 5))

    def tend() -> None:
        try:
            while writer.is_alive():
                merge(store, FOLDER)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test fails with it
            errors.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    tender = threading.Thread(target=tend)
    tender.start()
    for number in list(range(30)) * 2:
        assert np.array_equal(embed(place, Letters([]), shard(number, 5)), Letters([]).encode(shard(number, 5)))
    writer.join()
    tender.join()
    assert errors == []
    assert list(faults(store)) == []


def test_a_cache_on_an_object_store(bucket):  # noqa: F811
    place = cache_place(bucket)
    assert place is not None and place.options["endpoint_url"].startswith("http://127.0.0.1")
    first = Letters([])
    for number in range(10):
        embed(place, first, shard(number))
    store = place.store()
    assert merge(store, FOLDER) == 10
    again = Letters([])
    asked = [text for number in (9, 3, 0) for text in shard(number)]
    assert np.array_equal(embed(place, again, asked), Letters([]).encode(asked))
    assert again.seen == []
    assert list(faults(store)) == []
    [merged] = [piece for piece in pieces(store) if piece.replaced]
    # One byte of its rows is turned: what is under that block's checksum is embedded again.
    content = bytearray(store.read(merged.data_file))
    content[5] ^= 1
    store.write(merged.data_file, bytes(content))
    for piece in pieces(store):
        if piece.name in merged.replaced:
            store.delete(piece.name)
    found = embed(place, again, asked, fault="60 vectors in")
    assert np.array_equal(found, Letters([]).encode(asked))
    assert again.seen == asked
    remove_all(store, removal(store, most_bytes=0))
    assert pieces(store) == []


def test_a_place_travels_without_secrets(bucket, monkeypatch):  # noqa: F811
    monkeypatch.setenv("MPR_AUDIT_CACHE", f"{bucket}/")
    place = cache_place(None)
    assert place is not None and place.address == bucket
    assert not any("key" in name or "secret" in name for name in place.options)


@pytest.mark.parametrize("setting", [None, ""])
def test_no_cache(monkeypatch, setting):
    monkeypatch.delenv("MPR_AUDIT_CACHE", raising=False)
    assert cache_place(setting) is None


def test_a_relative_folder_is_one_of_where_the_command_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = cache_place("cache")
    assert place is not None and place.address == str(tmp_path / "cache")
    space = Space(Store(place.address), "vectors/a")
    space.add(keys_of_texts(["a"]), np.ones((1, 2), dtype=np.float32), {})
    assert (tmp_path / "cache" / "vectors" / "a").is_dir()
