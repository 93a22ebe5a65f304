"""40 retrieval problems on real labels: FairFace, UTKFace, Pantheon, census profiles; k from 5 to 500, n to 50,000."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from mprlib import Problem
from tests.data_files import data_file

FILES = {name: data_file(f"{file}.parquet") for name, file in (
    ("fairface", "fairface_labels"), ("utkface", "utkface_labels"), ("pantheon", "pantheon"), ("census", "adult"),
)}  # fmt: skip
HAS_FILES = all(file.exists() for file in FILES.values())
BANDS = {"utkface": [-1, 9, 19, 29, 39, 49, 59, 69, 200], "census": [0, 29, 44, 59, 200]}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a problem consists of: data set, attributes, sizes, kind of scores and of reference."""

    data: str
    attributes: tuple[str, ...]
    n: int
    m: int
    k: int
    scores: str
    reference: str = "sample"

    @property
    def name(self) -> str:
        """Unique among the problems."""
        sizes = f"n={self.n} k={self.k}"
        return f"{self.data} {'+'.join(self.attributes)} {sizes} {self.scores} {self.reference}"


def _asked() -> list[Asked]:
    three, two = ("gender", "race", "age"), ("gender", "race")
    with_band, of_census = ("gender", "race", "band"), ("sex", "race", "band")
    table = [
        *[("fairface", three, 10_000, 10_000, k, scores) for k, scores in
          ((50, "lean"), (10, "lean"), (5, "lean"), (20, "strong"), (100, "clustered"), (500, "lean"))],
        *[("fairface", three, 1_000, 10_000, k, scores) for k, scores in ((20, "lean"), (50, "ties"))],
        ("fairface", three, 1_000, 10_000, 100, "strong", "balanced"),
        *[("fairface", three, 200, 10_000, k, "lean") for k in (10, 50)],
        *[("fairface", three, 10_000, 10_000, k, "lean", reference) for k, reference in
          ((50, "skewed"), (20, "weighted"), (50, "balanced"))],
        *[("fairface", two, 10_000, 10_000, k, scores) for k, scores in
          ((5, "lean"), (10, "lean"), (20, "strong"), (50, "lean"), (500, "clustered"))],
        *[("fairface", two, 1_000, 10_000, k, scores) for k, scores in ((10, "ties"), (20, "lean"))],
        ("fairface", two, 200, 5_000, 10, "strong"),
        ("fairface", two, 50_000, 10_000, 50, "lean"),
        ("fairface", two, 10_000, 10_000, 10, "lean", "skewed"),
        ("utkface", with_band, 10_000, 10_000, 10, "lean"),
        ("utkface", with_band, 10_000, 10_000, 50, "strong"),
        ("utkface", with_band, 1_000, 10_000, 20, "clustered"),
        ("utkface", with_band, 50_000, 10_000, 100, "lean"),
        ("utkface", two, 10_000, 10_000, 5, "strong"),
        ("utkface", two, 200, 10_000, 20, "ties", "skewed"),
        *[("pantheon", ("gender", "country"), 5_000, 6_000, k, scores) for k, scores in
          ((10, "lean"), (50, "lean"), (100, "strong"))],
        ("pantheon", ("gender", "country"), 1_000, 6_000, 20, "lean", "weighted"),
        ("pantheon", ("gender", "continent", "domain"), 5_000, 6_000, 20, "lean"),
        *[("census", of_census, n, 20_000, k, scores, "weighted") for n, k, scores in
          ((10_000, 10, "lean"), (10_000, 50, "lean"), (1_000, 20, "ties"), (10_000, 100, "strong"))],
        ("census", ("sex", "race", "country"), 10_000, 20_000, 20, "lean", "weighted"),
    ]  # fmt: skip
    names = ("data", "attributes", "n", "m", "k", "scores", "reference")
    return [Asked(**dict(zip(names, row))) for row in table]


PROBLEMS = _asked()


def labelled_problem(asked: Asked) -> Problem:
    """The problem, the same at every call."""
    seed = PROBLEMS.index(asked)
    rng = np.random.default_rng(seed)
    rows = _rows(asked, seed)
    levels = {name: sorted(rows[name].unique()) for name in asked.attributes}
    indicators = np.column_stack([rows[name] == level for name in levels for level in levels[name]]).astype(float)
    labels, reference = indicators[: asked.n], indicators[asked.n :]
    ends = np.cumsum([0, *(len(own) for own in levels.values())])
    return Problem(
        scores=_scores(asked.scores, labels, rng),
        labels=labels,
        k=asked.k,
        label_names=[f"{name}={level}" for name in levels for level in levels[name]],
        attributes={name: list(range(ends[i], ends[i + 1])) for i, name in enumerate(levels)},
        **_reference(asked, labels, reference, rows.iloc[asked.n :], rng),
    )


@cache
def _table(data: str) -> pd.DataFrame:
    table = pd.read_parquet(FILES[data])
    if data in BANDS:
        table["band"] = pd.cut(table["age"], BANDS[data]).astype(str)
    return table


def _rows(asked: Asked, seed: int) -> pd.DataFrame:
    """Pool and reference, one after the other; drawn with replacement where the data set is too small."""
    table, size = _table(asked.data), asked.n + asked.m
    rows = table.sample(size, random_state=seed, replace=size > len(table)).reset_index(drop=True)
    return rows.assign(**{name: rows[name].astype(object).fillna("?").astype(str) for name in asked.attributes})


def _scores(kind: str, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n = labels.shape[0]
    lean = labels @ rng.standard_normal(labels.shape[1]) / np.sqrt(labels.shape[1])
    if kind == "strong":
        return 0.2 + 0.10 * lean + 0.01 * rng.standard_normal(n)
    if kind == "clustered":
        centres = 0.2 + 0.05 * rng.standard_normal(6)
        return centres[rng.integers(0, 6, n)] + 0.02 * lean + 0.001 * rng.standard_normal(n)
    scores = 0.2 + 0.03 * lean + 0.02 * rng.standard_normal(n)
    return np.round(scores, 2) if kind == "ties" else scores


def _reference(
    asked: Asked, labels: np.ndarray, reference: np.ndarray, rows: pd.DataFrame, rng: np.random.Generator
) -> dict[str, object]:
    if asked.reference == "weighted":
        weights = rows["fnlwgt"].to_numpy(float) if "fnlwgt" in rows else rng.lognormal(0, 1, asked.m)
        return {"reference": reference, "reference_weights": weights}
    if asked.reference == "skewed":
        weights = np.exp(1.2 * (reference @ rng.standard_normal(reference.shape[1])))
        return {"reference": reference[rng.choice(asked.m, asked.m, p=weights / weights.sum())]}
    if asked.reference == "balanced":
        return {"reference": np.unique(np.vstack([labels, reference]), axis=0), "reference_size": 10_000.0}
    return {"reference": reference}
