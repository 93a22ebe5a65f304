"""The Jobs API of a running cluster."""

from __future__ import annotations

import logging
import os
from typing import Any

import ray

from ... import interruption
from ...errors import UsageError
from ...words import first_line
from .reachability import REFUSED

# Seconds for a dashboard to report its version, through a tunnel.
DASHBOARD_SECONDS = 10.0
IS_TUNNEL_OPEN = "is its tunnel open?"


def dashboard_version(address: str) -> str:
    """Ray's version on the cluster whose dashboard has that http address; raises as `job_client` does."""
    return str(job_client(address)._server_ray_version)


def job_client(address: str) -> Any:
    """Ray's client of the Jobs API of a cluster, by its dashboard's http address.

    Raises:  UsageError where nothing answers, or not with this token.
    """
    from ray.job_submission import JobSubmissionClient

    for chatty in ("ray.dashboard.modules.job.sdk", "ray.dashboard.modules.dashboard_sdk", "ray._private.runtime_env"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # Ray lets these win over an address that it is given.
    for variable in ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS"):
        os.environ.pop(variable, None)
    found: list[JobSubmissionClient | Exception] = []

    def asked() -> None:
        try:
            found.append(JobSubmissionClient(address))
        except Exception as error:  # noqa: BLE001 - it is raised below
            found.append(error)

    # What listens without answering is waited for without a limit.
    if not interruption.bounded(f"asking {address}", asked, DASHBOARD_SECONDS):
        silence = f"no Ray dashboard answers within {DASHBOARD_SECONDS:g} s"
        raise UsageError(f"address {address}: {silence}, {IS_TUNNEL_OPEN}")
    [answer] = found
    if isinstance(answer, ray.exceptions.AuthenticationError):
        raise UsageError(f"address {address}: {REFUSED}")
    if isinstance(answer, Exception):
        why = first_line(str(answer)) or type(answer).__name__
        raise UsageError(f"address {address}: no Ray dashboard answers, {IS_TUNNEL_OPEN} {why}")
    return answer
