"""Candidates and people in the forms in which frame libraries hold them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

ATTRIBUTES = ["gender", "race", "age"]
BINS = {"age": [30, 50]}


def people(rows: int, seed: int, *, tilt: float = 0.0) -> dict[str, list[Any]]:
    """Columns of Python's own values, some of them missing."""
    random = np.random.default_rng(seed)
    gender = random.choice(["Female", "Male"], rows, p=[0.5 - tilt, 0.5 + tilt]).tolist()
    race = random.choice(["Black", "White", "Asian"], rows, p=[0.2, 0.7, 0.1]).tolist()
    age = random.integers(17, 90, rows).tolist()
    for column, place in ((gender, 3), (race, 5), (age, 7)):
        column[place] = None
    return {
        "gender": gender,
        "race": race,
        "age": age,
        "score": random.random(rows).tolist(),
        "weight": random.uniform(0.5, 2.0, rows).tolist(),
        "person": [f"p{number}" for number in random.permutation(rows)],
    }


def shuffled_pandas(columns: dict[str, list[Any]]) -> pd.DataFrame:
    return pd.DataFrame(columns)[list(reversed(columns))]


def categories(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Categories in another order, with some that nobody has, ordered ones among them."""
    frame = pd.DataFrame(columns)
    frame["gender"] = pd.Categorical(columns["gender"], ["Other", "Male", "Female"])
    frame["race"] = pd.Categorical(columns["race"], ["White", "Unused", "Asian", "Black"], ordered=True)
    return frame


def nullable(columns: dict[str, list[Any]]) -> pd.DataFrame:
    types = {"gender": "string", "race": "string", "age": "Int64", "score": "Float64", "weight": "Float64"}
    return pd.DataFrame(columns).astype(types)


def polars_categories(columns: dict[str, list[Any]]) -> pl.DataFrame:
    return pl.DataFrame(columns).with_columns(
        pl.col("gender").cast(pl.Categorical), pl.col("race").cast(pl.Enum(["White", "Unused", "Black", "Asian"]))
    )


def arrow_dictionaries(columns: dict[str, list[Any]]) -> pa.Table:
    table = pa.table(columns)
    return table.set_column(1, "race", table["race"].dictionary_encode())


FORMS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas, shuffled": shuffled_pandas,
    "pandas, categories": categories,
    "pandas, nullable": nullable,
    "polars": pl.DataFrame,
    "polars, categories": polars_categories,
    "pyarrow": pa.table,
    "pyarrow, dictionaries": arrow_dictionaries,
    "mapping": dict,
}
