"""What counts as a change between two runs, unless the caller says otherwise."""

from __future__ import annotations

# Expected share of false queries among those reported as moved.
LEVEL = 0.05
# Rise of a query's largest gap, as a share, that counts as a regression.
THRESHOLD = 0.05
