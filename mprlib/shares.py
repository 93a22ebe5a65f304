"""Stated shares: the groups that they name, and the combinations of levels that they leave possible.

A statement is about one attribute or several, and gives shares to its levels or combinations. In text
the parts are joined by " & ". A part may hold "&" itself: a key is read in every way that gives known
names, and refused where there are several. A part in double quotes is what the quotes hold, and a
tuple says its parts outright, so that everything can be stated:

    {"sex": {"f": 0.5, "m": 0.5}}
    {"sex & sector": {"f & hotels & food": 0.4, "f & arts": 0.6}}
    {'"sex" & sector': {'f & "hotels & food"': 0.4, 'f & "arts"': 0.6}}
    {("sex", "sector"): {("f", "hotels & food"): 0.4, ("f", "arts"): 0.6}}
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.errors import InputError
from mprlib.frames.levels import level_of

# Combinations of levels of a stated population: each is a row of the reference, and a cell of every problem.
LARGEST_COMBINATIONS = 100_000
# Names that one message lists.
LARGEST_LIST = 10


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Statement:
    """Shares of the combinations of some attributes.

    Shapes:  names (attributes,); groups, each one level of every attribute; shares (groups,).
    """

    names: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    shares: FloatArray


def statement(levels: Mapping[str, Sequence[str]], attributes: Any, stated: Any) -> Statement:
    """One entry of shares, over the known levels of each attribute; groups that it does not name are left out.

    Raises:  InputError for attributes or levels that are unknown, repeated or can be read in several
             ways, and for shares that are no numbers.
    """
    names = _attributes(attributes, levels)
    if len(set(names)) != len(names):
        raise InputError(f"shares[{attributes!r}] repeats an attribute")
    if not isinstance(stated, Mapping) or not stated:
        raise InputError(f"shares[{attributes!r}] is {stated!r}: a mapping of levels to shares is expected")
    known = [levels[name] for name in names]
    shares: dict[tuple[str, ...], float] = {}
    for key, share in stated.items():
        group = _group(attributes, key, known)
        if group in shares:
            raise InputError(f"shares[{attributes!r}] names {key!r} twice")
        if isinstance(share, (bool, np.bool_)) or not isinstance(share, Real):
            raise InputError(f"shares[{attributes!r}][{key!r}] is {share!r}: a number from 0 to 1 is expected")
        shares[group] = float(share)
    return Statement(names=names, groups=tuple(shares), shares=np.array(list(shares.values())))


def possible_combinations(levels: Mapping[str, Sequence[str]], statements: Sequence[Statement] = ()) -> IntArray:
    """Rows (combinations, attributes) of positions in levels, those that no statement gives the share 0.

    They come in the order of their positions. What no statement names is combined freely.
    Raises:  InputError for more than 100,000 of them.
    """
    order = {name: place for place, name in enumerate(levels)}
    position = {name: {level: place for place, level in enumerate(own)} for name, own in levels.items()}
    rows: IntArray = np.zeros((1, 0), dtype=np.intp)
    joined: list[str] = []
    # The widest first: they rule out most.
    for one in sorted(statements, key=lambda each: -len(each.names)):
        groups = [group for group, share in zip(one.groups, one.shares) if share != 0]
        codes = np.array([[position[name][level] for name, level in zip(one.names, group)] for group in groups])
        rows, joined = _joined(rows, joined, codes.reshape(len(groups), len(one.names)), one.names)
    for name in levels:
        if name not in joined:
            rows, joined = _joined(rows, joined, np.arange(len(levels[name]))[:, None], (name,))
    rows = rows[:, np.argsort([order[name] for name in joined])]
    return rows[np.lexsort(rows.T[::-1])]


def _joined(
    rows: IntArray, names: list[str], others: IntArray, other_names: Sequence[str]
) -> tuple[IntArray, list[str]]:
    """All pairs of rows that agree on the attributes of both."""
    shared = [name for name in other_names if name in names]
    added = [place for place, name in enumerate(other_names) if name not in names]
    matching: dict[tuple[int, ...], list[int]] = {}
    shared_places = [other_names.index(name) for name in shared]
    for place, key in enumerate(map(tuple, others[:, shared_places].tolist())):
        matching.setdefault(key, []).append(place)
    partners = [matching.get(key, []) for key in map(tuple, rows[:, [names.index(name) for name in shared]].tolist())]
    if (total := sum(map(len, partners))) > LARGEST_COMBINATIONS:
        raise InputError(
            f"shares leave {total:,} combinations of levels open, or more, and at most {LARGEST_COMBINATIONS:,} can be "
            "rows of a reference: state joint shares of those that occur, take fewer attributes or coarser levels, or "
            "take a sample of people as the reference"
        )
    left = np.repeat(np.arange(len(rows)), [len(each) for each in partners])
    right = np.array([place for each in partners for place in each], dtype=np.intp)
    return np.concatenate([rows[left], others[right][:, added]], axis=1), [
        *names,
        *(other_names[place] for place in added),
    ]


def _attributes(key: Any, levels: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    if isinstance(key, tuple):
        names = tuple(map(str, key))
        if not names or not set(names) <= set(levels):
            raise InputError(f"shares names the attributes {key!r}: known are {_listed(levels)}")
        return names
    text = str(key)
    most = text.count("&") + 1
    found = [names for count in range(1, most + 1) for names in _readings(text, [levels] * count)]
    if len(found) > 1:
        raise InputError(f"shares names the attributes {text!r}, {_ambiguous(found)}")
    if not found:
        hint = ', which is none, nor several joined by " & "' if most > 1 else ""
        raise InputError(f"shares names the attribute {text!r}{hint}: known are {_listed(levels)}")
    return found[0]


def _group(attributes: Any, key: Any, known: Sequence[Sequence[str]]) -> tuple[str, ...]:
    if isinstance(key, tuple):
        group = tuple(map(level_of, key))
        found = [group] if len(group) == len(known) and all(map(_contains, known, group)) else []
    else:
        found = list(_readings(level_of(key), known))
    if len(found) > 1:
        raise InputError(f"shares[{attributes!r}] names {key!r}, {_ambiguous(found)}")
    if not found:
        expected = _listed([" & ".join(group) for group in _first_few(known)])
        raise InputError(f"shares[{attributes!r}] names {key!r}: known are {expected}")
    return found[0]


def _readings(text: str, known: Sequence[Collection[str]]) -> list[tuple[str, ...]]:
    """The ways to take text apart at "&" into one known name for each entry of known."""
    if len(known) == 1 and text in known[0]:
        return [(text,)]
    segments = text.split("&")

    def ways(start: int, place: int) -> Iterator[tuple[str, ...]]:
        if place == len(known):
            yield from [()] if start == len(segments) else []
            return
        for end in range(start + 1, len(segments) - (len(known) - place) + 2):
            for name in _possible_names("&".join(segments[start:end])):
                if name in known[place]:
                    yield from ((name, *rest) for rest in ways(end, place + 1))

    return list(dict.fromkeys(ways(0, 0)))


def _possible_names(part: str) -> Iterator[str]:
    """What a part may mean: itself, or what its double quotes hold."""
    part = part.strip()
    yield part
    if len(part) > 1 and part[0] == part[-1] == '"':
        try:
            yield str(json.loads(part))
        except ValueError:
            return


def _ambiguous(found: Sequence[tuple[str, ...]]) -> str:
    ways = " or as ".join(f"({', '.join(map(repr, names))})" for names in found[:2])
    return f"which can be read as {ways}: put its parts into double quotes, or give a tuple"


def _first_few(known: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    return [group for group, _ in zip(product(*known), range(LARGEST_LIST + 1))]


def _contains(levels: Sequence[str], level: str) -> bool:
    return level in levels


def _listed(names: Collection[str]) -> str:
    shown = list(names)[:LARGEST_LIST]
    return ", ".join([*shown, "..."] if len(names) > LARGEST_LIST else shown)
