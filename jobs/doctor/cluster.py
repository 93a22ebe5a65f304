"""Ray: who may talk to it, whether it starts or answers, and what it has."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..words import numbered
from .check import Check, ok, problem, warning

DEFAULT_TOKEN = Path(".ray") / "auth_token"


def authentication(address: str | None) -> Check:
    """Ray's authentication mode, and whether there is a token; the token itself is never read."""
    mode = os.environ.get("RAY_AUTH_MODE")
    source, fault = _token()
    if mode == "disabled":
        advice = "anybody who reaches the cluster runs code on it: unset RAY_AUTH_MODE, or set it to token"
        report = problem if address else warning
        return report("authentication", "RAY_AUTH_MODE=disabled", advice)
    if fault is not None:
        return warning("authentication", f"token in {source}, {fault}", f"chmod 600 {source}")
    if source is None and address:
        return problem(
            "authentication",
            f"mode {mode or 'unset'}, no token",
            "put the cluster's token into a file and set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH=FILE",
        )
    if mode is None and address:
        return warning("authentication", f"token in {source}, mode unset", "set RAY_AUTH_MODE=token")
    if source is None:
        return ok("authentication", "token mode; Ray makes a token at its first local start")
    return ok("authentication", f"token mode, token in {source}")


def ray(answer: Mapping[str, Any], address: str | None) -> list[Check]:
    """Whether Ray answers at the address, or starts here."""
    where = f"the cluster at {address}" if address else "a local start"
    if "error" in answer:
        advice = (
            "check the address, that the cluster runs and has the same Ray and Python, and the token"
            if address
            else "see the newest logs below /tmp/ray; memory, /dev/shm and disk are the usual reasons"
        )
        return [problem("ray", f"{where}: {answer['error']}", advice)]
    value = answer["value"]
    resources = value["resources"]
    found = f"{value['version']}, {where}: {numbered(value['nodes'], 'node')}"
    cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
    found += f", {numbered(cpus, 'CPU')}, {numbered(gpus, 'GPU')}"
    if cpus == 0:
        return [problem("ray", found, "no worker is up: every stage needs a CPU")]
    return [ok("ray", found)]


def dashboard(answer: Mapping[str, Any], address: str, own_version: str) -> Check:
    """Ray's version on the cluster that jobs are submitted to."""
    if "error" in answer:
        return problem("dashboard", answer["error"], "open the tunnel to the head's port 8265 and check the token")
    if answer["value"] != own_version:
        found = f"Ray {answer['value']} at {address}, {own_version} here"
        return problem("dashboard", found, f"pip install 'ray[default]=={answer['value']}'")
    return ok("dashboard", f"Ray {answer['value']} answers at {address}")


def gpus(ray_answer: Mapping[str, Any], torch_answer: Mapping[str, Any], is_local: bool) -> Check | None:
    """Whether Ray and torch see the same GPUs; None where one of them cannot be asked, or is elsewhere."""
    if "error" in ray_answer or "error" in torch_answer or not is_local:
        return None
    by_ray = int(ray_answer["value"]["resources"].get("GPU", 0))
    by_torch = len(torch_answer["value"]["gpus"])
    if by_ray > by_torch:
        found = f"Ray sees {by_ray}, torch {by_torch}"
        return warning("gpus", found, "install torch's build for this driver's CUDA version")
    if by_torch > by_ray:
        return warning("gpus", f"Ray sees {by_ray}, torch {by_torch}", "unset CUDA_VISIBLE_DEVICES, or start Ray again")
    return ok("gpus", f"{by_ray}" if by_ray else "none; encoders run on CPUs")


def _token() -> tuple[str | None, str | None]:
    """Where Ray would take its token from, in its own order, and what is wrong with the place."""
    if os.environ.get("RAY_AUTH_TOKEN"):
        return "RAY_AUTH_TOKEN", None
    named = os.environ.get("RAY_AUTH_TOKEN_PATH")
    path = Path(named) if named else Path.home() / DEFAULT_TOKEN
    try:
        found = path.stat()
    except OSError:
        return None, None
    if found.st_size == 0:
        return None, None
    # The folder's own mode may keep others out.
    is_open = found.st_mode & (stat.S_IRGRP | stat.S_IROTH) and path.parent.stat().st_mode & stat.S_IXOTH
    is_open = is_open and path.parent.parent.stat().st_mode & stat.S_IXOTH
    return str(path), "readable by others" if is_open else None
