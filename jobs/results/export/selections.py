"""Every selection of a run once; the results repeat it for each function class that measured it."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from ...analysis.cases import SELECTION
from ...store import Store

COLUMNS = [*SELECTION, "run_id", "parameter", "status", "item_ids"]


def read_selections(store: Store) -> pa.Table:
    """Columns COLUMNS, in the run's order."""
    rows = pa.concat_tables(store.read_table(name, columns=COLUMNS) for name in store.list("results"))
    keys = rows.select(SELECTION).to_pandas()
    return rows.filter(pa.array(~keys.duplicated().to_numpy()))


def read_items(store: Store) -> pa.Table:
    """The items table, each item of a data set once."""
    rows = pa.concat_tables(store.read_table(name) for name in store.list("items"))
    keys: pd.DataFrame = rows.select(["dataset", "item_id"]).to_pandas()
    return rows.filter(pa.array(~keys.duplicated().to_numpy()))
