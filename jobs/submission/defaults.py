"""What a submission's options may be and are by default."""

from __future__ import annotations

# Where a tunnel to a cluster's dashboard ends, by custom.
DEFAULT_ADDRESS = "http://127.0.0.1:8265"
# Period of a schedule, and how a moment of it is written in an id; ISO weeks, so that New Year splits none.
PERIODS = {"hourly": "%Y-%m-%dT%H", "daily": "%Y-%m-%d", "weekly": "%G-W%V", "monthly": "%Y-%m"}
