"""A run as compact text inside the page: one packed block a case, and one for all items.

A block is JSON, deflated and written in base64: no text of the data can close its element or
become markup, and a block is unpacked only when its case is looked at. Inside, a selection's
items and counts are digits in base 64 of fixed width, for which JSON lists would be thrice as long.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray

from ..analysis.cases import CASE, SELECTION, function_classes, method_order
from ..analysis.curves import vertical_floors
from ..analysis.frames import grouped, records
from ..analysis.load import Chosen, Run
from ..analysis.wording import is_missing
from ..stages.first_shown import FIRST

DIGITS = np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_", dtype=np.uint8)
# Shares that are no multiples of 1/k are kept to this fraction of 1: three digits, 0.0004 points.
FINEST_SHARE = 64**3 - 1
# Columns of shares by the true labels, and the parts of 1 in which they are shown.
CORRECTED = ("share_corrected", "share_corrected_low", "share_corrected_high")
CORRECTED_UNIT = 1_000
# Above this deviation from a whole number, k * share is no count of items.
COUNT_TOLERANCE = 1e-6
MEASURED = ["mpr", "mpr_low", "mpr_high", "p_chance", "chi", "mpr_fraction"]
SOLVED = ["similarity", "similarity_fraction", "gap", "rho_min", "precision"]
# A selection within its case: method, parameter value, target class, nulls as None.
Key = tuple[str, float | None, str | None]
# What a block keeps of a row; the rest stays in curves.csv.
USED = [
    *SELECTION[4:], "function_class", "parameter", "status", "message", "note", "mpr_chance", "mpr_top_k",
    *MEASURED, *SOLVED,
]  # fmt: skip


def pack(value: Any) -> str:
    """JSON, deflated, in base64."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), level=6)).decode("ascii")


def digits(values: ArrayLike, width: int) -> str:
    """Whole numbers below 64**width in base 64, each `width` digits, most significant first."""
    values = np.asarray(values, dtype=np.int64)
    places = 64 ** np.arange(width - 1, -1, -1)
    return DIGITS[(values[:, None] // places) % 64].tobytes().decode("ascii")


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


def case_blocks(run: Run, curves: pd.DataFrame, defaults: pd.DataFrame, group_names: list[str]) -> list[dict[str, Any]]:
    """One block per case, in the order of the cases' names.

    curves is this run's table of curves; defaults the repaired rows; group_names what the
    blocks' group numbers refer to.
    """
    classes = function_classes(run.results)
    chosen_default = {tuple(row[key] for key in CASE): _key(row) for row in records(defaults[[*CASE, *SELECTION[4:]]])}
    pools = run.results.drop_duplicates(CASE).set_index(CASE)
    shares = dict(grouped(_as_objects(run.groups), CASE))
    curves = _as_objects(curves[[*CASE, *USED]])
    group_number = {name: number for number, name in enumerate(group_names)}
    floors = vertical_floors(curves)
    blocks = []
    for case, rows in grouped(curves, CASE, sort=True):
        about = pools.loc[case]
        block = dict(zip(CASE, [*case[:3], int(case[3])]))
        facts = {"prompt": "prompt", "pool": "n_pool", "size": "reference_size"}
        block |= {name: _plain(about[column]) for name, column in facts.items()}
        block |= _series(rows, classes, run.chosen, chosen_default.get(case))
        block |= _group_digits(shares.get(case), block["keys"], int(case[3]), group_number)
        block["levels"], block["bands"] = _chance_levels(rows, classes)
        block["chance_gap"] = _chance_gap(shares.get(case))
        block["floors"] = [_rounded(floors.get((*case, name), 0.0)) for name in classes]
        del block["keys"]
        blocks.append(block)
    return blocks


def _chance_levels(rows: pd.DataFrame, classes: list[str]) -> tuple[list[float | None], list[float | None]]:
    """What 95% of lotteries stay within under each class: MPR, and its fraction of top-k's."""
    known = rows.dropna(subset=["mpr_chance"]).drop_duplicates("function_class").set_index("function_class")
    levels = [_plain(known["mpr_chance"].get(name)) for name in classes]
    tops = [_plain(known["mpr_top_k"].get(name)) for name in classes]
    bands = [_rounded(level / top) if level is not None and top else None for level, top in zip(levels, tops)]
    return [_rounded(level) for level in levels], bands


def _chance_gap(shares: pd.DataFrame | None) -> float | None:
    """The share within which the largest gap of 95% of lotteries stays."""
    if shares is None or "largest_gap_chance" not in shares:
        return None
    known = shares["largest_gap_chance"].dropna()
    return _rounded(known.iloc[0]) if len(known) else None


def _series(rows: pd.DataFrame, classes: list[str], chosen: Chosen, default: Key | None) -> dict[str, Any]:
    """Points of every method, and which of them is shown first; keys lists the selections in order."""
    by_key: dict[Key, dict[str, int]] = {}
    series: dict[tuple[str, str | None], list[Key]] = {}
    table = records(rows[USED])
    for place, row in enumerate(table):
        key = _key(row)
        if key not in by_key:
            series.setdefault((key[0], key[2]), []).append(key)
        by_key.setdefault(key, {})[row["function_class"]] = place
    series = dict(sorted(series.items(), key=lambda one: (method_order(one[0][0]), one[0][1] or "")))
    keys = [key for members in series.values() for key in members]
    number = {key: position for position, key in enumerate(keys)}
    first = {key: next(iter(by_key[key].values())) for key in keys}
    lists = [chosen.row(int(rows.index[first[key]])) for key in keys]
    local, coded = np.unique(np.concatenate([*lists, np.zeros(0, dtype=np.int64)]), return_inverse=True)
    width = _width(max(local.size - 1, 0))
    packed, start = [], 0
    for items in lists:
        packed.append(digits(coded[start : start + items.size], width))
        start += items.size
    points = []
    for key, shown in zip(keys, packed):
        row = table[first[key]]
        measured = [table[by_key[key][name]] if name in by_key[key] else {} for name in classes]
        point = {"v": _rounded(key[1]), "s": row["status"], "i": shown, "n": _plain(row["message"]) or ""}
        point |= {name: _rounded(row[name]) for name in SOLVED}
        point |= {name: [_rounded(one.get(name)) for one in measured] for name in MEASURED}
        point["why"] = [one.get("note", "no value") for one in measured]
        points.append({name: value for name, value in point.items() if not _is_empty(value)})
    return {
        "keys": keys,
        "items": local.tolist(),
        "width": width,
        "series": [
            {"method": name[0], "target": name[1], "parameter": _plain(table[first[members[0]]]["parameter"]),
             "points": [number[key] for key in members]}
            for name, members in series.items()
        ],
        "points": points,
        "default": number.get(default) if default is not None else None,
    }  # fmt: skip


def _group_digits(rows: pd.DataFrame | None, keys: list[Key], k: int, group_number: dict[str, int]) -> dict[str, Any]:
    """Shares of the named groups: the reference's once, each selection's as digits, "" where unknown."""
    if rows is None:
        empty = {"shares": [""] * len(keys), "first": {}}
        return {"groups": [], "reference_shares": [], "unit": 1, "group_width": 1} | empty
    known = rows.drop_duplicates("group")
    column = {name: place for place, name in enumerate(known["group"])}
    number = {key: position for position, key in enumerate(keys)}
    selections = rows.groupby(SELECTION[4:], dropna=False, sort=False).ngroup().to_numpy()
    first = np.unique(selections, return_index=True)[1]
    heads = records(rows.iloc[first][SELECTION[4:]])
    places = np.array([number.get(_key(head), -1) for head in heads])[selections]
    columns = rows["group"].map(column).to_numpy()
    is_here, shape = places >= 0, (len(keys), len(column))

    def of_all(name: str) -> FloatArray:
        values = np.full(shape, np.nan)
        if name in rows:
            values[places[is_here], columns[is_here]] = rows[name].to_numpy(dtype=float)[is_here]
        return values

    values = of_all("share_selected")
    counts = values[~np.isnan(values).any(axis=1)] * k
    unit = k if np.all(np.abs(counts - np.rint(counts)) < COUNT_TOLERANCE) else FINEST_SHARE
    return {
        "groups": [group_number[name] for name in column],
        "attributes": known["attributes"].astype(int).tolist(),
        "reference_shares": [_rounded(share) for share in known["share_reference"]],
        "unit": unit,
        "group_width": _width(unit),
        "shares": _share_digits(values, unit),
        "first": {str(first): _share_digits(of_all(f"share_first_{first}"), min(first, k)) for first in FIRST},
        **_corrected_digits(known, of_all),
    }


def _corrected_digits(known: pd.DataFrame, of_all: Callable[[str], FloatArray]) -> dict[str, Any]:
    """Shares by the true labels with the ends of their intervals, as thousandths; nothing where labels are right."""
    shares, low, high = (of_all(name) for name in CORRECTED)
    if np.isnan(shares).all():
        return {}
    return {
        "corrected": [_share_digits(values, CORRECTED_UNIT) for values in (shares, low, high)],
        "corrected_width": _width(CORRECTED_UNIT),
        "corrected_unit": CORRECTED_UNIT,
        "corrected_reference": [_rounded(share) for share in known["share_reference_corrected"]],
    }


def _share_digits(values: FloatArray, unit: int) -> list[str]:
    """Shares (selections, groups) as whole multiples of 1 / unit; "" for a selection that lacks one."""
    width = _width(unit)
    return ["" if np.isnan(row).any() else digits(np.rint(row * unit), width) for row in values]


def _as_objects(rows: pd.DataFrame) -> pd.DataFrame:
    """Texts as plain Python strings: a loop over Arrow's makes each one anew."""
    texts = rows.columns[[pd.api.types.is_string_dtype(kind) for kind in rows.dtypes]]
    return rows.astype(dict.fromkeys(texts, object))


def _key(row: dict[str, Any]) -> Key:
    method, value, target = (_plain(row[name]) for name in SELECTION[4:])
    return method, value, target


def _plain(value: Any) -> Any:
    """A Python scalar, None for every null."""
    if is_missing(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _rounded(value: Any) -> float | None:
    """Six significant digits: more than the page shows."""
    return None if is_missing(value) else float(f"{float(value):.6g}")


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, list) and not any(one not in (None, "") for one in value))


def _width(largest: int) -> int:
    width = 1
    while 64**width <= largest:
        width += 1
    return width
