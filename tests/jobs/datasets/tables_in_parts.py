"""Tables in files that are read in parts."""

import numpy as np
import pandas as pd

from jobs import datasets
from jobs.datasets import described


def table(rows=100, **changes):
    frame = pd.DataFrame(
        {
            "item_id": [f"i{number:03d}" for number in range(rows)],
            "sex": ["f", "m", "f", None] * (rows // 4),
            "age": np.arange(rows) % 70,
            "weight": np.linspace(0.5, 2, rows),
        }
    )
    return frame.assign(**changes)


def loaded(folder, **changes):
    block = {"path": "people", "attributes": {"sex": {}, "age": {"bins": [30, 60]}}, "weight": "weight"} | changes
    return datasets.load(described(block), folder)


def write(folder, *frames, ending="parquet", **settings):
    (folder / "people").mkdir(exist_ok=True)
    for number, frame in enumerate(frames):
        path = folder / "people" / f"{number}.{ending}"
        frame.to_parquet(path, **settings) if ending == "parquet" else frame.to_csv(path, index=False)
    return folder


def same_items(first, second):
    """Rows by id, whatever their order and the codes of their levels."""
    tables = [catalogue.items.to_pandas().sort_values("item_id", ignore_index=True) for catalogue in (first, second)]
    tables = [frame.astype({name: str for name in frame if name.startswith("attribute:")}) for frame in tables]
    pd.testing.assert_frame_equal(*tables)
