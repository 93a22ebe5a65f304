"""A unit of work: the smallest thing that is computed, committed and never computed again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Raised by hand when a stage's code changes what it writes; every unit of it is then computed anew.
# A test knows the code of each version: `python -m tests.jobs.stage_sources` records a new one.
STAGE_VERSIONS = {
    "catalogue": 3,
    "tokens": 1,
    "queries": 1,
    "texts": 1,
    "embed": 3,
    "debiased": 1,
    "probe": 2,
    "labels": 2,
    "information": 2,
    "order": 1,
    "prefilter": 2,
    "merge": 1,
    "rescore": 1,
    "pool": 2,
    "solve": 3,
}
# Hexadecimal digits of a unit's key: 80 bits, no collision among billions of units.
KEY_DIGITS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """Work of one stage, named by the hash of everything that determines its content.

    spec is what the stage's function gets (JSON values; other units by their keys). needs are the
    keys of the units that it reads.
    """

    stage: str
    key: str
    title: str
    spec: Mapping[str, Any]
    needs: tuple[str, ...] = ()


def unit(stage: str, title: str, spec: Mapping[str, Any], needs: tuple[str, ...] = ()) -> Unit:
    """A unit with its key."""
    return Unit(stage=stage, key=digest([stage, STAGE_VERSIONS[stage], spec]), title=title, spec=spec, needs=needs)


def digest(value: Any) -> str:
    """A stable name of JSON values."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]
