"""What solving costs for data sets of 10 thousand to 10 million people: counting them by cells, resamples, solve units.

    python -m tests.benchmarks.solving [--people N ...] [--queries N]

People with sampling weights, of three attributes (126 cells); pools of 10,000; top_k and 20 points of mopr under
linear. No vectors and no search: `tests.benchmarks.scale` runs whole audits. Seconds are of the processor, the median
over queries. Limits: a solve unit costs at most 1.15 times what it costs with 10,000 people, 60 ms for 20 points, and a
class's margin of a weighted sample takes at most 2 s.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.config.entries import ClassEntry, MethodEntry
from jobs.datasets.catalogue import ATTRIBUTE
from jobs.stages.case import Case
from jobs.stages.cells import TABLE, Cells, cell_table
from jobs.stages.pool import Pool
from jobs.stages.reference import ReferenceCells, ReferenceSource, seen
from jobs.stages.solve import Solve
from jobs.store import Store

LEVELS = {"sex": 2, "race": 7, "age": 9}
AT_ONCE = 1_000_000
POOL, K = 10_000, 50
LARGEST_RATIO, UNIT_SECONDS, MARGIN_SECONDS = 1.15, 0.060, 2.0
CLASSES = ("linear", "saturated", "groups")
METHODS = {"top_k": MethodEntry(name="top_k"), "mopr": MethodEntry(name="mopr", points=20)}


def people(rows: int, random: np.random.Generator) -> pa.Table:
    """Rows as a catalogue has them."""
    columns: dict[str, Any] = {
        "item_id": pa.array(np.arange(rows)).cast(pa.string()),
        "weight": random.lognormal(sigma=0.5, size=rows),
    }
    # The same population, whatever is drawn from it.
    shares = np.random.default_rng(1)
    for name, count in LEVELS.items():
        codes = random.choice(count, rows, p=shares.dirichlet(np.full(count, 5.0)))
        levels = pa.array([f"{name} {level}" for level in range(count)])
        columns[ATTRIBUTE + name] = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), levels)
    return pa.table(columns)


def pool(random: np.random.Generator) -> pa.Table:
    """A query's pool, best item first."""
    table = people(POOL, random)
    relevance = pa.nulls(POOL, pa.string())
    columns = {"row": pa.array(np.arange(POOL)), "score": np.sort(random.normal(0.3, 0.05, POOL))[::-1]}
    return pa.table({**columns, **{name: table[name] for name in table.column_names}, "relevance": relevance})


def processor_seconds(work: Callable[[], Any]) -> float:
    """Seconds of this process."""
    started = time.process_time()
    work()
    return time.process_time() - started


def measured(store: Store, size: int, queries: int) -> dict[str, float]:
    """Seconds by what they are for."""
    random, parts, found = np.random.default_rng(0), [], {"counting": 0.0}
    for part, start in enumerate(range(0, size, AT_ONCE)):
        table = people(min(AT_ONCE, size - start), random)
        began = time.process_time()
        store.write_table(Cells.file(f"{size}-{part}", TABLE), cell_table(table))
        found["counting"] += time.process_time() - began
        parts.append(f"{size}-{part}")
    levels = {name: tuple(f"{name} {level}" for level in range(count)) for name, count in LEVELS.items()}
    reference = ReferenceCells(
        title="people", kind="people", levels=levels, attributes=tuple(levels), missing="unknown", cells=tuple(parts)
    )

    def keep() -> None:
        for name, table in reference.run(store).items():
            store.write_table(reference.file(reference.key, name), table)

    found["resamples"] = processor_seconds(keep)
    source = ReferenceSource(name="people", units={seen(list(levels)): reference.key})
    for name, units in units_of(source, levels, store, queries).items():
        next(units).run(store)
        found[name] = float(np.median([processor_seconds(lambda unit=unit: unit.run(store)) for unit in units]))
    unit = next(units_of(source, levels, store, 1)["top_k"])
    for entry in unit.function_classes:
        case = Case(unit, store)
        found[f"interval {entry.name}"] = processor_seconds(
            lambda case=case, entry=entry: case.interval(entry, case.top_k, is_fitted=True)
        )
    return found


def units_of(
    source: ReferenceSource, levels: dict[str, tuple[str, ...]], store: Store, queries: int
) -> dict[str, Iterator[Solve]]:
    """The units of each method, one more than there are queries: the first is to warm up."""
    entries = tuple(ClassEntry(name=name) for name in CLASSES)

    def units(method: MethodEntry) -> Iterator[Solve]:
        for query in range(queries + 1):
            store.write_table(Pool.file(f"pool {query}", "pool"), pool(np.random.default_rng([1, query])))
            yield Solve(
                title="solve",
                dataset="people",
                catalogue="none",
                reference=source,
                levels=levels,
                missing="unknown",
                pool=f"pool {query}",
                query=f"query {query}",
                prompt=f"query {query}",
                k=K,
                method=method,
                target=entries[0] if method.name == "mopr" else None,
                function_classes=entries,
                group_attributes=2,
                seed=0,
            )

    return {name: units(method) for name, method in METHODS.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, nargs="+", default=[10_000, 1_000_000, 10_000_000])
    parser.add_argument("--queries", type=int, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = {size: measured(Store(folder, is_durable=False), size, chosen.queries) for size in chosen.people}
    smallest, largest = table[chosen.people[0]], [table[size] for size in chosen.people]
    print(f"{'ms of processor':<20}" + "".join(f"{size:>14,}" for size in chosen.people))
    for name in smallest:
        print(f"{name:<20}" + "".join(f"{1000 * of_size[name]:>14.1f}" for of_size in largest))
    for name in METHODS:
        ratio = max(of_size[name] for of_size in largest) / smallest[name]
        print(f"{name}: at most {ratio:.2f} times what it is with {chosen.people[0]:,} (limit {LARGEST_RATIO})")
    slowest = max(value for of_size in largest for name, value in of_size.items() if name.startswith("interval"))
    print(
        f"20 points of mopr: {1000 * max(of_size['mopr'] for of_size in largest):.0f} ms (limit {UNIT_SECONDS:.3f} s)"
    )
    print(f"interval of a class: {slowest:.3f} s at most (limit {MARGIN_SECONDS:g} s)")


if __name__ == "__main__":
    main()
