"""A run on a cluster that was started before it, by its address: from any folder, and when half of it is dead."""

from __future__ import annotations

import time

import psutil
import pytest

from tests.cluster.ray_nodes import RayNodes
from tests.jobs.conftest import write_audit
from tests.jobs.users_files import write_users_files

pytestmark = pytest.mark.system

# From the start of the command to its end, on a machine that has other things to do.
LONGEST_SECONDS = 20.0 + 10.0


@pytest.fixture(scope="module")
def nodes():
    with RayNodes() as nodes:
        write_users_files(nodes.folder / "here")
        write_audit(nodes.folder, methods=["top_k"], runtime={})
        nodes.start("ray start --head --num-cpus=1 --include-dashboard=false")
        yield nodes


def run(nodes: RayNodes, output: str, **environment):
    """The small audit, run in a folder of files named as packages are."""
    command = f"cd here && mpr-audit run ../audit.yaml --output {nodes.folder}/{output}"
    address = f"127.0.0.1:{nodes.port}"
    return nodes.run("bash", "-c", command, **({"RAY_ADDRESS": address} | environment))


def refused(nodes: RayNodes, output: str, **environment) -> str:
    """The sentence of a run that cannot begin."""
    began = time.monotonic()
    done = run(nodes, output, **environment)
    assert time.monotonic() - began < LONGEST_SECONDS
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert not (nodes.folder / output).exists()
    return done.stderr


def processes(nodes: RayNodes, name: str) -> list[psutil.Process]:
    """Processes of a program of the cluster's."""
    lines = {process: " ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])}
    return [process for process, line in lines.items() if name in line.partition(" ")[0] and str(nodes.folder) in line]


def test_from_a_folder_of_files_named_as_packages_are(nodes):
    done = run(nodes, "named")
    assert done.returncode == 0, done.stderr
    assert (nodes.folder / "named" / "_SUCCESS").exists()


def test_without_its_token(nodes):
    wrong = nodes.folder / "wrong_token"
    wrong.write_text("0" * 48)
    wrong.chmod(0o600)
    assert "the cluster refuses this machine's token" in refused(nodes, "wrong", RAY_AUTH_TOKEN_PATH=str(wrong))


def test_half_of_it_dead(nodes):
    [head] = processes(nodes, "gcs_server")
    [node] = processes(nodes, "raylet")
    try:
        head.suspend()
        assert "is the cluster still running" in refused(nodes, "headless")
        head.resume()
        node.suspend()
        assert "the cluster's head answers, its node on this machine does not" in refused(nodes, "nodeless")
    finally:
        for process in (head, node):
            process.resume()
    node.kill()
    assert "no node of that cluster runs on this machine" in refused(nodes, "none")
    head.kill()
    assert "nothing answers there (Connection refused)" in refused(nodes, "nobody")
