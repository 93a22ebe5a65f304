"""A report describes and draws only what is new, and cannot be told from one that describes all."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from jobs.analysis import parts
from jobs.cache.packs import write_pack
from jobs.cache.place import CachePlace
from jobs.config.runtime import Runtime
from jobs.report import part, publish
from jobs.report.kept import Shelf, kept_cases, receipts_of
from jobs.run.executor import Lazily
from jobs.run.shared import packed
from jobs.store import Store
from tests.jobs.report import synthetic

SIZES = {"points": 2, "k": 5, "people": 60, "pool": 60}


def published(folder: Path, shelf: Shelf = publish.NO_SHELF) -> dict[str, bytes]:
    """The report's files by name."""
    store = Store(str(folder))
    with Lazily(Runtime(executor="local")) as executor:
        return {name: store.read(name) for name in publish.publish(store, executor, shelf)}


@pytest.fixture
def described(monkeypatch) -> list[str]:
    """The queries that are described, in order."""
    seen: list[str] = []
    original = part.described

    def counted(run, *others):
        seen.extend(run.results["query"].unique().tolist())
        return original(run, *others)

    monkeypatch.setattr(part, "described", counted)
    monkeypatch.setattr(parts, "CASES_PER_PART", 2)
    return seen


@cache
def tables(queries: int) -> dict[str, pa.Table]:
    return synthetic.tables(queries=queries, **SIZES)


def without(made: dict[str, pa.Table], query: str) -> dict[str, pa.Table]:
    kept = {name: made[name] for name in made}
    for name in ("results", "groups"):
        kept[name] = made[name].filter(pc.not_equal(made[name]["query"], query))
    return kept


def test_a_second_report_describes_nothing_and_is_the_same(tmp_path, described):
    synthetic.write(tmp_path, tables(3))
    cold = published(tmp_path)
    assert len(described) == 3
    described.clear()
    assert published(tmp_path) == cold and not described


def test_an_added_query_is_described_alone(tmp_path, described):
    made, new = tables(4), "truck driver"
    synthetic.write(tmp_path / "grown", without(made, new))
    published(tmp_path / "grown")
    described.clear()
    for name in ("results", "groups", "items"):
        Store(str(tmp_path / "grown")).write_table(f"{name}/part-00000.parquet", made[name])
    warm = published(tmp_path / "grown")
    assert described == [new]
    synthetic.write(tmp_path / "fresh", made)
    assert warm == published(tmp_path / "fresh")


def test_a_removed_query_leaves_the_others_and_then_nothing(tmp_path, described):
    made = tables(4)
    synthetic.write(tmp_path / "shrunk", made)
    published(tmp_path / "shrunk")
    described.clear()
    fewer = without(made, "nurse")
    for name in ("results", "groups"):
        Store(str(tmp_path / "shrunk")).write_table(f"{name}/part-00000.parquet", fewer[name])
    warm = published(tmp_path / "shrunk")
    assert not described
    synthetic.write(tmp_path / "fresh", fewer)
    assert warm == published(tmp_path / "fresh")
    store = Store(str(tmp_path / "shrunk"))
    two = without(fewer, "truck driver")
    for name in ("results", "groups"):
        store.write_table(f"{name}/part-00000.parquet", two[name])
    published(tmp_path / "shrunk")
    # The unit of the two that are gone is gone too.
    assert len(store.list("receipts/report")) == 1


def test_another_folder_takes_them_from_the_cache(tmp_path, described):
    made = tables(3)
    synthetic.write(tmp_path / "one", without(made, "nurse"))
    published(tmp_path / "one")
    cache = CachePlace(address=str(tmp_path / "cache"))
    store = Store(str(tmp_path / "one"))
    write_pack(cache.store(), store, receipts_of(store))
    described.clear()
    synthetic.write(tmp_path / "other", made)
    warm = published(tmp_path / "other", Shelf(cache=cache, packed=packed(cache)))
    assert described == ["nurse"]
    synthetic.write(tmp_path / "fresh", made)
    assert warm == published(tmp_path / "fresh")


@pytest.mark.parametrize("damage", ["cut", "turned"])
def test_a_damaged_description_is_made_again(tmp_path, described, damage):
    synthetic.write(tmp_path, tables(3))
    cold = published(tmp_path)
    store = Store(str(tmp_path))
    name = next(one for one in store.list("units/report") if one.endswith("cases.arrow"))
    content = store.read(name)
    turned = content[:-300] + bytes(one ^ 1 for one in content[-300:])
    store.write(name, content[:-9] if damage == "cut" else turned)
    described.clear()
    assert published(tmp_path) == cold and 0 < len(described) < 3


def test_a_description_that_cannot_be_read_is_not_left_in_the_cache(tmp_path):
    synthetic.write(tmp_path, tables(3))
    published(tmp_path)
    store = Store(str(tmp_path))
    whole = [cases for _, cases in receipts_of(store)]
    name = next(one for one in store.list("units/report") if one.endswith("cases.arrow"))
    store.write(name, b"no table")
    assert len([cases for _, cases in receipts_of(store)]) == len(whole) - 1


def test_drawings_that_are_lost_are_written_again(tmp_path, described):
    synthetic.write(tmp_path, tables(3))
    cold = published(tmp_path)
    store = Store(str(tmp_path))
    lost, cut, turned = (name for name in cold if name.endswith(".svg") and "curves/" in name)
    store.delete(lost)
    store.write(cut, cold[cut][:-20])
    store.write(turned, cold[turned][:-20] + bytes(one ^ 1 for one in cold[turned][-20:]))
    described.clear()
    assert published(tmp_path) == cold and not described


def test_another_minimum_share_describes_anew(tmp_path, described):
    synthetic.write(tmp_path, tables(2))
    published(tmp_path)
    described.clear()
    store = Store(str(tmp_path))
    manifest = store.read_json("manifest.json")
    store.write_json("manifest.json", manifest | {"settings": {"report": {"minimum_share": 0.3}}})
    published(tmp_path)
    assert len(described) == 2 and len(kept_cases(store)) == 2
