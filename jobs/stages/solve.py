"""One query's pool and one method to selections, each measured under every configured class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

import mprlib
from jobs.config.entries import ClassEntry, MethodEntry
from jobs.datasets.catalogue import attribute_columns
from jobs.datasets.labels import UNKNOWN
from jobs.schema import GROUPS, RESULTS
from jobs.stages.extras import method_extras
from jobs.stages.labels import with_predicted
from jobs.stages.query_vectors import query_vector
from jobs.stages.reference import read_reference
from jobs.stages.vectors import open_shard, rows_with_vectors, to_matrix
from jobs.store import Store, unit_file
from mprlib import Measurement, Problem, Selection, registry
from mprlib.assumptions import assumption
from mprlib.cells import selection_weights
from mprlib.encoding import Encoding
from mprlib.function_classes.groups import Groups
from mprlib.function_classes.linear import Linear
from mprlib.method import Method
from mprlib.optimisers.constrained import SMALLEST_RHO
from mprlib.statistics import sampling_margin


def solve(spec: Mapping[str, Any], store: Store) -> dict[str, pa.Table]:
    """Rows of results and of group shares for one (query, method, target class).

    run_id and unit are filled in when results are collected: a cached unit serves many runs.
    """
    case = Case(spec, store)
    method = MethodEntry(**spec["method"])
    target = ClassEntry(**spec["target"]) if spec["target"] else None
    selections, remark = _sweep(case, method, target)
    results, groups = [], []
    for selection in selections:
        results += case.result_rows(method, target, selection, remark)
        groups += case.group_rows(method, target, selection)
    return {
        "results": pa.Table.from_pylist(results, schema=RESULTS),
        "groups": pa.Table.from_pylist(groups, schema=GROUPS),
    }


def _sweep(case: Case, entry: MethodEntry, target: ClassEntry | None) -> tuple[list[Selection], str]:
    """The method's selections over its parameter, and a remark on the values."""
    method = registry.METHODS[entry.name]
    # A method without a target sees all labels; the oracle only measures, and rows are measured below.
    problem = case.view(target) if target else case.problem
    oracle = (registry.function_class(target.name, **target.settings) if target else Linear()).bind(problem)
    remark = ""
    if entry.values is not None:
        values = list(entry.values)
    else:
        grid = method.grid(problem, oracle, entry.points)
        values = list(dict.fromkeys(grid))
        remark = _grid_remark(method, grid, values)
    return registry.method(entry.name, **case.extras(entry)).sweep(problem, oracle, values), remark


def _grid_remark(method: type[Method], grid: list[Any], values: list[Any]) -> str:
    """What a reader should know of a grid that is not the paper's."""
    if not method.is_constrained or grid[0] >= SMALLEST_RHO:
        return ""
    remark = f"top-k's MPR lies below {SMALLEST_RHO}, the grid's smallest rho: it starts at a fiftieth of top-k's"
    return remark if len(values) == len(grid) else f"{remark}; equal values stand once"


def _read_pool(spec: Mapping[str, Any], classes: Sequence[ClassEntry], store: Store) -> pa.Table:
    """The query's pool; with its vectors, most of its bytes, only where something looks at them."""
    file = unit_file("pool", spec["pool"], "pool")
    method = registry.METHODS[spec["method"]["name"]]
    if method.needs_embeddings or "texts" in spec or any(entry.over == "embedding" for entry in classes):
        return store.read_table(file)
    return store.read_table(file, columns=[name for name in store.parquet(file).schema_arrow.names if name != "vector"])


class Case:
    """The problem of one (data set, reference, query, k), as each class sees it."""

    def __init__(self, spec: Mapping[str, Any], store: Store) -> None:
        self.spec = spec
        self.classes = [ClassEntry(**entry) for entry in spec["function_classes"]]
        pool = with_predicted(_read_pool(spec, self.classes, store), spec, store)
        if pool.num_rows < spec["k"]:
            raise ValueError(
                f"k is {spec['k']}, but only {pool.num_rows} items of dataset {spec['dataset']} have a vector: "
                "the others were skipped"
            )
        encoding = Encoding(levels={name: tuple(levels) for name, levels in spec["levels"].items()})
        reference = read_reference(spec["reference"], encoding, store, spec.get("missing", UNKNOWN))
        self.is_sampled = reference.is_sample
        self.relevance = pool["relevance"].to_pylist()
        self.problem = Problem(
            scores=pool["score"].to_numpy(),
            labels=encoding.encode(attribute_columns(pool)),
            k=spec["k"],
            attributes=encoding.attributes,
            embeddings=to_matrix(pool["vector"]) if "vector" in pool.column_names else None,
            query=query_vector("queries", spec, store) if "queries" in spec else None,
            item_ids=pool["item_id"].to_numpy(zero_copy_only=False).astype(str),
            label_names=encoding.names,
            **reference.arguments(),
        )
        self._store = store
        self._views: dict[Any, Problem] = {"labels": self.problem}
        self._measured: dict[tuple[bytes, str], Measurement] = {}

    def view(self, entry: ClassEntry) -> Problem:
        """The problem with the columns that a class may look at."""
        if entry.over not in self._views:
            self._views[entry.over] = (
                self._embedding_view() if entry.over == "embedding" else self._columns_view(entry.over)
            )
        return self._views[entry.over]

    def _columns_view(self, attributes: tuple[str, ...]) -> Problem:
        problem = self.problem
        columns = [column for name in attributes for column in problem.attributes[name]]
        position = {column: at for at, column in enumerate(columns)}
        return replace(
            problem,
            labels=problem.labels[:, columns],
            reference=problem.reference[:, columns],
            attributes={name: [position[column] for column in problem.attributes[name]] for name in attributes},
            label_names=[problem.label_names[column] for column in columns],
        )

    def _embedding_view(self) -> Problem:
        shards = [open_shard(self._store, key) for key in self.spec["reference_vectors"]]
        # Who has no vector counts by label, but has nothing that a class over embeddings could see.
        present, weights = rows_with_vectors(shards), self.problem.reference_weights
        return replace(
            self.problem,
            labels=self.problem.embeddings,
            reference=np.concatenate([shard.vectors for shard in shards]).astype(np.float32, copy=False),
            # Where attributes are predicted, those without a vector are left out of the labels too.
            reference_weights=weights if weights.size == present.size else weights[present],
            attributes=None,
            label_names=None,
        )

    def extras(self, entry: MethodEntry) -> dict[str, Any]:
        """The method's own keywords."""
        return method_extras(entry, self.spec, self.problem, self._store)

    def measure(self, entry: ClassEntry, items: np.ndarray) -> Measurement:
        """A selection's measurement; neighbours of a sweep are often the same set."""
        key = (np.sort(items).tobytes(), entry.display)
        if key not in self._measured:
            self._measured[key] = mprlib.measure(self.view(entry), items, entry.name, **entry.settings)
        return self._measured[key]

    def margin(self, entry: ClassEntry) -> float | None:
        """t of the interval MPR +- t; None where the reference is no sample and has no error."""
        if not self.is_sampled:
            return None
        function_class = registry.function_class(entry.name, **entry.settings)
        return sampling_margin(self.view(entry), function_class, seed=self.spec["seed"])

    def result_rows(
        self, method: MethodEntry, target: ClassEntry | None, selection: Selection, remark: str
    ) -> list[dict[str, Any]]:
        """One row a function class; nothing is dropped, whatever the status."""
        problem, top = self.problem, self.problem.best_first[: self.problem.k]
        shared = self._names(method, target, selection) | {
            "prompt": self.spec["prompt"],
            "parameter": registry.METHODS[method.name].parameter,
            "status": str(selection.status),
            "similarity": selection.similarity,
            "similarity_top_k": float(np.mean(problem.scores[top])),
            "relaxation_bound": selection.relaxation_bound,
            "similarity_bound": selection.similarity_bound,
            "gap": selection.gap,
            "rho": selection.rho,
            "rho_min": selection.rho_min,
            "precision": self._precision(selection.items),
            "n_pool": problem.n,
            "n_reference": problem.reference.shape[0],
            "reference_size": problem.m,
            "solve_seconds": selection.solve_seconds,
            "seed": self.spec["seed"],
            "item_ids": problem.item_ids[selection.items].tolist(),
            "message": "; ".join(part for part in (selection.message, remark, assumption(problem)) if part),
        }
        rows = []
        for entry in self.classes:
            row = shared | {"function_class": entry.display, "mpr_top_k": self.measure(entry, top).value}
            if selection.items.size:
                measured, margin = self.measure(entry, selection.items), self.margin(entry)
                row |= {
                    "mpr": measured.value,
                    "mpr_upper_bound": measured.upper_bound,
                    "mpr_low": None if margin is None else max(0.0, measured.value - margin),
                    "mpr_high": None if margin is None else measured.upper_bound + margin,
                    "chi": measured.chi,
                    "witness": [
                        {
                            "group": group.name,
                            "share_selected": group.share_selected,
                            "share_reference": group.share_reference,
                            "contribution": group.contribution,
                        }
                        for group in measured.witness.groups
                    ],
                }
            rows.append(row)
        return rows

    def group_rows(self, method: MethodEntry, target: ClassEntry | None, selection: Selection) -> list[dict[str, Any]]:
        """Shares of every named group; none where there is no selection."""
        if not selection.items.size:
            return []
        oracle = Groups(max_attributes=self.spec["group_attributes"]).bind(self.problem)
        shares = oracle.shares(selection_weights(self.problem, selection.items))
        names = self._names(method, target, selection)
        return [
            names
            | {
                "group": name,
                "attributes": int(size),
                "share_selected": float(selected),
                "share_reference": float(expected),
            }
            for name, size, selected, expected in zip(oracle.names, oracle.attribute_counts, *shares)
        ]

    def _names(self, method: MethodEntry, target: ClassEntry | None, selection: Selection) -> dict[str, Any]:
        return {
            "dataset": self.spec["dataset"],
            "reference": self.spec["reference"]["name"],
            "query": self.spec["query"],
            "k": self.problem.k,
            "method": method.name,
            "parameter_value": None if selection.value is None else float(selection.value),
            "target_class": target.display if target else None,
        }

    def _precision(self, items: np.ndarray) -> float | None:
        """Share of the items whose true term is the query; null where none is known."""
        terms = [self.relevance[item] for item in items]
        if not terms or all(term is None for term in self.relevance):
            return None
        asked = self.spec["query"].strip().casefold()
        return float(np.mean([term is not None and term.strip().casefold() == asked for term in terms]))
