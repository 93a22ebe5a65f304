"""Looks at what may hang or end a process: native packages, an encoder, Ray. Run as a process of its own.

`python -m jobs.doctor.probe '{"torch": null, "ray": {...}}'` writes one JSON line before and one after
each look, so that whoever reads knows which one it died of.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from jobs.errors import UsageError

# Loading Ray, torch and a model from a slow disk takes a minute; longer means that something hangs.
PATIENCE_SECONDS = 180.0


def look(wanted: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Answers by name: {"value": ...} or {"error": one line}."""
    command = [sys.executable, "-m", "jobs.doctor.probe", json.dumps(wanted)]
    # A package that is not installed but lies on our own path must be found by the other process too.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=PATIENCE_SECONDS, check=False
        )
        out, end = done.stdout, f"the process ended with code {done.returncode}"
    except subprocess.TimeoutExpired as error:
        out, end = (error.stdout or b"").decode(), f"no answer within {PATIENCE_SECONDS:.0f} s"
    answers: dict[str, dict[str, Any]] = {}
    for line in out.splitlines():
        if line.startswith('{"look": '):
            answer = json.loads(line)
            answers[answer.pop("look")] = answer or {"error": end}
    return {name: answers.get(name, {"error": end}) for name in wanted}


def _torch(_: Any) -> Any:
    from jobs.encoders.presence import torch_devices

    return torch_devices()


def _open_clip(_: Any) -> Any:
    from jobs.encoders.presence import open_clip_version

    return open_clip_version()


def _faiss(_: Any) -> Any:
    from jobs.search.faiss_kernel import version

    return version()


def _gurobi(_: Any) -> Any:
    from mprlib.optimisers.gurobi import gurobi_size

    return gurobi_size()


def _encoder(settings: Any) -> Any:
    from jobs import encoders

    return encoders.load(settings).encode(["a person"]).shape[1]


def _ray(settings: Any) -> Any:
    from jobs.config.audit import Runtime
    from jobs.runtime import look_around

    return look_around(Runtime(**settings))


def _dashboard(address: Any) -> Any:
    from jobs.runtime import dashboard_version

    return dashboard_version(address)


LOOKS: Mapping[str, Callable[[Any], Any]] = {
    "torch": _torch,
    "open_clip": _open_clip,
    "faiss": _faiss,
    "gurobi": _gurobi,
    "encoder": _encoder,
    "ray": _ray,
    "dashboard": _dashboard,
}


def _answer(look: Callable[[Any], Any], argument: Any) -> dict[str, Any]:
    try:
        return {"value": look(argument)}
    except UsageError as error:
        return {"error": str(error)}
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the finding
        words = " ".join(str(error).split())
        return {"error": f"{type(error).__name__}: {words}"[:300]}


if __name__ == "__main__":
    for name, argument in json.loads(sys.argv[1]).items():
        print(json.dumps({"look": name}), flush=True)
        print(json.dumps({"look": name} | _answer(LOOKS[name], argument)), flush=True)
    sys.stdout.flush()
    # Exit hooks of a broken package must not turn answers into a failure.
    os._exit(0)
