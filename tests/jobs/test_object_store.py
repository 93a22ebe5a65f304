"""A run whose folder is an object store: a real S3 server on this machine."""

import json
import logging
import threading

import pandas as pd
import pytest

from jobs.cli import main
from jobs.running.lock import LOCK, Lock
from jobs.store import Store

from .conftest import write_audit

pytestmark = pytest.mark.usefixtures("cluster")


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


def rows(output):
    store = Store(output)
    tables = [store.read_table(name).to_pandas() for name in store.list("results")]
    return pd.concat(tables).drop(columns=["run_id", "solve_seconds"])


def test_an_audit_on_an_object_store(tmp_path, bucket, capsys):
    audit = write_audit(tmp_path)
    code, first = counts(capsys, "run", audit, "--output", bucket)
    assert (code, first["cached"], first["failed"]) == (0, 0, 0)
    assert first["report"] == f"{bucket.removeprefix('s3://')}/report/index.html"
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
    assert counts(capsys, "status", bucket)[1]["is_complete"]
    assert counts(capsys, "report", bucket)[0] == 0

    damaged = next(name for name in store.list("units/solve") if name.endswith("results.parquet"))
    store.write(damaged, store.read(damaged)[:-50])
    code, found = counts(capsys, "verify", bucket)
    assert code == 1
    assert damaged in {fault["file"] for fault in found["faults"]}
    code, third = counts(capsys, "run", audit, "--output", bucket)
    assert (code, third["computed"]) == (0, 1)
    pd.testing.assert_frame_equal(rows(bucket), expected)


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


def test_a_bucket_that_is_not_there_is_one_sentence(tmp_path, bucket, capsys):
    assert main(["run", str(write_audit(tmp_path)), "--output", "s3://nowhere/run"]) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert "s3://nowhere/run" in line
