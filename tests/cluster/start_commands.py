"""The `ray start` commands of each launcher, as its nodes run them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

CLUSTER = Path(__file__).resolve().parents[2] / "cluster"
LAUNCHERS = sorted((CLUSTER / "launcher").glob("*.yaml"))
KUBERNETES = sorted((CLUSTER / "kubernetes").glob("*.yaml"))
# What the cluster launcher runs before: it would end every Ray of the machine that tests run on.
STOP = "ray stop"
# What a unit of memory is in bytes.
BYTES = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def load(path: Path) -> dict[str, Any]:
    """The one document of a file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def of_launcher(path: Path) -> tuple[str, str]:
    """Head and worker of a cluster launcher's file."""
    settings = load(path)
    commands = []
    for role in ("head", "worker"):
        first, command = settings[f"{role}_start_ray_commands"]
        assert first == STOP
        commands.append(command)
    return commands[0], commands[1]


def cluster_of(document: dict[str, Any]) -> dict[str, Any]:
    """The RayCluster inside a RayCluster, a RayJob or a RayCronJob."""
    spec = document["spec"]
    return spec.get("jobTemplate", spec).get("rayClusterSpec", spec)


def of_kuberay(document: dict[str, Any]) -> tuple[str, list[str]]:
    """Head, and each worker group, as KubeRay's operator writes them (pod.go, generateRayStartCommand)."""
    cluster = cluster_of(document)
    return _pod_command(cluster["headGroupSpec"], is_head=True), [
        _pod_command(group, is_head=False) for group in cluster["workerGroupSpecs"]
    ]


def _pod_command(group: dict[str, Any], is_head: bool) -> str:
    limits = group["template"]["spec"]["containers"][0]["resources"]["limits"]
    parameters = {
        "dashboard-host": "0.0.0.0" if is_head else None,
        "address": None if is_head else "$FQ_RAY_IP:6379",
        "num-cpus": limits["cpu"],
        "memory": str(int(limits["memory"][:-2]) * BYTES[limits["memory"][-2:]]),
        "num-gpus": limits.get("nvidia.com/gpu"),
        "metrics-export-port": "8080",
        "dashboard-agent-listen-port": "52365",
        **group["rayStartParams"],
    }
    options = [f"--{name}={value}" for name, value in sorted(parameters.items()) if value is not None]
    return " ".join(["ulimit -n 65536; ray start", *(["--head"] if is_head else []), "--block", *options])
