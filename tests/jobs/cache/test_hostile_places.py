"""Caches in odd places and of odd content: full disks, disks that are only read, other versions, wrong clocks."""

import hashlib
import json
import subprocess
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from jobs.cache import names, segment
from jobs.cache.damage import faults
from jobs.cache.keys import keys_of_texts
from jobs.cache.packs import packed_units, write_pack
from jobs.cache.space import Space
from jobs.cache.upkeep import pieces, removal, remove_all
from jobs.cli import main
from jobs.doctor.cache import cache as looked_at
from jobs.store import FileReceipt, Receipt, Store
from tests.jobs.test_object_store import bucket, server  # noqa: F401 - fixtures

from .test_space import numbers
from .test_text_runs import CountedModel, cached, counted, people, rows, run, second_week, write  # noqa: F401 - a fixture

PEOPLE = 60


@contextmanager
def disk(folder, options):
    """A disk of its own."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("cannot mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def filled(root, count=50, folder="vectors/one"):
    """A cache with a segment; the store and the segment's name."""
    store = Store(str(root))
    texts = [f"text {number}" for number in range(count)]
    return store, Space(store, folder).add(keys_of_texts(texts), numbers(count), {"column": "text"})


def by_another_version(store, folder="vectors/one"):
    """An index whose form is not known here, and its rows."""
    facts = {"rows_file": f"{folder}/{names.now()}-00{names.ROWS}", "form": "of tomorrow"}
    store.write(facts["rows_file"], b"rows")
    content = json.dumps(facts).encode()
    digest = hashlib.sha256(content).hexdigest()[: names.NAME_DIGITS]
    name = f"{folder}/{names.now()}-{digest}{names.INDEX}"
    store.write(name, content)
    return [name, facts["rows_file"]]


@pytest.mark.system
def test_a_full_disk_costs_the_cache_and_not_the_run(tmp_path, capsys):
    path = write(tmp_path / "one", people())
    with disk(tmp_path / "cache", "size=12k") as small:
        (small / "other").write_bytes(bytes(4096))
        first = run(capsys, path, tmp_path / "week 1", "--set", f"cache={small / 'shared'}")
        assert (first["failed"], first["items_embedded"]) == (0, PEOPLE)
        logs = " ".join(file.read_text() for file in (tmp_path / "week 1/logs").iterdir())
        assert "No space left" in logs
        # What is left there is whole, and serves.
        assert list(faults(Store(str(small / "shared")))) == []
        second = run(capsys, path, tmp_path / "week 2", "--set", f"cache={small / 'shared'}")
        assert second["items_embedded"] + second["items_reused"] == PEOPLE
    run(capsys, path, tmp_path / "alone")
    for week in ("week 1", "week 2"):
        pd.testing.assert_frame_equal(rows(tmp_path / week), rows(tmp_path / "alone"))


@pytest.mark.system
def test_a_cache_that_is_only_read_is_one_sentence_for_a_run_and_serves_a_plan(tmp_path, capsys):
    path = write(tmp_path / "one", people())
    with disk(tmp_path / "cache", "size=20m") as place:
        run(capsys, path, tmp_path / "week 1", "--set", f"cache={place}")
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        arguments = [str(path), "--output", str(tmp_path / "week 2"), "--set", f"cache={place}"]
        assert main(["plan", *arguments, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["bill"]["items_to_embed"] == 0
        assert main(["run", *arguments]) == 2
        [line] = capsys.readouterr().err.strip().splitlines()
        assert f"cache {place} cannot be written: Read-only file system" in line
        [check] = [one for one in looked_at(str(place)) if one.level == "problem"]
        assert "Read-only file system" in check.found
        for action in ("status", "verify"):
            assert main(["cache", action, str(place)]) == 0
        capsys.readouterr()
        assert main(["cache", "clean", str(place), "--max-size", "0"]) == 1
        [line] = capsys.readouterr().err.strip().splitlines()
        assert "Read-only file system" in line


def test_what_another_version_wrote_is_not_used_and_not_damaged(tmp_path, capsys):
    store, own = filled(tmp_path / "cache")
    foreign = by_another_version(store)
    space = Space(store, "vectors/one")
    space.refresh()
    assert space.take(keys_of_texts(["text 3"]))[0].all()
    assert list(faults(store)) == []
    # Its rows, too, stay: what they are is not known here.
    remove_all(store, removal(store, grace=timedelta(seconds=-5)))
    assert set(foreign) <= set(store.entries("vectors/one"))
    assert own in store.entries("vectors/one")
    remove_all(store, removal(store, older_than=timedelta(seconds=-5)))
    assert pieces(store) == []
    assert main(["cache", "status", store.root]) == 0


def test_units_of_another_version_stay_as_well(tmp_path):
    store, _ = filled(tmp_path / "cache")
    foreign = by_another_version(store, "units")
    remove_all(store, removal(store, grace=timedelta(seconds=-5)))
    assert set(foreign) <= set(store.entries("units"))
    assert list(faults(store)) == []


@pytest.mark.parametrize("place", ["../outside.rows", "vectors/one/../../outside.rows", "units/outside.rows"])
def test_an_index_names_no_data_outside_its_folder(tmp_path, monkeypatch, place):
    """A cleaning removes what an index names."""
    store, _ = filled(tmp_path / "cache")
    outside = Path(store.path(place))
    outside.parent.mkdir(exist_ok=True)
    outside.write_bytes(b"mine")
    old = (datetime.now(UTC) - timedelta(days=100)).strftime(names.STAMP)
    facts = segment.Facts(rows_file=place, count=1, width=2, numbers="float32", block_rows=1, checksums="00" * 8)
    content = bytes(segment._index_bytes(keys_of_texts(["a"]), facts))
    digest = hashlib.sha256(content).hexdigest()[: names.NAME_DIGITS]
    store.write(f"vectors/one/{old}-{digest}{names.INDEX}", content)
    space = Space(store, "vectors/one")
    space.refresh()
    assert len(space.segments) == 1
    remove_all(store, removal(store, older_than=timedelta(days=90)))
    assert outside.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("stage", "table"), [("../../outside", "results"), ("solve", "../../../outside"), ("solve", "/x")]
)
def test_a_pack_puts_nothing_outside_a_run_s_folder(tmp_path, stage, table):
    store, run_store = Store(str(tmp_path / "cache")), Store(str(tmp_path / "run"))
    sha256 = hashlib.sha256(b"x").hexdigest()
    files = {"results": FileReceipt(rows=1, bytes=1, sha256=sha256, schema_sha256="s")}
    receipt = Receipt(stage="solve", key="ab12", title="t", seconds=0.0, cpu_seconds=0.0, files=files)
    run_store.write("units/solve/ab12/results.parquet", b"x")
    name = write_pack(store, run_store, [(receipt, "")])
    assert set(packed_units(store)) == {"ab12"}
    raw = json.loads(store.read(name))
    [unit] = raw["units"]
    unit["receipt"]["stage"] = stage
    unit["places"] = {table: unit["places"].pop("results")}
    unit["receipt"]["files"] = {table: unit["receipt"]["files"].pop("results")}
    content = json.dumps(raw).encode()
    store.delete(name)
    digest = hashlib.sha256(content).hexdigest()[: names.NAME_DIGITS]
    store.write(f"units/{names.now()}-{digest}{names.INDEX}", content)
    assert packed_units(store) == {}


@pytest.mark.parametrize("years", [-50, 50])
def test_a_writer_whose_clock_is_wrong_costs_time_alone(tmp_path, monkeypatch, years):
    stamp = (datetime.now(UTC) + timedelta(days=365 * years)).strftime(names.STAMP)
    with monkeypatch.context() as clock:
        clock.setattr(segment, "now", lambda: stamp)
        store, _ = filled(tmp_path / "cache")
    space = Space(store, "vectors/one")
    space.refresh()
    assert space.take(keys_of_texts(["text 3"]))[0].all()
    # Used now, by a clock that is right.
    assert not removal(store, older_than=timedelta(days=90)).pieces
    # One that is ahead does not keep its segment for ever.
    [piece] = pieces(store)
    assert piece.last_used <= datetime.now(UTC)


def test_files_of_others_among_those_of_a_cache_are_left_alone(tmp_path, capsys):
    store, name = filled(tmp_path / "cache")
    odd = ["vectors/one/notes.index", "vectors/one/x.rows", f"{name}.used-never", f"{name}.used-99991231"]
    for one in odd:
        store.write(one, b"mine")
    assert [piece.name for piece in pieces(store)] == [name]
    space = Space(store, "vectors/one")
    space.refresh()
    assert len(space.segments) == 1
    remove_all(store, removal(store, grace=timedelta(seconds=-5)))
    assert set(odd) <= set(store.entries("vectors/one"))
    for action in ("status", "verify", "clean"):
        assert main(["cache", action, store.root]) == 0


@pytest.mark.parametrize("where", ["same", "within", "around"])
def test_a_cache_and_a_run_are_folders_apart(tmp_path, capsys, where):
    path = write(tmp_path / "one", people())
    output = tmp_path / "runs/week"
    place = {"same": output, "within": output / "cache", "around": tmp_path / "runs"}[where]
    for command in ("run", "plan"):
        assert main([command, str(path), "--output", str(output), "--set", f"cache={place}"]) == 2
        [line] = capsys.readouterr().err.strip().splitlines()
        assert f"cache {place} and output {output} are the same folder, or one is within the other" in line
        assert not output.exists()
    # Names that begin alike are folders apart.
    assert main(["plan", str(path), "--output", str(output), "--set", f"cache={output}-cache"]) == 0


def test_a_run_s_folder_is_no_cache(tmp_path, capsys):
    (tmp_path / "week 1/receipts/pool").mkdir(parents=True)
    (tmp_path / "week 1/receipts/pool/ab12.json").write_text("{}")
    assert main(["cache", "clean", str(tmp_path / "week 1")]) == 2
    assert "is no cache: it is a run's folder" in capsys.readouterr().err


@pytest.mark.system
def test_places_with_any_characters(tmp_path, capsys):
    folder = tmp_path / "räume & 人 'x'  %41"
    folder.mkdir()
    path = write(folder / "one", people())
    options = ["--set", f"cache={json.dumps(str(folder / 'ein cache #1?'))}"]
    run(capsys, path, folder / "week 1", *options)
    assert run(capsys, path, folder / "week 2", *options)["items_embedded"] == 0
    assert main(["cache", "verify", str(folder / "ein cache #1?")]) == 0


def test_the_doctor_looks_at_the_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("MPR_AUDIT_CACHE", raising=False)
    assert list(looked_at(None)) == []
    store, name = filled(tmp_path / "cache")
    assert [check.level for check in looked_at(store.root)] == ["ok", "ok"]
    monkeypatch.setenv("MPR_AUDIT_CACHE", store.root)
    [held, room] = looked_at(None)
    assert "can be written, and holds" in held.found and "1 segment" in held.found and "free at the cache" in room.found
    data = Path(store.path(segment.open_segment(store, name).facts.rows_file))
    content = bytearray(data.read_bytes())
    content[3] ^= 1
    data.write_bytes(content)
    [damaged, _] = looked_at(None)
    assert damaged.level == "warning" and data.name in damaged.found and "cache verify" in damaged.advice
    Path(store.path(name)).write_bytes(b"cut")
    [damaged, _] = looked_at(None)
    assert name in damaged.found
    # A folder that is not there yet is one that a run will make; a file, or a run's folder, is none.
    assert [check.level for check in looked_at(str(tmp_path / "new"))] == ["ok", "ok"]
    (tmp_path / "file").write_text("")
    assert next(iter(looked_at(str(tmp_path / "file")))).found.endswith("is a file")
    (tmp_path / "run/receipts").mkdir(parents=True)
    (tmp_path / "run/receipts/x.json").write_text("{}")
    assert "it is a run's folder" in next(iter(looked_at(str(tmp_path / "run")))).found
    assert next(iter(looked_at("nonsense://cache"))).level == "problem"


@pytest.mark.system
def test_two_encoders_of_one_name_have_vectors_of_their_own(tmp_path, capsys, monkeypatch):
    from jobs.encoders import sentence

    path = write(tmp_path / "one", people())
    run(capsys, path, tmp_path / "week 1", *cached(tmp_path))
    monkeypatch.setattr(sentence, "_version", lambda package: "0.0.of-other-weights")
    CountedModel.texts = []
    assert run(capsys, path, tmp_path / "week 2", *cached(tmp_path))["items_embedded"] == PEOPLE
    assert len(CountedModel.texts) > PEOPLE


@pytest.mark.system
def test_two_weeks_with_a_cache_on_an_object_store(tmp_path, capsys, bucket):  # noqa: F811
    options = ["--set", f"cache={bucket}/ein cache ü"]
    run(capsys, write(tmp_path / "one", people()), tmp_path / "week 1", *options)
    path = write(tmp_path / "two", second_week(people()))
    second = run(capsys, path, f"{bucket}/week 2", *options)
    assert (second["items_embedded"], second["items_reused"]) == (6, 55)
    again = run(capsys, path, tmp_path / "week 2 again", *options)
    assert (again["items_embedded"], again["queries_computed"]) == (0, 0)
    run(capsys, path, tmp_path / "alone")
    pd.testing.assert_frame_equal(rows(tmp_path / "week 2 again"), rows(tmp_path / "alone"))
    assert main(["cache", "verify", f"{bucket}/ein cache ü"]) == 0
    assert [check.level for check in looked_at(f"{bucket}/ein cache ü")] == ["ok"]
    assert main(["run", str(path), "--output", f"{bucket}/c/run", "--set", f"cache={bucket}/c"]) == 2
    assert "one is within the other" in capsys.readouterr().err
