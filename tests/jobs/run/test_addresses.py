"""Addresses of clusters that are gone, half dead or something else, as the command line meets them."""

from __future__ import annotations

import http.server
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from jobs.errors import UsageError
from jobs.run.addresses import host_and_port

from ..conftest import write_audit

# From the start of the command to its end, on a machine that has other things to do.
LONGEST_SECONDS = 20.0 + 10.0


@pytest.mark.parametrize(
    ("address", "found"),
    [("10.0.0.1:6379", ("10.0.0.1", 6379)), ("head:1", ("head", 1)), ("[::1]:6379", ("::1", 6379))],
)
def test_addresses(address, found):
    assert host_and_port(address) == found


@pytest.mark.parametrize(
    ("address", "words"),
    [
        *(
            (one, "HOST:PORT of the head is expected")
            for one in ("head", "head:", ":1", "a:b", "a:99999", "s3://a:1/b")
        ),
        ("http://127.0.0.1:8265", "a dashboard's address, which `mpr-audit submit` takes"),
        ("ray://head:10001", "send it there with `mpr-audit submit`"),
    ],
)
def test_what_is_none(address, words):
    with pytest.raises(UsageError, match=words):
        host_and_port(address)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def silent():
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.fixture
def web():
    """A port of something else."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def told(*arguments: str, **environment: str) -> tuple[int, str]:
    """Exit code and sentence of a command that must soon say what is wrong."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "jobs", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_SECONDS,
    )
    assert time.monotonic() - began < LONGEST_SECONDS
    assert done.stderr.count("\n") == 1, done.stderr
    return done.returncode, done.stderr


@pytest.mark.system
def test_a_cluster_that_is_gone(tmp_path, silent, web):
    path, output = write_audit(tmp_path, runtime={}), tmp_path / "run"
    gone = f"127.0.0.1:{closed_port()}"
    for address, words in (
        (gone, "nothing answers there (Connection refused)"),
        (f"127.0.0.1:{silent}", "does not answer as Ray does"),
        (f"127.0.0.1:{web}", "does not answer as Ray does"),
        (f"ray://{gone}", "send it there with `mpr-audit submit`"),
    ):
        code, said = told("run", str(path), "--output", str(output), RAY_ADDRESS=address)
        assert (code, words in said, f"RAY_ADDRESS {address}" in said) == (2, True, True), said
    code, said = told("run", str(path), "--output", str(output), "--set", f"runtime.address={gone}", RAY_ADDRESS="head")
    assert (code, f"runtime.address {gone}: nothing answers" in said) == (2, True)
    assert not output.exists()


@pytest.mark.system
def test_a_dashboard_that_is_gone(tmp_path, silent):
    path = write_audit(tmp_path)
    for address in (f"http://127.0.0.1:{silent}", f"http://127.0.0.1:{closed_port()}", "http://"):
        code, said = told("submit", str(path), "--output", "/shared/run", "--no-wait", "--address", address)
        assert (code, "no Ray dashboard answers" in said) == (2, True), said
