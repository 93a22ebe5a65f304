"""The Jobs API of a running cluster."""

from __future__ import annotations

import logging
import os
from typing import Any

import ray

from jobs.errors import UsageError


def dashboard_version(address: str) -> str:
    """Ray's version on the cluster whose dashboard has that http address; raises as `job_client` does."""
    return job_client(address)._server_ray_version


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
    try:
        return JobSubmissionClient(address)
    except ray.exceptions.AuthenticationError:
        raise UsageError(
            f"address {address}: the cluster refuses this machine's token: put its token into a file that only you "
            "can read and set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH=FILE"
        ) from None
    except (OSError, RuntimeError) as error:  # the connection's errors are both kinds
        first_line = str(error).strip().splitlines()[0]
        raise UsageError(f"address {address}: no Ray dashboard answers, is its tunnel open? {first_line}") from None
