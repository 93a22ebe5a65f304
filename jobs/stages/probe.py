"""A probe trained on a labelled data set's vectors, and what it gets wrong."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from mprlib.calibration import Calibration
from mprlib.probes import Probe as TrainedProbe
from mprlib.probes import train_probe

from ..datasets.catalogue import ATTRIBUTE
from ..store import Store
from .catalogue import read_items
from .embed import open_shard
from .numeric_code import NAMING_CODE
from .unit import Tables, Unit, reads
from .vectors import to_matrix

TABLE = "probe"
# Prefix of the columns of a calibration.
CALIBRATION = "calibration_"

# More labelled items train no better logistic regression of this many numbers, they only cost; taken evenly.
MOST_ROWS = 50_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe(Unit):
    """A probe of one attribute of a catalogue whose vectors these shards hold; missing is no level.

    Writes one row a level: its linear function, its share of the labelled items, its rows of the held-out confusion
    and of the mean square of what its probabilities may be off by; and, alike in all rows, the strength that was taken,
    the temperature, and how calibrated probabilities did on held-out items. Items without a level, or without a vector,
    teach nothing; a unit fails for a level with too few items.
    """

    stage: ClassVar[str] = "probe"
    version: ClassVar[int] = 4
    seconds: ClassVar[float] = 10.0
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = (
        *NAMING_CODE,
        "mprlib.calibration",
        "mprlib.probes",
        "jobs.stages.vectors",
    )

    catalogue: str = reads()
    vectors: tuple[str, ...] = reads()
    attribute: str
    missing: str
    held_out_share: float
    seed: int

    def run(self, store: Store) -> Tables:
        items = read_items(store, self.catalogue, ["item_id", ATTRIBUTE + self.attribute])
        names = (items[column].to_pylist() for column in ("item_id", ATTRIBUTE + self.attribute))
        level_of = {item: level for item, level in zip(*names) if level != self.missing}
        vectors, levels = [], []
        for key in self.vectors:
            shard = open_shard(store, key)
            found = [level_of.get(item) for item in shard.ids.to_pylist()]
            rows = [row for row, level in enumerate(found) if level is not None]
            vectors.append(shard.vectors[rows].astype(np.float32))
            levels += [found[row] for row in rows]
        taken = np.unique(np.linspace(0, len(levels) - 1, min(len(levels), MOST_ROWS)).astype(np.intp))
        trained = train_probe(
            np.concatenate(vectors)[taken],
            np.array(levels)[taken],
            held_out_share=self.held_out_share,
            seed=self.seed,
        )
        return {TABLE: _table(trained)}


def _table(trained: TrainedProbe) -> pa.Table:
    width = trained.coefficients.shape[1]
    return pa.table(
        {
            "level": pa.array(trained.levels, pa.string()),
            "intercept": pa.array(trained.intercepts, pa.float64()),
            "coefficients": pa.FixedSizeListArray.from_arrays(
                pa.array(trained.coefficients.reshape(-1), pa.float64()), width
            ),
            "confusion": pa.array(trained.confusion.tolist(), pa.list_(pa.int64())),
            "bias": pa.array(trained.bias.tolist(), pa.list_(pa.float64())),
            "share": pa.array(trained.shares, pa.float64()),
            **{name: pa.array([value] * len(trained.levels)) for name, value in _of_all(trained).items()},
        }
    )


def _of_all(trained: TrainedProbe) -> dict[str, int | float]:
    """What is the same for all levels, by column."""
    calibration = {CALIBRATION + one.name: getattr(trained.calibration, one.name) for one in fields(Calibration)}
    return {"strength": trained.strength, "temperature": trained.temperature, **calibration}


def read_probe(store: Store, key: str) -> TrainedProbe:
    """The probe that a unit trained."""
    table = store.read_table(Probe.file(key, TABLE))
    return TrainedProbe(
        levels=tuple(table["level"].to_pylist()),
        coefficients=to_matrix(table["coefficients"]),
        intercepts=table["intercept"].to_numpy(),
        strength=table["strength"][0].as_py(),
        confusion=np.array(table["confusion"].to_pylist()),
        accuracy_by_group={},
        bias=np.array(table["bias"].to_pylist()),
        shares=table["share"].to_numpy(),
        temperature=table["temperature"][0].as_py(),
        calibration=Calibration(**{one.name: table[CALIBRATION + one.name][0].as_py() for one in fields(Calibration)}),
    )


def judgement(unit: Probe, store: Store) -> dict[str, Any]:
    """What a manifest says of a probe: the attribute it learnt, its settings and its errors, as plain values."""
    return {"attribute": unit.attribute} | read_probe(store, unit.key).manifest()
