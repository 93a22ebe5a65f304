"""Ray: the only folder that imports it."""

import os

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
# Ray prints paragraphs on standard output for each loss, between what a run prints; the run's own log has them.
LOSSES = r"A worker died or was killed|has been marked dead|killed due to memory|running low on memory"
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", LOSSES)

from .cluster import Cluster, look_around  # noqa: E402 - ray reads its settings when it is imported
from .jobs_api import dashboard_version, job_client  # noqa: E402 - the same
from .reachability import expect_reachable  # noqa: E402 - the same

__all__ = ["Cluster", "dashboard_version", "expect_reachable", "job_client", "look_around"]
