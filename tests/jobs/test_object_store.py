"""A run whose folder is an object store: a real S3 server on this machine."""

import json
import logging
import socket
import tempfile
import threading
from collections import Counter

import pandas as pd
import pytest

from jobs import audit
from jobs.cli import main
from jobs.config.file import read_config
from jobs.run.lock import LOCK, Lock
from jobs.stages.execute import Outcome, record_failure
from jobs.store import Store, receipt_file

from .conftest import write_audit


@pytest.fixture(scope="module")
def server():
    """Address of an S3 server with an empty bucket `audits`."""
    moto = pytest.importorskip("moto.server")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def bucket(server, monkeypatch, request):
    """An empty prefix of the bucket."""
    import s3fs

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    files = s3fs.S3FileSystem(endpoint_url=server, use_listings_cache=False, skip_instance_cache=True)
    if not files.exists("audits"):
        files.mkdir("audits")
    return f"s3://audits/{request.node.name}"


def counts(capsys, *arguments):
    code = main([str(argument) for argument in (*arguments, "--json")])
    captured = capsys.readouterr()
    assert captured.out, captured.err
    return code, json.loads(captured.out.strip().splitlines()[-1])


def printed(capsys, *arguments) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def rows(output):
    store = Store(output)
    tables = [store.read_table(name).to_pandas() for name in store.list("results")]
    return pd.concat(tables).drop(columns=["run_id", "solve_seconds"])


@pytest.mark.system
def test_an_audit_on_an_object_store(tmp_path, cluster, bucket, capsys):
    audit = write_audit(tmp_path, runtime={})
    code, first = counts(capsys, "run", audit, "--output", bucket)
    assert (code, first["cached"], first["failed"]) == (0, 0, 0)
    assert (first["output"], first["report"]) == (bucket, f"{bucket}/report/index.html")
    store = Store(bucket)
    assert not store.exists(LOCK)
    assert b"nurse" in store.read("report/index.html")

    local = tmp_path / "local"
    counts(capsys, "run", audit, "--output", local)
    expected = pd.read_parquet(local / "results").drop(columns=["run_id", "solve_seconds"])
    pd.testing.assert_frame_equal(rows(bucket), expected)

    code, second = counts(capsys, "run", audit, "--output", bucket)
    assert (code, second["computed"], second["cached"]) == (0, 0, first["computed"])
    assert counts(capsys, "verify", bucket)[1]["faults"] == []
    found = counts(capsys, "status", f"{bucket}/")[1]
    assert found["is_complete"]
    assert (found["output"], found["run"]["log"]) == (bucket, f"{bucket}/logs/{first['run_id']}.jsonl")
    assert counts(capsys, "report", bucket) == (
        0,
        {"report": f"{bucket}/report/index.html", "files": store.list("report")},
    )
    assert f"log {bucket}/logs/" in printed(capsys, "status", bucket)
    assert printed(capsys, "report", bucket) == f"report: {bucket}/report/index.html\n"
    assert f"in {bucket}:" in printed(capsys, "clean", bucket, "--dry-run")
    written = {
        name: counts(capsys, "export", bucket, "--format", form, "--output", f"{bucket}/{name}")[1]["files"]
        for form, name in (("trec", "trec"), ("long", "long.csv"), ("long", "long.parquet"))
    }
    assert all(file.startswith(f"{bucket}/trec/") for file in written["trec"])
    assert (written["long.csv"], written["long.parquet"]) == ([f"{bucket}/long.csv"], [f"{bucket}/long.parquet"])
    assert store.list("trec") == sorted(file.removeprefix(f"{bucket}/") for file in written["trec"])
    assert store.read_table("long.parquet").num_rows

    damaged = next(name for name in store.list("units/solve") if name.endswith("results.parquet"))
    store.write(damaged, store.read(damaged)[:-50])
    code, found = counts(capsys, "verify", bucket)
    assert code == 1
    assert damaged in {fault["file"] for fault in found["faults"]}
    code, third = counts(capsys, "run", audit, "--output", bucket)
    assert (code, third["computed"]) == (0, 1)
    pd.testing.assert_frame_equal(rows(bucket), expected)


def test_vectors_are_fetched_once_and_give_the_rows_of_a_disk(tmp_path, bucket, capsys, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    opened, fetched = Store.opened, Counter()

    def counted(store, name):
        fetched[name] += 1
        return opened(store, name)

    monkeypatch.setattr(Store, "opened", counted)
    classes = ["linear", {"linear": {"over": "embedding"}}]
    audit = write_audit(tmp_path, function_classes=classes, methods=["top_k", {"mmr": {"values": [0.3, 0.6]}}, "dpp"])
    for output in (bucket, tmp_path / "local"):
        assert counts(capsys, "run", audit, "--output", output)[0] == 0
    expected = pd.read_parquet(tmp_path / "local" / "results").drop(columns=["run_id", "solve_seconds"])
    pd.testing.assert_frame_equal(rows(bucket), expected)
    shards = {name: times for name, times in fetched.items() if name.endswith("vectors.arrow")}
    assert shards and set(shards.values()) == {1}
    assert not list(tmp_path.glob("mpr-audit-copies-*/*"))


def test_of_many_at_once_one_creates(bucket):
    """The server decides, not a look before the writing."""
    stores = [Store(bucket) for _ in range(8)]
    barrier, got = threading.Barrier(8), []

    def create(number):
        barrier.wait()
        if stores[number].create("lock.json", str(number).encode()):
            got.append(number)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 1
    assert stores[0].read("lock.json") == str(got[0]).encode()


def test_two_runs_into_one_prefix(tmp_path, bucket, capsys):
    with Lock(Store(bucket), "monday", print):
        assert main(["run", str(write_audit(tmp_path)), "--output", bucket]) == 1
    assert "in use by run monday" in capsys.readouterr().err


def test_a_failure_is_named_with_the_scheme(tmp_path, bucket, capsys):
    path = write_audit(tmp_path, methods=["top_k"])
    assert main(["run", str(path), "--output", bucket]) == 0
    capsys.readouterr()
    _, plan = audit.prepare(read_config(path))
    unit, store = plan.stages["solve"][0], Store(bucket)
    store.delete(receipt_file("solve", unit.key))
    record_failure(unit, store, Outcome(key=unit.key, message="no luck"))
    assert f"no luck (traceback: {bucket}/failures/solve/{unit.key}.json)" in printed(capsys, "status", bucket)


@pytest.mark.parametrize("output", ["s3://", "{long}", "{long}/below", "http://127.0.0.1:{closed}/run"])
def test_a_store_that_cannot_be_read_is_one_sentence(tmp_path, capsys, output):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        output = output.format(long=tmp_path / ("x" * 300), closed=probe.getsockname()[1])
    path = str(write_audit(tmp_path))
    for command in (["status"], ["verify"], ["report"], ["clean"], ["compare", output], ["plan", path, "--output"]):
        assert main([*command, output]) == 2, command
        assert capsys.readouterr().err.count("\n") == 1, command


def test_a_bucket_that_is_not_there_is_one_sentence(tmp_path, bucket, capsys):
    assert main(["run", str(write_audit(tmp_path)), "--output", "s3://nowhere/run"]) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert "s3://nowhere/run" in line
