"""The doctor on this machine, on broken configurations and on what it was told of worse machines."""

import json
from importlib.metadata import version

import pytest

from jobs.cli import main
from jobs.config.runtime import Runtime
from jobs.doctor import cluster, isolated_checks, machine, packages, settings
from jobs.encoders.block import Needs
from tests.jobs.conftest import write_audit

SECRET = "5ecret" * 8


@pytest.mark.system
def test_a_fit_machine(tmp_path, monkeypatch, capsys):
    """Every look for real, Ray's start too."""
    token = tmp_path / "token"
    token.write_text(SECRET)
    token.chmod(0o600)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
    path = write_audit(tmp_path, runtime={"workers": 1})
    code = main(["doctor", str(path), "--output", str(tmp_path / "run"), "--json"])
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    by_name = {check["name"]: check for check in found["checks"]}
    assert (code, found["is_fit"]) == (0, True), found
    assert version("ray") in by_name["ray"]["found"]
    assert "1 node, 1 CPU, " in by_name["ray"]["found"]
    assert "items 120 items, 2 queries" in by_name["data"]["found"]
    assert by_name["torch"]["found"].startswith(version("torch"))
    assert SECRET not in printed.out + printed.err
    assert not (tmp_path / "run").exists()
    names = {"python", "packages", "torch", "open_clip", "faiss", "gurobi", "authentication", "ray", "cpus", "memory"}
    assert names | {"shared memory", "output", "disk", "configuration"} <= set(by_name)


def test_a_configuration_that_cannot_run(tmp_path):
    path = write_audit(tmp_path)
    for override, name, word in [
        ("k=0", "configuration", "k"),
        ("dataset.path=absent.parquet", "data", "absent.parquet"),
    ]:
        found = settings.examine(path, (override,))
        assert [check.name for check in found.checks if check.level == "problem"] == [name]
        assert word in found.checks[-1].found
        assert found.cost is None
    for place in (tmp_path / "absent.yaml", tmp_path):
        assert settings.examine(place, ()).checks[0].level == "problem"


@pytest.mark.parametrize(
    ("functions", "is_kept", "level", "said"),
    [
        (0, True, "ok", "the optimisers are compiled"),
        (3, True, "ok", "the optimisers were compiled now, in 21 s; later runs find them"),
        (3, False, "warning", "the optimisers were compiled now, in 21 s, and every process does so again"),
    ],
)
def test_machine_code_is_called_new_by_what_was_compiled_and_not_by_the_clock(functions, is_kept, level, said):
    check = packages.machine_code({"value": {"seconds": 21.0, "functions": functions, "is_kept": is_kept}})
    assert (check.level, check.found) == (level, said)
    assert packages.machine_code({"error": "SystemError"}).level == "problem"


def test_versions():
    [missing, old] = packages.versions(["absent-package>=1", "numpy>=99", "absent-too; extra == 'x'"])
    assert (missing.level, old.level) == ("problem", "problem")
    assert missing.advice == "pip install 'absent-package>=1'"
    assert f"numpy {version('numpy')}, numpy>=99 is needed" in old.found
    [needed] = packages.versions(["absent-package>=1; extra == 'x'", "absent-package>=1; extra == 'audit'"])
    assert (needed.level, needed.found) == ("problem", "absent-package is missing")
    [extra] = packages.versions(["numpy>=99; extra == 'x'"])
    assert extra.level == "warning"
    [fine] = packages.versions(["numpy>=1", "absent-too; extra == 'x'", "mprlib[audit]; extra == 'cpu'"])
    assert fine.level == "ok"


@pytest.mark.parametrize(
    ("builds", "answer", "has_torch", "level"),
    [
        (["faiss-cpu", "faiss-gpu-cu12"], {"value": "1"}, True, "problem"),
        (["faiss-cpu"], {"value": "1"}, True, "ok"),
        (["faiss-cpu"], {"error": "the process ended with code -11"}, True, "problem"),
        ([], {"error": "ImportError"}, True, "ok"),
        ([], {"error": "ImportError"}, False, "problem"),
    ],
)
def test_faiss(builds, answer, has_torch, level):
    assert packages.faiss(answer, has_torch, builds).level == level


def test_gurobi_and_torch():
    words = [packages.gurobi({"value": size}).found for size in (None, 2000, 2**31 - 1)]
    assert ["HiGHS solves everything" in words[0], "2,000" in words[1], "full" in words[2]] == [True] * 3
    assert packages.torch({"error": "ImportError"}, is_needed=True).level == "problem"
    assert packages.torch({"error": "ImportError"}, is_needed=False).level == "warning"
    needs = Needs(package="no-such-package", extra="clip", purpose="only images need it")
    assert packages.encoder_kind("open_clip", needs, {"error": "ImportError"}, is_needed=True).level == "problem"
    assert packages.encoder_kind("open_clip", needs, {"error": "ImportError"}, is_needed=False).level == "ok"


def test_authentication(tmp_path, monkeypatch):
    for variable in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    assert cluster.authentication("head:6379").level == "problem"
    assert cluster.authentication(None).level == "ok"
    monkeypatch.setenv("RAY_AUTH_TOKEN", SECRET)
    assert cluster.authentication("head:6379").level == "warning"
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    assert cluster.authentication("head:6379").level == "ok"
    assert SECRET not in str(cluster.authentication("head:6379"))
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    assert cluster.authentication("head:6379").level == "problem"
    assert cluster.authentication(None).level == "warning"


def test_ray_and_gpus():
    def seen(**resources):
        return {"value": {"version": "1", "nodes": 2, "resources": resources}}

    assert cluster.ray({"error": "no answer"}, "head:6379")[0].level == "problem"
    assert cluster.ray(seen(CPU=0.0), "head:6379")[0].level == "problem"
    assert cluster.ray(seen(CPU=8.0, GPU=2.0), None)[0].found == "1, a local start: 2 nodes, 8 CPUs, 2 GPUs"
    blind, sighted = {"value": {"gpus": []}}, {"value": {"gpus": ["H100"]}}
    assert cluster.gpus(seen(GPU=1.0), blind, is_local=True).level == "warning"
    assert cluster.gpus(seen(), sighted, is_local=True).level == "warning"
    assert cluster.gpus(seen(GPU=1.0), sighted, is_local=True).level == "ok"
    assert cluster.gpus(seen(GPU=1.0), blind, is_local=False) is None
    assert cluster.dashboard({"value": "2.1"}, "http://head:8265", "2.2").level == "problem"


def test_machine(tmp_path):
    assert machine.memory(1e15).level == "warning"
    assert machine.shared_memory(tmp_path, least_bytes=1e18).level == "warning"
    assert machine.disk(str(tmp_path), 1e18).level == "problem"
    assert machine.disk("s3://bucket/run") is None
    (tmp_path / "file").write_text("in the way")
    for root, level in [
        (str(tmp_path / "a" / "b"), "ok"),
        (str(tmp_path / "file" / "below"), "problem"),
        ("/proc/nothing", "problem"),
        ("memory://bucket/run", "ok"),
        ("absent-protocol://bucket/run", "problem"),
    ]:
        assert machine.output(root).level == level, root


def test_a_look_that_fails_or_hangs_is_an_answer(monkeypatch):
    model = {"kind": "sentence", "model": "absent", "batch": 1}
    assert "absent" in isolated_checks.look({"encoder": model})["encoder"]["error"]
    monkeypatch.setattr(isolated_checks, "PATIENCE_SECONDS", 0.01)
    answers = isolated_checks.look({"ray": Runtime().model_dump(mode="json")})
    assert answers == {"ray": {"error": "no answer within 0 s"}}
