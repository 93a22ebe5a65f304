"""The demo as a job of a cluster that a launcher's own commands started, sent from a clean shell."""

import json
import signal
import subprocess
import time

import pandas as pd
import pytest
import yaml

from tests.cluster import start_commands
from tests.cluster.ray_nodes import ROOT, RayNodes

pytestmark = pytest.mark.system

DEMO = ROOT / "jobs" / "configs" / "demo.yaml"
# The autoscaler of a cluster that does not scale; the launcher writes its own settings there.
BOOTSTRAP = {
    "cluster_name": "tests",
    "max_workers": 0,
    "provider": {"type": "readonly", "use_node_id_as_ip": True, "disable_launch_config_check": True},
    "available_node_types": {"head": {"resources": {}, "node_config": {}, "max_workers": 0}},
    "head_node_type": "head",
    "idle_timeout_minutes": 0,
    "upscaling_speed": 1.0,
}


@pytest.fixture(scope="module")
def nodes():
    """Head and worker; the commands of all launchers are the same."""
    [(head, worker)] = {start_commands.of_launcher(path) for path in start_commands.LAUNCHERS}
    with RayNodes() as nodes:
        (nodes.folder / "ray_bootstrap_config.yaml").write_text(yaml.safe_dump(BOOTSTRAP))
        nodes.start(head)
        nodes.start(worker, RAY_HEAD_IP="127.0.0.1")
        census = pd.read_parquet(ROOT / "jobs" / "data" / "census.parquet").head(120)
        census.to_parquet(nodes.folder / "census.parquet")
        yield nodes


def submit_command(nodes, *extra) -> list[str]:
    """The demo in its smallest form."""
    table = f"dataset.path={nodes.folder}/census.parquet"
    small = ["--set", table, "--set", "k=10", "--set", "methods=[top_k]", "--limit", "1"]
    where = ["--address", nodes.address, "--output", f"{nodes.folder}/run"]
    return ["mpr-audit", "submit", str(DEMO), *small, *where, *extra]


def submit(nodes, *extra, **environment):
    return nodes.run(*submit_command(nodes, *extra), **environment)


def test_the_same_audit_is_not_started_twice(nodes):
    first = submit(nodes, "--json", "--period", "weekly")
    assert first.returncode == 0, first.stderr
    printed = json.loads(first.stdout)
    assert printed["exit_code"] == 0
    assert set(pd.read_parquet(nodes.folder / "run" / "results")["query"]) == {"accountant"}
    # What ended well is not tried again.
    again = submit(nodes, "--period", "weekly", "--retry")
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.count("\n") == 1
    assert f"{printed['submission_id']} was submitted" in again.stderr
    # Ray itself decides, whoever asks.
    name = printed["submission_id"]
    where = ["--address", nodes.address, "--submission-id", name]
    plain = nodes.run("ray", "job", "submit", *where, "--", "mpr-audit", "run", str(DEMO))
    assert plain.returncode != 0
    assert "already exists" in plain.stdout + plain.stderr


def test_a_failing_jobs_exit_code_reaches_the_shell(nodes):
    # The cluster hands the command to a shell: a value must stay one.
    failing = ["--set", "k=500", "--set", f"name=$(touch {nodes.folder}/marker)"]
    failed = submit(nodes, *failing)
    assert failed.returncode == 2, failed.stderr
    assert "k is 500, but dataset census has 120 items" in failed.stdout
    assert not (nodes.folder / "marker").exists()
    # A scheduler whose own process was lost follows what it had submitted.
    followed = submit(nodes, *failing, "--attach")
    assert followed.returncode == 2
    assert "k is 500" in followed.stdout


def test_what_failed_is_submitted_again_when_asked(nodes):
    """Each attempt is a job of its own, with the log of its own."""
    for attempt in ("", "-2", "-3"):
        sent = submit(nodes, "--set", "k=501", "--retry", "--json")
        assert sent.returncode == 2
        assert json.loads(sent.stdout)["submission_id"].endswith(attempt)
    assert submit(nodes, "--set", "k=501").returncode == 2


def test_who_stops_following_stops_no_job(nodes):
    command = submit_command(nodes, "--set", "seed=1")
    environment = nodes.environment | {"RAY_AUTH_MODE": "token"}
    with subprocess.Popen(
        command, env=environment, cwd=nodes.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as following:
        submitted = following.stdout.readline().split()[1]
        time.sleep(2)
        following.send_signal(signal.SIGINT)
        _, errors = following.communicate(timeout=60)
    assert following.returncode == 130
    assert errors.count("\n") == 1
    assert f"job {submitted} goes on; see it with: ray job logs -f {submitted}" in errors
    assert submit(nodes, "--set", "seed=1", "--attach").returncode == 0


def test_the_token_is_asked_for(nodes):
    refused = submit(nodes, RAY_AUTH_TOKEN="0" * 48)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "RAY_AUTH_TOKEN_PATH" in refused.stderr
