"""Checks that may hang or crash: native packages, an encoder, Ray. Each runs in a process of its own.

`python -m jobs.doctor.isolated_checks '{"torch": null, "ray": {...}}'` writes one JSON line before and one after
each look, so that the reader knows which one ended it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

from .. import interruption, own_code
from ..errors import UsageError
from ..words import shortened

# Loading Ray, torch and a model from a slow disk takes a minute; longer means that something hangs.
PATIENCE_SECONDS = 180.0
# Seconds between looks whether the process has ended.
LOOK_SECONDS = 0.1


def look(wanted: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Answers by name: {"value": ...} or {"error": one line}."""
    command = [*own_code.module_command("doctor.isolated_checks"), json.dumps(wanted)]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.DEVNULL, env=own_code.environment())
        end = _how_it_ended(process)
        said.seek(0)
        out = said.read()
    answers: dict[str, dict[str, Any]] = {}
    for line in out.splitlines():
        if line.startswith('{"look": '):
            answer = json.loads(line)
            name = answer.pop("look")
            # The line before a look holds nothing else; without one after it, the process died of the look.
            answers[name] = answer or {"error": end}
    return {name: answers.get(name, {"error": end}) for name in wanted}


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    """Wait for the end of the process, for so long, and say how it ended."""
    until = time.monotonic() + PATIENCE_SECONDS
    try:
        while process.poll() is None:
            if time.monotonic() > until:
                return f"no answer within {PATIENCE_SECONDS:.0f} s"
            interruption.pause(LOOK_SECONDS)
        return f"the process ended with code {process.returncode}"
    finally:
        process.kill()
        process.wait()


def _torch(_: Any) -> Any:
    from ..encoders.presence import torch_devices

    return torch_devices()


def _encoder_kind(kind: Any) -> Any:
    from ..encoders.models import MODELS

    return MODELS[kind].imported()


def _faiss(_: Any) -> Any:
    from ..search.faiss_kernel import version

    return version()


def _gurobi(_: Any) -> Any:
    from mprlib.optimisers.gurobi import gurobi_size

    return gurobi_size()


def _machine_code(_: Any) -> Any:
    from mprlib.warm_up import warm_up

    seconds = warm_up()
    # After the functions, which is when it is complete.
    from mprlib.compiled import compilation

    found = compilation()
    return {"seconds": seconds, "functions": found.functions, "is_kept": found.is_kept}


def _encoder(settings: Any) -> Any:
    from .. import encoders

    return encoders.load(settings).encode(["a person"]).shape[1]


def _ray(settings: Any) -> Any:
    from ..config.runtime import Runtime
    from ..run.ray import look_around

    return look_around(Runtime(**settings))


def _dashboard(address: Any) -> Any:
    from ..run.ray import dashboard_version

    return dashboard_version(address)


# By the first word of what is asked for; a second word tells several questions of one kind apart.
LOOKS: Mapping[str, Callable[[Any], Any]] = {
    "torch": _torch,
    "encoder_kind": _encoder_kind,
    "faiss": _faiss,
    "gurobi": _gurobi,
    "machine_code": _machine_code,
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
        return {"error": shortened(f"{type(error).__name__}: {error}")}


if __name__ == "__main__":
    for name, argument in json.loads(sys.argv[1]).items():
        print(json.dumps({"look": name}), flush=True)
        print(json.dumps({"look": name} | _answer(LOOKS[name.partition(" ")[0]], argument)), flush=True)
    sys.stdout.flush()
    # Exit hooks of a broken package must not turn answers into a failure.
    os._exit(0)
