"""Units that count the people of a data set by cells, and those that hold what selections are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..config.audit import Audit
from ..stages.cells import Cells
from ..stages.likely import Likely
from ..stages.reference import PEOPLE, ReferenceCells, seen

# People that one unit counts: a second's work.
PEOPLE_OF_A_UNIT = 1_000_000

Levels = Mapping[str, tuple[str, ...]]
Shares = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, kw_only=True, slots=True)
class People:
    """Whom a reference is about: the key of a catalogue unit, its items, and keys of labels units by attribute."""

    name: str
    catalogue: str
    size: int
    predicted: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceUnits:
    """The units of all references, by key; they grow as data sets are compared with references."""

    settings: Audit
    cells: dict[str, Cells] = field(default_factory=dict)
    likely: dict[str, Likely] = field(default_factory=dict)
    references: dict[str, ReferenceCells] = field(default_factory=dict)

    def counted(self, title: str, people: People, levels: Levels, missing: str) -> dict[str, str]:
        """Keys of the units of a reference of people, by what the classes look at."""
        cells = list(_cells_units(people))
        self.cells.update({unit.key: unit for unit in cells})
        seed = self.settings.seed
        return self._add_units(title, levels, missing, kind=PEOPLE, cells=tuple(one.key for one in cells), seed=seed)

    def likely_of(self, people: People, probabilities: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Keys of the units that count what columns of probabilities say of people."""
        units = [
            Likely(title=title, catalogue=people.catalogue, start=start, stop=stop, attributes=probabilities)
            for title, start, stop in _ranges(f"labels of {people.name}", people.size)
        ]
        self.likely.update({unit.key: unit for unit in units})
        return tuple(unit.key for unit in units)

    def stated(
        self, title: str, kind: str, levels: Levels, missing: str, shares: Shares | None, size: float | None
    ) -> dict[str, str]:
        """Keys of the units of stated or equal shares, by what the classes look at."""
        return self._add_units(title, levels, missing, kind=kind, shares=shares, size=size)

    def _add_units(self, title: str, levels: Levels, missing: str, **content: Any) -> dict[str, str]:
        found = {}
        for attributes in self._attribute_sets(levels):
            unit = ReferenceCells(
                title=title if len(attributes) == len(levels) else f"{title}: {' and '.join(attributes)}",
                levels=levels,
                attributes=tuple(attributes),
                missing=missing,
                **content,
            )
            self.references[unit.key] = unit
            found[seen(attributes)] = unit.key
        return found

    def _attribute_sets(self, levels: Levels) -> list[Sequence[str]]:
        """All attributes, and those that a class over some of them looks at."""
        some = [entry.over for entry in self.settings.function_classes if not isinstance(entry.over, str)]
        return [list(levels), *some]


def _cells_units(people: People) -> Iterator[Cells]:
    for title, start, stop in _ranges(f"people of {people.name}", people.size):
        yield Cells(title=title, catalogue=people.catalogue, start=start, stop=stop, predicted=people.predicted)


def _ranges(title: str, size: int) -> Iterator[tuple[str, int, int]]:
    """Title, first row and the row after the last of the units that count so many people."""
    for start in range(0, size, PEOPLE_OF_A_UNIT):
        stop = min(start + PEOPLE_OF_A_UNIT, size)
        yield title + (f", rows {start} to {stop - 1}" if size > PEOPLE_OF_A_UNIT else ""), start, stop
