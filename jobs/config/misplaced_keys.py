"""The block that each setting belongs to, for the message on a key that stands in another block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, get_args, get_origin

from mprlib import FUNCTION_CLASSES, METHODS

from ..settings.block import Block, alternatives
from ..words import closest
from .entries import ClassEntry, MethodEntry, settings_of, settings_of_class

# How alike a wrong name and a known one must be for a slip of the pen (1: equal).
SLIP = 0.75
# Letters at the beginning that two forms of one word share, such as query and queries.
STEM = 4
# Places that a message names, and keys of a block that it lists beside them.
SHOWN = 3
FEW = 8
TOP = "the top level"


def unknown_key(name: str, known: Sequence[str], form: type[Block]) -> str | None:
    """What is said of a key that a block with these keys lacks, where another block of the form has it, or one like it.

    None where nothing better can be said than which of its many keys, or which one like it, may have been meant.
    """
    homes = homes_of(form)
    slip = closest(name, known, SLIP) or next((one for one in known if one[:STEM] == name[:STEM]), None)
    meant = name if name in homes else None if slip else closest(name, homes, SLIP)
    if meant is None:
        return None if slip or len(known) > FEW else f"unknown key; known are {', '.join(known)}"
    here = f"did you mean {slip!r}? " if slip else "" if meant == name else f"did you mean {meant!r}? "
    there = "" if slip or len(known) > FEW else f"; known are {', '.join(known)}"
    return f"unknown key; {here}{meant} belongs to {_places_text(homes[meant])}{there}"


@cache
def homes_of(form: type[Block]) -> Mapping[str, list[str]]:
    """The blocks that have each setting, as dotted keys, the nearest to the top of the file first."""
    found: dict[str, list[str]] = {}
    for place, names in _blocks_with_settings(form):
        for name in names:
            if place not in found.setdefault(name, []):
                found[name].append(place)
    return found


def _blocks_with_settings(form: type[Block]) -> Iterator[tuple[str, Iterable[str]]]:
    """Every block that the form reaches, once, with its settings; those of methods and classes at the end.

    What every audit has comes first: an attribute is one of a data set, also where other blocks have attributes.
    """
    waiting, seen = [(form, "")], {form, MethodEntry, ClassEntry}
    for block, prefix in waiting:
        yield prefix or TOP, block.model_fields
        for name in sorted(block.model_fields, key=lambda name: name not in block.least()):
            field = block.model_fields[name]
            for inner, below in _blocks_in_type(field.annotation, field.metadata):
                if inner not in seen:
                    seen.add(inner)
                    waiting.append((inner, f"{prefix}.{name}{below}".removeprefix(".")))
    if "methods" in form.model_fields:
        yield from ((f"methods.{name}", settings_of(name)) for name in METHODS)
        yield from ((f"function_classes.{name}", settings_of_class(name)) for name in FUNCTION_CLASSES)


def _blocks_in_type(annotation: Any, metadata: Sequence[Any] = ()) -> Iterator[tuple[type[Block], str]]:
    """Blocks in a type, and what stands between the setting's key and theirs: the name in a block of names."""
    kinds = alternatives(annotation, metadata)
    if kinds is not None:
        yield from ((block, "") for block in kinds.kinds.values())
    elif isinstance(annotation, type) and issubclass(annotation, Block):
        yield annotation, ""
    elif get_origin(annotation) is dict:
        yield from ((block, f".NAME{below}") for block, below in _blocks_in_type(get_args(annotation)[1]))
    else:
        for part in get_args(annotation):
            yield from _blocks_in_type(part, getattr(annotation, "__metadata__", ()))


def _places_text(places: Sequence[str]) -> str:
    """The first places in words; the methods or classes that share a setting count as one."""
    shown = list(dict.fromkeys(_family_of_place(place, places) for place in places))
    if len(shown) > SHOWN:
        return f"{', '.join(shown[:SHOWN])} and {len(shown) - SHOWN} more"
    return " or ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def _family_of_place(place: str, places: Sequence[str]) -> str:
    head, dot, _ = place.partition(".")
    own = [one for one in places if one.startswith(f"{head}.")]
    if head not in ("methods", "function_classes") or not dot or len(own) == 1:
        return place
    return f"{own[0]} and {len(own) - 1} other {head.replace('_', ' ')}"
