"""Names of levels, and of several levels together.

Levels are kept as codes and names are joined for display alone: nothing takes a name apart again.
Names of different things differ all the same. The name of an attribute that holds "=" is quoted, as is
a level that would read as two ("f & age=50+"); other names stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

JOINT = " & "


def level_name(attribute: str, level: str) -> str:
    """ "attribute=level"; the attribute is quoted where its own name holds "="."""
    is_plain = "=" not in attribute and not attribute.startswith('"')
    return f"{attribute if is_plain else _quoted(attribute)}={level}"


def joint_name(parts: Iterable[str]) -> str:
    """Names of levels joined by " & "; a part that would read as several is quoted."""
    return JOINT.join(_quoted(part) if _reads_as_several(part) else part for part in parts)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _reads_as_several(part: str) -> bool:
    first, *others = part.split(JOINT)
    return bool(others) and ("=" not in first or any("=" in other for other in others))
