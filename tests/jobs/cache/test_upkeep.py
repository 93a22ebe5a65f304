"""`mpr-audit cache`: what it holds, what is damaged, and what a cleaning loses."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobs.cache import names, segment
from jobs.cache.damage import faults
from jobs.cache.keys import keys_of_texts
from jobs.cache.merging import merge
from jobs.cache.names import INDEX
from jobs.cache.segment import open_segment
from jobs.cache.space import Space
from jobs.cache.upkeep import pieces, removal, remove_all
from jobs.cli import main
from jobs.store import Store

from .test_space import numbers

ABOUT = {"column": "text", "encoder": {"kind": "sentence", "model": "tiny"}}


def fill(store: Store, folder: str = "vectors/one", start: int = 0, count: int = 50) -> str | None:
    space = Space(store, folder)
    return space.add(keys_of_texts([f"text {number}" for number in range(start, start + count)]), numbers(count), ABOUT)


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "cache"))


@pytest.fixture
def long_ago(monkeypatch):
    """What is written within is of 100 days ago."""

    def at(days: int):
        stamp = (datetime.now(UTC) - timedelta(days=days)).strftime(names.STAMP)
        return lambda: stamp

    return lambda days: monkeypatch.setattr(segment, "now", at(days))


def test_status_says_how_much_of_what(store, capsys):
    fill(store)
    fill(store, "vectors/two", count=20)
    assert main(["cache", "status", store.root]) == 0
    text = capsys.readouterr().out
    assert "50 vectors of texts by sentence tiny" in text
    assert main(["cache", "status", store.root, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["count"] for one in found["holdings"]] == [50, 20]
    assert found["bytes"] == sum(one["bytes"] for one in found["holdings"])


def test_clean_by_age_says_first_what_is_lost(store, capsys, long_ago):
    long_ago(100)
    fill(store)
    long_ago(3)
    fill(store, "vectors/two", count=20)
    arguments = ["cache", "clean", store.root, "--older-than", "90d"]
    assert main([*arguments, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "lost: 50 vectors of texts by sentence tiny" in said
    assert "to embed them again takes about" in said
    assert len(pieces(store)) == 2
    assert main(arguments) == 0
    assert [piece.folder for piece in pieces(store)] == ["vectors/two"]
    assert not [name for name in store.entries("vectors/one") if not name.endswith("about.json")]


def test_what_was_used_lately_is_kept(store, long_ago):
    long_ago(100)
    fill(store)
    space = Space(store, "vectors/one")
    space.refresh()
    assert space.take(keys_of_texts(["text 3"]))[0].all()
    assert not removal(store, older_than=timedelta(days=90)).pieces


def test_clean_by_size_begins_with_what_was_used_longest_ago(store, long_ago):
    long_ago(100)
    fill(store)
    long_ago(50)
    fill(store, "vectors/two")
    [old, new] = pieces(store)
    asked = removal(store, most_bytes=new.bytes)
    assert [piece.name for piece in asked.pieces] == [old.name]
    remove_all(store, asked)
    assert pieces(store) == [new]


def test_replaced_damaged_and_orphaned_files_go_without_a_loss(store):
    for number in range(10):
        fill(store, start=50 * number)
    merge(store, "vectors/one")
    damaged = fill(store, start=1000)
    Path(store.path(damaged)).write_bytes(b"cut")
    soon = removal(store)
    assert soon.pieces == [] and soon.rest == [damaged]
    later = removal(store, grace=timedelta(seconds=-5))
    assert later.pieces == []
    remove_all(store, later)
    assert len([name for name in store.entries("vectors") if name.endswith((INDEX, ".rows"))]) == 2
    assert list(faults(store)) == []


def test_clean_alone_loses_nothing(store, capsys):
    fill(store)
    assert main(["cache", "clean", store.root]) == 0
    assert "lost" not in capsys.readouterr().out
    assert [piece.count for piece in pieces(store)] == [50]


def test_verify_names_what_is_damaged(store, capsys):
    name = fill(store)
    assert main(["cache", "verify", store.root]) == 0
    rows = open_segment(store, name).facts.rows_file
    data = bytearray(Path(store.path(rows)).read_bytes())
    data[7] ^= 4
    Path(store.path(rows)).write_bytes(data)
    capsys.readouterr()
    assert main(["cache", "verify", store.root]) == 1
    assert f"{rows}: 1 of 1 blocks of rows are damaged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["status"], "no cache: give its folder or URL, or MPR_AUDIT_CACHE in the environment"),
        (["clean", "CACHE", "--older-than", "3 months"], "--older-than 3 months: a whole number of hours"),
        (["clean", "CACHE", "--max-size", "-4"], "--max-size -4: a number of bytes is expected"),
        (["status", "CACHE", "--dry-run"], "go with clean, not with status"),
        (["status", "CACHE/nowhere"], "is no folder"),
        (["tidy", "CACHE"], "tidy"),
    ],
)
def test_wrong_use_is_one_sentence(store, capsys, monkeypatch, arguments, expected):
    monkeypatch.delenv("MPR_AUDIT_CACHE", raising=False)
    fill(store)
    assert main(["cache", *(one.replace("CACHE", store.root) for one in arguments)]) == 2
    said = capsys.readouterr().err
    assert expected in said and len(said.strip().splitlines()) == 1


@pytest.mark.parametrize("action", ["status", "verify", "clean"])
def test_a_folder_of_something_else_is_no_cache(tmp_path, capsys, action):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/manifest.json").write_text("{}", encoding="utf-8")
    assert main(["cache", action, str(tmp_path / "run")]) == 2
    assert "is no cache: it holds 'manifest.json'" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["cache", action, str(tmp_path / "empty")]) == 0


def test_status_names_the_day_of_the_last_use(store, capsys):
    fill(store)
    assert main(["cache", "status", store.root]) == 0
    assert f"last used {datetime.now(UTC):%Y-%m-%d}" in capsys.readouterr().out
