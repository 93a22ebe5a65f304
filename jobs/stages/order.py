"""All columns of a data set's vectors, those first that tell most about attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from mprlib.baselines.mutual_information import order_of

from ..store import Store
from .information import read_information
from .unit import Tables, Unit, reads

TABLE = "order"


@dataclass(frozen=True, kw_only=True, slots=True)
class Order(Unit):
    """All columns by falling information, from the units of all parts.

    Columns that tell nothing are tied, and how a sort leaves ties depends on the processor: the order is made
    once and stored, so that every query is answered by the same one.
    """

    stage: ClassVar[str] = "order"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.1
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = ("mprlib.arrays", "mprlib.baselines.mutual_information")

    information: tuple[str, ...] = reads()

    def run(self, store: Store) -> Tables:
        parts = [read_information(store, key) for key in self.information]
        found = order_of(pa.concat_tables(parts)["information"].to_numpy())
        return {TABLE: pa.table({"column": pa.array(found, pa.int64())})}


def read_order(store: Store, key: str) -> np.ndarray:
    """The columns (d,) that an order unit has sorted."""
    columns: np.ndarray = store.read_table(Order.file(key, TABLE))["column"].to_numpy()
    return columns
