"""A run as compact text inside the page: one packed block a case, and one for all items.

A block is unpacked only when its case is looked at; `packed` says how it is written.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mprlib.arrays import IntArray

from ..analysis.cases import CASE, SELECTION, function_classes, method_order
from ..analysis.curves import NO_VALUE
from ..analysis.frames import numbered, records
from ..analysis.load import Chosen, Run
from ..analysis.tables import places_by_case
from ..analysis.wording import is_missing
from .group_digits import group_digits, shares_by_case
from .packed import digits, digits_for, rounded, rounded_values

MEASURED = ["mpr", "mpr_low", "mpr_high", "p_chance", "chi", "mpr_fraction"]
SOLVED = ["similarity", "similarity_fraction", "gap", "rho_min", "precision"]
# A selection within its case: method, parameter value, target class, nulls as None.
Key = tuple[str, float | None, str | None]
# What a block says of its case, and the columns of the results that hold it.
FACTS = {"prompt": "prompt", "pool": "n_pool", "size": "reference_size"}


def items_block(ids: Sequence[str], items: pd.DataFrame) -> dict[str, Any]:
    """Text, image path and labels of every chosen item, by its position in ids. items: by (dataset, item_id).

    An id chosen in two data sets keeps one description a data set. Levels are positions in a
    list, since they repeat; so are true query terms, where the data has some.
    """
    levels: dict[str, int] = {}
    terms: dict[str, int] = {}
    datasets: dict[str, list[list[Any]]] = {}
    position = {item: number for number, item in enumerate(ids)}
    columns = (items[name] for name in ("text", "image", "labels", "relevance"))
    for (dataset, item), text, image, labels, term in zip(items.index, *columns):
        if item not in position:
            continue
        coded = [
            levels.setdefault(f"{name}: {level}", len(levels))
            for name, level in (labels or {}).items()
            if not is_missing(level)
        ]
        described = [
            position[item],
            "" if is_missing(text) else text,
            coded,
            None if is_missing(image) else image,
            None if is_missing(term) else terms.setdefault(term, len(terms)),
        ]
        while described[-1] is None:
            described.pop()
        datasets.setdefault(dataset, []).append(described)
    return {"ids": list(ids), "levels": list(levels), "terms": list(terms), "datasets": datasets}


def pictures_block(ids: Sequence[str], thumbnails: Mapping[tuple[str, str], bytes]) -> dict[str, dict[int, str]]:
    """The thumbnails, by data set and position in ids; a packed block of their own, opened last."""
    position = {item: number for number, item in enumerate(ids)}
    datasets: dict[str, dict[int, str]] = {}
    for (dataset, item), picture in thumbnails.items():
        if item in position:
            datasets.setdefault(dataset, {})[position[item]] = base64.b64encode(picture).decode("ascii")
    return datasets


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A case as the page draws it, whatever other cases the page has.

    about is what is packed; in it items are positions in `items` (ids), and groups are in the order of `groups`.
    """

    about: dict[str, Any]
    items: list[str]
    groups: list[str]

    @property
    def case(self) -> tuple[Any, ...]:
        """The case's name."""
        return tuple(self.about[key] for key in CASE)


def case_blocks(
    run: Run, curves: pd.DataFrame, defaults: pd.DataFrame, floors: Mapping[tuple[Any, ...], float]
) -> list[Block]:
    """One block per case, in the order of the cases' names.

    curves is this run's table of curves; defaults the repaired rows; floors those of the curves' panels.
    """
    classes = function_classes(run.results)
    chosen_default = {tuple(row[key] for key in CASE): _key(row) for row in records(defaults[[*CASE, *SELECTION[4:]]])}
    firsts = run.results.drop_duplicates(CASE)[[*CASE, *FACTS.values()]]
    facts = {tuple(row[key] for key in CASE): row for row in records(firsts)}
    chosen = run.chosen.among(sorted(run.chosen.ids))
    table = _Columns(curves, numbered(curves, SELECTION, run.groups))
    shares = shares_by_case(run.groups, table.selection[len(curves) :])
    blocks = []
    for case, places in sorted(places_by_case(curves)):
        about = dict(zip(CASE, [*case[:3], int(case[3])]))
        about |= {name: _plain(facts[case][column]) for name, column in FACTS.items()}
        series, keys, items = _series(table, places.tolist(), classes, chosen, chosen_default.get(case))
        shown, groups = group_digits(shares.get(case), keys, int(case[3]))
        about |= series | shown
        about["levels"], about["bands"] = _chance_levels(table, places.tolist(), classes)
        about["floors"] = [rounded(floors.get((*case, name), 0.0)) for name in classes]
        blocks.append(Block(about=about, items=[chosen.ids[item] for item in items], groups=groups))
    return blocks


class _Columns:
    """The curves' columns as plain values, numbers rounded, and each row's selection as a number of its own."""

    def __init__(self, curves: pd.DataFrame, selection: IntArray) -> None:
        self.rows, self.selection = curves.index.tolist(), selection
        texts = ("method", "parameter", "target_class", "function_class", "status", "message", "note")
        self.texts = {name: [_plain(value) for value in curves[name].tolist()] for name in texts}
        self.numbers = {name: rounded_values(curves[name].tolist()) for name in ("parameter_value", *MEASURED, *SOLVED)}
        unrounded = ("parameter_value", "mpr_chance", "mpr_top_k")
        self.values = {name: [_plain(value) for value in curves[name].tolist()] for name in unrounded}

    def key(self, place: int) -> Key:
        """The selection of a row, within its case."""
        return self.texts["method"][place], self.values["parameter_value"][place], self.texts["target_class"][place]


def _chance_levels(
    table: _Columns, places: Sequence[int], classes: list[str]
) -> tuple[list[float | None], list[float | None]]:
    """What 95% of lotteries stay within under each class: MPR, and its fraction of top-k's."""
    first: dict[str, int] = {}
    for place in places:
        if table.values["mpr_chance"][place] is not None:
            first.setdefault(table.texts["function_class"][place], place)
    levels: list[float | None] = []
    bands: list[float | None] = []
    for name in classes:
        level = table.values["mpr_chance"][first[name]] if name in first else None
        top = table.values["mpr_top_k"][first[name]] if name in first else None
        levels.append(rounded(level))
        bands.append(rounded(level / top) if level is not None and top else None)
    return levels, bands


def _series(
    table: _Columns, places: Sequence[int], classes: list[str], chosen: Chosen, default: Key | None
) -> tuple[dict[str, Any], list[int], list[int]]:
    """Points of every method, and which of them is shown first; each point's selection, and the items of all."""
    by_selection: dict[int, dict[str, int]] = {}
    series: dict[tuple[str, str | None], list[int]] = {}
    for place in places:
        selection = int(table.selection[place])
        if selection not in by_selection:
            own = (table.texts["method"][place], table.texts["target_class"][place])
            series.setdefault(own, []).append(selection)
            by_selection[selection] = {}
        by_selection[selection][table.texts["function_class"][place]] = place
    series = dict(sorted(series.items(), key=lambda one: (method_order(one[0][0]), one[0][1] or "")))
    selections = [selection for members in series.values() for selection in members]
    number = {selection: position for position, selection in enumerate(selections)}
    first = {selection: next(iter(by_selection[selection].values())) for selection in selections}
    lists = [chosen.row(table.rows[first[selection]]) for selection in selections]
    local, coded = np.unique(np.concatenate([*lists, np.zeros(0, dtype=np.int64)]), return_inverse=True)
    width = digits_for(max(local.size - 1, 0))
    packed, ends = digits(coded, width), np.cumsum([0, *(items.size for items in lists)]).tolist()
    points = [
        _point(table, first[selection], by_selection[selection], classes, packed[width * start : width * stop])
        for selection, start, stop in zip(selections, ends, ends[1:])
    ]
    shown_first = {table.key(first[selection]): number[selection] for selection in selections}
    found = {
        "width": width,
        "series": [
            {"method": name[0], "target": name[1], "parameter": table.texts["parameter"][first[members[0]]],
             "points": [number[selection] for selection in members]}
            for name, members in series.items()
        ],
        "points": points,
        "default": shown_first.get(default) if default is not None else None,
    }  # fmt: skip
    return found, selections, local.tolist()


def _point(table: _Columns, first: int, rows: Mapping[str, int], classes: list[str], items: str) -> dict[str, Any]:
    """A selection: its items, what it keeps, and what every class says of it. rows: by class; first: any of them."""
    texts, numbers = table.texts, table.numbers
    places = [rows.get(name) for name in classes]
    point: dict[str, Any] = {"v": numbers["parameter_value"][first], "s": texts["status"][first], "i": items}
    point["n"] = texts["message"][first] or ""
    point |= {name: numbers[name][first] for name in SOLVED}
    point |= {name: [None if place is None else numbers[name][place] for place in places] for name in MEASURED}
    point["why"] = [NO_VALUE if place is None else texts["note"][place] for place in places]
    return {name: value for name, value in point.items() if not _is_empty(value)}


def _key(row: dict[str, Any]) -> Key:
    method, value, target = (_plain(row[name]) for name in SELECTION[4:])
    return method, value, target


def _plain(value: Any) -> Any:
    """A Python scalar, None for every null."""
    if is_missing(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, list) and not any(one not in (None, "") for one in value))
