"""What a comparison says of the data sets: items that entered and left, and what they have to do with moved groups.

Ids are read from the catalogues, scores and labels from the pools of both folders. Folders without them, or written by
another version, are compared without this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import ValidationError

from ..analysis.cases import AS_SHOWN, QUESTION, is_audited
from ..analysis.comparison.causes import CAUSES, Pooled, parts_of_moves
from ..analysis.comparison.compare import Comparison
from ..analysis.load import Run
from ..datasets.content import id_hashes
from ..datasets.part import ATTRIBUTE
from ..plan.plan_file import read_plan
from ..stages.catalogue import read_parts
from ..stages.labels import with_predicted
from ..stages.pool import read_pool
from ..stages.solve import Solve
from ..store import Store
from ..store.chunks import in_one

NOT_KNOWN = "items that entered or left are not known: {} does not hold the pools of this version"


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Week:
    """One run's solve units of what is audited, by (dataset, query, k), and hashes of its items' ids by data set."""

    store: Store
    units: Mapping[tuple[str, str, int], Solve]
    ids: Mapping[str, np.ndarray]

    def pooled(self, question: tuple[str, str, int], other: Week) -> Pooled:
        """The pool of a question."""
        unit = self.units[question]
        pool = with_predicted(read_pool(self.store, unit.pool), unit.predicted, self.store)
        ids = in_one(pool["item_id"])
        names = [name for name in pool.column_names if name.startswith(ATTRIBUTE)]
        levels = zip(*(pool[name].cast(pa.string()).to_pylist() for name in names))
        attributes = [name.removeprefix(ATTRIBUTE) for name in names]
        return Pooled(
            ids=ids.to_pylist(),
            scores=_ordering(pool, unit.method.name),
            labels=[tuple(zip(attributes, row)) for row in levels],
            is_common=np.isin(id_hashes(ids), other.ids[unit.dataset]),
        )


def with_causes(found: Comparison, old: tuple[Run, str], new: tuple[Run, str]) -> Comparison:
    """The comparison with what entered and left each data set, and each moved group's causes."""
    try:
        weeks = [_week(run, Store(folder)) for run, folder in (old, new)]
        changes = [_change(dataset, *weeks) for dataset in weeks[0].ids.keys() & weeks[1].ids.keys()]
        causes = dict(_causes(found.groups, *weeks))
    except (OSError, KeyError, ValueError, ValidationError, pa.ArrowException):
        return replace(found, remarks=[*found.remarks, NOT_KNOWN.format("one of the folders")])
    rows = [
        None if dataset in found.labels.changed.datasets else causes.get((dataset, query, k, group))
        for dataset, query, k, group in found.groups[[*QUESTION, "group"]].itertuples(index=False)
    ]
    columns: dict[str, Any] = {
        f"due_to_{cause}": [None if row is None else row[cause] for row in rows] for cause in CAUSES
    }
    changes.sort(key=lambda change: change["dataset"])
    return replace(found, groups=found.groups.assign(**columns), changes=changes)


def _week(run: Run, store: Store) -> Week:
    audited = run.results.loc[is_audited(run.results), ["unit", *QUESTION]]
    keys = {key: (dataset, query, int(k)) for key, dataset, query, k in audited.itertuples(index=False)}
    units = {keys[one.key]: Solve.from_spec(one.title, one.spec) for one in read_plan(store) or () if one.key in keys}
    catalogues = {unit.dataset: unit.catalogue for unit in units.values()}
    return Week(
        store=store,
        units=units,
        ids={name: np.concatenate(list(_id_hashes(store, key))) for name, key in catalogues.items()},
    )


def _ordering(pool: pa.Table, method: str) -> np.ndarray:
    """Numbers (n,) that fall in the order in which a method takes a pool's items."""
    if method != AS_SHOWN or "place" not in pool.column_names:
        scores: np.ndarray = pool["score"].to_numpy()
        return scores
    # Items of one place are in the pool's order.
    return -np.argsort(np.argsort(pool["place"].to_numpy(), kind="stable")).astype(float)


def _id_hashes(store: Store, catalogue: str) -> Iterator[np.ndarray]:
    return (id_hashes(in_one(part["item_id"])) for part in read_parts(store, catalogue, ["item_id"]))


def _change(dataset: str, old: Week, new: Week) -> dict[str, Any]:
    before, after = old.ids[dataset], new.ids[dataset]
    stayed = int(np.isin(after, before).sum())
    return {
        "dataset": dataset,
        "items_old": before.size,
        "items_new": after.size,
        "entered": after.size - stayed,
        "left": before.size - stayed,
    }


def _causes(groups: pd.DataFrame, old: Week, new: Week) -> Iterator[tuple[tuple[Any, ...], dict[str, float]]]:
    """The parts of each move, by question and group."""
    for key, own in groups.groupby(QUESTION, sort=False):
        question = (str(key[0]), str(key[1]), int(str(key[2])))
        if question in old.units and question in new.units:
            pools = old.pooled(question, new), new.pooled(question, old)
            parts = parts_of_moves(*pools, question[2], own["group"].drop_duplicates().to_list())
            yield from (((*question, group), causes) for group, causes in parts.items())
