"""How often a probe's labels of a data set are wrong, as the items say that were labelled by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from mprlib import Confusion

from ..datasets.hand_labels import Labelled, confusion_of
from ..store import Store
from .labels import TABLE as LABELS
from .labels import Labels, predicted_levels
from .numeric_code import NAMING_CODE
from .unit import Tables, Unit, reads
from .vectors import to_matrix

TABLE = "confusion"


@dataclass(frozen=True, kw_only=True, slots=True)
class HandConfusion(Unit):
    """The confusion of what labels units predict of a data set. levels: of the probe, in order; missing: what an item
    without one is called; true, probabilities: levels by hand, and with which probability each item was drawn, by id.

    Items without a vector have no predicted level and say nothing; the unit fails where all that are labelled have
    none.
    """

    stage: ClassVar[str] = "hand_confusion"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.05
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = (
        *NAMING_CODE,
        "mprlib.confusion",
        "mprlib.hand_labels.estimate",
        "jobs.datasets.hand_labels",
        "jobs.stages.vectors",
    )

    labels: tuple[str, ...] = reads()
    levels: tuple[str, ...]
    missing: str
    true: Mapping[str, str]
    probabilities: Mapping[str, float]

    def run(self, store: Store) -> Tables:
        predicted = predicted_levels(pa.array(self.true, pa.string()), self.labels, store).to_pylist()
        rows = [(item, level) for item, level in zip(self.true, predicted) if level is not None]
        if not rows:
            raise ValueError("no item that was labelled by hand has a vector, so that nothing is predicted of it")
        found = Labelled(
            ids=tuple(item for item, _ in rows),
            true=tuple(self.true[item] for item, _ in rows),
            predicted=tuple(level for _, level in rows),
            probabilities=tuple(self.probabilities[item] for item, _ in rows),
        )
        counts: Counter[str] = Counter()
        for key in self.labels:
            counts.update(store.read_table(Labels.file(key, LABELS), columns=["level"])["level"].to_pylist())
        return {TABLE: _table(confusion_of(found, self.levels, counts, self.missing))}


def read_hand_confusion(store: Store, key: str) -> Confusion:
    """The confusion that a unit found; sizes are infinite for levels that no hand label has."""
    table = store.read_table(HandConfusion.file(key, TABLE))
    sizes = table["size"].to_numpy(zero_copy_only=False)
    return Confusion(
        shares=to_matrix(table["shares"]),
        sizes=np.where(np.isnan(sizes), np.inf, sizes),
        levels=tuple(table["level"].to_pylist()),
    )


def _table(confusion: Confusion) -> pa.Table:
    levels = list(confusion.levels or ())
    shares = pa.FixedSizeListArray.from_arrays(pa.array(confusion.shares.ravel(), pa.float64()), len(levels))
    sizes = pa.array(np.where(np.isfinite(confusion.sizes), confusion.sizes, np.nan), pa.float64())
    return pa.table({"level": pa.array(levels, pa.string()), "shares": shares, "size": sizes})
