"""Names of levels, and of several levels together.

Levels are kept as codes and names are joined for display alone: nothing takes a name apart again.
Names of different things differ all the same. The name of an attribute that holds "=" is quoted, as is
a level that would read as two ("f & age=50+"); other names stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from itertools import chain, count, pairwise

JOINT = " & "
# What people without a value are called; the others where `unknown` is a value of the data.
UNKNOWN = "unknown"
OTHER_NAMES = ("missing", "missing value")


def level_name(attribute: str, level: str) -> str:
    """ "attribute=level"; the attribute is quoted where its own name holds "="."""
    is_plain = "=" not in attribute and not attribute.startswith('"')
    return f"{attribute if is_plain else _quoted(attribute)}={level}"


def joint_name(parts: Iterable[str]) -> str:
    """Names of levels joined by " & "; a part that would read as several is quoted."""
    return JOINT.join(_quoted(part) if _reads_as_several(part) else part for part in parts)


def missing_name(*levels: Iterable[str]) -> str:
    """What people without a value are called: `unknown`, or where that is a level, the first name that is none."""
    taken = set(chain.from_iterable(levels))
    numbered = (f"{OTHER_NAMES[-1]} {number}" for number in count(2))
    return next(name for name in chain((UNKNOWN, *OTHER_NAMES), numbered) if name not in taken)


def decimal_name(value: Decimal) -> str:
    """A finite decimal without digits behind the point that say nothing: 1.0 and 1.00 are one number.

    >>> decimal_name(Decimal("1.50")), decimal_name(Decimal("1E+2")), decimal_name(Decimal("-0.00"))
    ('1.5', '100', '0')
    """
    whole, _, part = format(value, "f").partition(".")
    part = part.rstrip("0")
    return (f"{whole}.{part}" if part else whole) if value else "0"


def bin_names(bins: tuple[float, ...]) -> list[str]:
    """Names of (-inf, a), [a, b), ..., [z, inf): "under 30", "30 to under 45", "45 and over"."""
    cuts = [f"{cut:.15g}" for cut in bins]
    if len(set(cuts)) < len(cuts):  # neighbours that fifteen digits do not tell apart
        cuts = [f"{cut:.17g}" for cut in bins]
    between = [f"{low} to under {high}" for low, high in pairwise(cuts)]
    return [f"under {cuts[0]}", *between, f"{cuts[-1]} and over"]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _reads_as_several(part: str) -> bool:
    first, *others = part.split(JOINT)
    return bool(others) and ("=" not in first or any("=" in other for other in others))
