"""Queries over FairFace's labels: 10,000 people as the pool, 10,000 as the reference, scores that
lean on the labels by fixed random weights."""

from functools import cache

import numpy as np
import pandas as pd

from mprlib import Problem
from tests.data_files import data_file

LABELS = data_file("fairface_labels.parquet")
OVER_49 = ("50-59", "60-69", "70+", "more than 70")


@cache
def _labels() -> pd.DataFrame:
    return pd.read_parquet(LABELS)


def fairface_query(seed: int, *, k: int = 50, size: int = 10_000, has_age_bands: bool = False) -> Problem:
    """Gender, age over 49 and race (9 columns, 28 cells), or all nine age bands (17 columns, 126 cells)."""
    people = _labels().sample(2 * size, random_state=seed)
    ages = [people["age"] == band for band in sorted(people["age"].unique())]
    columns = [people["gender"] == "Female"]
    columns += ages if has_age_bands else [people["age"].isin(OVER_49)]
    columns += [people["race"] == race for race in sorted(people["race"].unique())]
    labels = np.column_stack(columns).astype(float)
    generator = np.random.default_rng(seed)
    lean = labels[:size] @ generator.standard_normal(labels.shape[1]) / np.sqrt(labels.shape[1])
    scores = 0.2 + 0.03 * lean + 0.02 * generator.standard_normal(size)
    return Problem(scores=scores, labels=labels[:size], reference=labels[size:], k=k)
