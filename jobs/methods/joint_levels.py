"""Several levels as one name, which nothing has to take apart again."""

from __future__ import annotations

import json
from collections.abc import Iterable


def joint_names(rows: Iterable[Iterable[str]]) -> list[str]:
    """A name for each row of levels; rows that differ have different names, whatever characters levels hold."""
    return [json.dumps(list(row), ensure_ascii=False) for row in rows]
