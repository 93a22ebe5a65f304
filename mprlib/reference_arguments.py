"""What a reference may be made of, checked: names of attributes, lists of names, and parts that are merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mprlib.errors import InputError, shown
from mprlib.frames import matching

if TYPE_CHECKING:
    from mprlib.reference import Reference


def lists_by_name(argument: str, given: Any, name_of: Callable[[Any], str] = str) -> dict[str, tuple[str, ...]]:
    if not isinstance(given, Mapping):
        raise InputError(f"{argument} is {shown(given)}: a mapping of attributes to lists of names is expected")
    return {str(name): matching.names_of(f"{argument}[{name!r}]", own, name_of) for name, own in given.items()}


def checked_attributes(attributes: Any) -> tuple[str, ...]:
    """Names of columns.

    Raises:  InputError for a single name, a mapping of names to columns, no names, and a name that is there twice.
    """
    example = 'a list of names of columns is expected, as in ["sex", "age"]'
    if isinstance(attributes, (str, Mapping)) or not isinstance(attributes, Iterable):
        raise InputError(f"attributes is {shown(attributes)}: {example}")
    names = matching.names_of("attributes", attributes)
    if not names:
        raise InputError(f"attributes is empty: {example}")
    if len(set(names)) < len(names):
        raise InputError(f"attributes names a column twice: {' '.join(', '.join(names).split())}")
    return names


def checked_parts(parts: Any, kind: type[Reference]) -> list[Reference]:
    """Samples with the same columns.

    Raises:  InputError for no parts, for parts with other columns, and for statements, which have no rows.
    """
    try:
        found: list[Reference] = list(parts)
    except TypeError:
        raise InputError(f"parts is {shown(parts)}: a list of references is expected") from None
    for part in found:
        if not isinstance(part, kind):
            raise InputError(f"parts holds {shown(part)}: a list of references is expected")
    if not found:
        raise InputError("parts is empty: at least one is expected")
    for part in found[1:]:
        if part.label_names != found[0].label_names or part.labels.shape[1] != found[0].labels.shape[1]:
            raise InputError("parts have different columns: each must hold the same labels in the same order")
    named = {part.encoding.missing for part in found if part.encoding is not None}
    if len(named) > 1:
        names = " and ".join(repr(name) for name in sorted(named))
        raise InputError(f"parts call people without a value differently ({names}): fill missing values in first")
    if any(part.size is not None for part in found):
        raise InputError("parts hold a stated population: only samples can be merged")
    return found
