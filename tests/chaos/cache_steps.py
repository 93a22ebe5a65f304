"""A cache whose writer is killed at each of its file operations: python -m tests.chaos.cache_steps

Each fork embeds texts through a cache, merges its segments and leaves a pack of units, and dies before its Nth file
operation, for every N. Whatever it leaves must be read without a wrong number, and the same work, done again, must end
as if nothing had happened. Prints one JSON object: how many steps each piece of work has.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

import numpy as np

from jobs.cache.damage import faults
from jobs.cache.keys import keys_of_texts
from jobs.cache.merging import merge
from jobs.cache.packs import packed_units, restore, write_pack
from jobs.cache.place import CachePlace
from jobs.cache.space import Space
from jobs.cache.upkeep import removal, remove_all
from jobs.cache.vectors import TEXT, RememberingEncoder, vectors_folder
from jobs.store import FileReceipt, Receipt, Store, valid_receipt
from tests.chaos.commit_steps import steps_of

KEY = {"kind": "letters"}
FOLDER = vectors_folder(TEXT, KEY, 1, None)
AT_ONCE = timedelta(seconds=-60)


class Letters:
    """Vectors drawn from a text's letters."""

    def encode(self, texts: list[str]) -> np.ndarray:
        drawn = [np.random.default_rng(list(text.encode())).standard_normal(8) for text in texts]
        return np.stack(drawn).astype(np.float32)

    def close(self) -> None:
        """Nothing is open."""


def texts(start: int, stop: int) -> list[str]:
    return [f"text {number}" for number in range(start, stop)]


def embed(store: Store, asked: list[str]) -> tuple[np.ndarray, int]:
    encoder = RememberingEncoder(Letters, CachePlace(address=store.root), encoder=KEY, version=1)
    return encoder.encode(asked), encoder.reused


def expect_no_wrong_number(store: Store) -> None:
    """What is found is what was written, and half-written files go."""
    space = Space(store, FOLDER)
    space.refresh()
    asked = texts(0, 400)
    is_found, vectors = space.take(keys_of_texts(asked))
    assert space.damaged_rows == 0
    known = [text for text, is_there in zip(asked, is_found) if is_there]
    assert not known or np.array_equal(vectors, Letters().encode(known))
    assert list(faults(store)) == []


def embedding(before: Path) -> int:
    """A shard of which some is known."""
    embed(Store(str(before)), texts(0, 30))

    def work(store: Store) -> None:
        embed(store, texts(20, 60))

    def check(store: Store, step: int) -> None:
        expect_no_wrong_number(store)
        vectors, _ = embed(store, texts(0, 60))
        assert np.array_equal(vectors, Letters().encode(texts(0, 60))), step
        assert embed(store, texts(0, 60))[1] == 60, step
        expect_no_wrong_number(store)

    return steps_of(work, before, check)


def merging(before: Path) -> int:
    """Segments merged, then those that were replaced removed."""
    for start in range(0, 300, 30):
        embed(Store(str(before)), texts(start, start + 30))

    def work(store: Store) -> None:
        merge(store, FOLDER)
        merge(store, FOLDER, grace=AT_ONCE)

    def check(store: Store, step: int) -> None:
        expect_no_wrong_number(store)
        assert embed(store, texts(0, 300))[1] == 300, f"step {step} lost vectors"
        work(store)
        remove_all(store, removal(store, grace=AT_ONCE))
        assert embed(store, texts(0, 300))[1] == 300, f"step {step} lost vectors"
        assert len([name for name in store.entries(FOLDER) if name.endswith(".rows")]) == 1, step
        expect_no_wrong_number(store)

    return steps_of(work, before, check)


def packing(before: Path) -> int:
    """A unit of a run's folder put into a pack."""
    run = Store(str(before.with_name("a run")))
    content = b"a table's bytes"
    sha256 = hashlib.sha256(content).hexdigest()
    run.write("units/pool/k/pool.parquet", content)
    file = FileReceipt(rows=1, bytes=len(content), sha256=sha256, schema_sha256="")
    receipt = Receipt(stage="pool", key="k", title="a pool", files={"pool": file}, seconds=1.0)

    def work(store: Store) -> None:
        write_pack(store, run, [(receipt, "")])

    def check(store: Store, step: int) -> None:
        work(store)
        target = Store(str(Path(store.root).with_name("another run")))
        assert restore(store, target, packed_units(store)["k"]), step
        assert valid_receipt(target, "pool", "k") is not None, step
        remove_all(store, removal(store, grace=AT_ONCE))
        assert list(faults(store)) == [], step
        shutil.rmtree(target.root)

    before.mkdir(exist_ok=True)
    return steps_of(work, before, check)


def main() -> None:
    found = {}
    for work in (embedding, merging, packing):
        with tempfile.TemporaryDirectory() as name:
            found[work.__name__] = work(Path(name) / "cache")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
