"""The result files of the paper's authors: one pickle per data set, reference, method, k, class and query.

    celeba_curation_fairface_top10k_mmr_50_linearregression_architect.pkl

A file holds lists over the values of a method's parameter: `MPR`, `sims` (a sum over the k items) and the parameter;
of MOPR also `rounded_MPR` and `rounded_sims`, those of the sets that were shown. Top-k is not among the methods: it is
MMR without diversity, or else MOPR at the largest rho, which does not bind.

Source: the layout that experiments/benchmark_retrieval.py of the authors' code writes. Their files are theirs: none is
part of this project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...errors import UsageError
from ..exhibits.numbered import BALANCED, CELEBA, FAIRFACE, POOL, TEN, UTKFACE
from .pickled import NotData, read

FILE = re.compile(
    r"(?P<synthetic>synthetic_)?(?P<dataset>[a-z]+)_curation_(?P<reference>fairface|None)_top10k_"
    r"(?P<method>[a-z]+)_(?P<k>\d+)_(?P<class>[a-z]+)_(?P<query>[^/]+)\.pkl"
)
DATASETS = {"celeba": CELEBA, "utkface": UTKFACE, "occupations": TEN, "fairface": FAIRFACE}
REFERENCES = {"fairface": FAIRFACE, "None": POOL}
CLASSES = {
    "linearregression": "linear",
    "decisiontree": "tree_greedy",
    "randomforest": "forest",
    "mlp": "mlp_trained",
}
# What the optimiser was called changed twice.
METHODS = {
    "lp": "mopr_paper",
    "mapr": "mopr_paper",
    "mopr": "mopr_paper",
    "mmr": "mmr",
    "pbm": "pbm",
    "clipclip": "clip_clip",
    "debiasclip": "debias_clip",
}
PARAMETERS = ("rhos", "lambdas", "pvals")
PANEL = ["dataset", "reference", "query", "k", "function_class"]
LARGEST_FILE_BYTES = 1_000_000_000


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Published:
    """curves: one row per value that a file holds, with the columns of a run's trade-offs that it gives.

    left_out: files of another layout, or that hold something else, with the reason.
    """

    curves: pd.DataFrame
    files: int
    left_out: Mapping[str, str]


def read_folder(folder: str) -> Published:
    """All result files of a folder and below.

    Raises:  UsageError where it is no folder, or holds none that can be read.
    """
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"{folder}: no such folder; the authors' result files (.pkl) are expected in it")
    rows: list[dict[str, Any]] = []
    left_out: dict[str, str] = {}
    files = 0
    for path in sorted(root.rglob("*.pkl")):
        try:
            rows += list(_rows(path))
            files += 1
        except NotData as reason:
            left_out[str(path.relative_to(root))] = str(reason)
    if not rows:
        why = next((f": {name} holds {reason}" for name, reason in left_out.items()), "")
        raise UsageError(f"{folder} holds no result file of the paper's authors that can be read{why}")
    return Published(curves=_with_fractions(pd.DataFrame(rows)), files=files, left_out=left_out)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The values of one file.

    Raises:  NotData where its name is of another layout, or its content.
    """
    name = FILE.fullmatch(path.name)
    if name is None or name["dataset"] not in DATASETS or name["class"] not in CLASSES or name["method"] not in METHODS:
        raise NotData("another experiment: its name is of another layout")
    if path.stat().st_size > LARGEST_FILE_BYTES:
        raise NotData("more than a gigabyte")
    content = read(path.read_bytes())
    if not isinstance(content, dict):
        raise NotData("no dictionary")
    method, k = METHODS[name["method"]], int(name["k"])
    function_class = CLASSES[name["class"]]
    of_sets = "rounded_" if "rounded_MPR" in content else ""
    mpr, similarity = (_numbers(content, f"{of_sets}{key}") for key in ("MPR", "sims"))
    parameter = next((_numbers(content, key) for key in PARAMETERS if key in content), np.full(mpr.size, np.nan))
    if mpr.size != similarity.size:
        raise NotData(f"{mpr.size} values of MPR and {similarity.size} of similarity")
    if parameter.size != mpr.size:
        # A rho without a set was left out of the other lists, and which one it was is not said.
        parameter = np.full(mpr.size, np.nan)
    for place in range(mpr.size):
        yield {
            "dataset": DATASETS[name["dataset"]],
            "reference": BALANCED if name["synthetic"] else REFERENCES[name["reference"]],
            "query": name["query"].replace("_", " "),
            "k": k,
            "function_class": function_class,
            "method": method,
            "target_class": function_class if method == "mopr_paper" else None,
            "parameter_value": parameter[place],
            "status": "done",
            "mpr": mpr[place],
            "similarity": similarity[place] / k,
            "place": place,
        }


def _numbers(content: Mapping[Any, Any], key: str) -> np.ndarray:
    """A list of numbers, each of which may be an array of one."""
    if key not in content:
        raise NotData(f"no {key!r}")
    value = content[key]
    try:
        found = np.array([np.asarray(one, dtype=float).reshape(-1) for one in np.atleast_1d(value)], dtype=float)
    except (ValueError, TypeError):
        raise NotData(f"{key!r}, which is no list of numbers") from None
    if found.size and found.shape[-1] != 1:
        raise NotData(f"{key!r}, which is no list of numbers")
    return found.reshape(-1)


def _with_fractions(rows: pd.DataFrame) -> pd.DataFrame:
    """Each value as a fraction of top-k's, and a row for top-k itself."""
    top = rows[PANEL].drop_duplicates().merge(_top_k(rows), on=PANEL, how="left")
    whole = rows.merge(top, on=PANEL, how="left")
    known = top.dropna(subset=["mpr_top_k"])
    own = known.assign(
        method="top_k", target_class=None, status="done", mpr=known["mpr_top_k"], similarity=known["similarity_top_k"]
    )
    both = pd.concat([own, whole], ignore_index=True).drop(columns="place")
    both["mpr_fraction"] = both["mpr"] / both["mpr_top_k"].where(both["mpr_top_k"] > 0)
    both["similarity_fraction"] = both["similarity"] / both["similarity_top_k"].where(both["similarity_top_k"] > 0)
    return both


def _top_k(rows: pd.DataFrame) -> pd.DataFrame:
    plain = rows[(rows["method"] == "mmr") & (rows["place"] == 0)]
    bound = rows[rows["method"] == "mopr_paper"].sort_values("place", kind="stable")
    found = pd.concat([plain, bound.drop_duplicates(PANEL, keep="last")]).drop_duplicates(PANEL)
    return found[[*PANEL, "mpr", "similarity"]].rename(columns={"mpr": "mpr_top_k", "similarity": "similarity_top_k"})
