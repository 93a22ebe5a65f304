"""Rows of `mopr` over embeddings, and what random sets and brute force say of those that found no set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import thread_time

import numpy as np

from mprlib import Problem, Selection, measure, sweep
from mprlib.cells import selection_weights
from mprlib.registry import function_class
from tests.embedded_bounds import Room, room_of
from tests.embedded_queries import embedded_query

RANDOM_SETS = 200
# Parts of the MPR of the most similar items.
PARTS = (0.2, 0.36, 0.52, 0.68, 0.84)
POINTS = 20


@dataclass(kw_only=True, slots=True)
class Rows:
    """Rows of one problem, seconds of processor time of all, and of those without a set the share of random sets that
    meet rho. room: what the bound leaves open at the smallest rho with a set."""

    name: str
    rows: list[Selection]
    seconds: float
    refuted: list[float] = field(default_factory=list)
    room: Room | None = None

    @property
    def gaps(self) -> list[float]:
        """Stated gaps of the sets that were found, by falling rho."""
        found = [row for row in self.rows if row.status in ("optimal", "feasible")]
        return [float(row.gap or 0.0) for row in sorted(found, key=lambda row: -row.rho)]

    def line(self) -> str:
        """The problem's line of the table."""
        statuses = {
            one: sum(row.status == one for row in self.rows) for one in dict.fromkeys(r.status for r in self.rows)
        }
        told = ", ".join(f"{count} {status.value}" for status, count in statuses.items())
        gaps = self.gaps
        stated = f"gap {np.median(gaps):.1%} median, {gaps[-1]:.1%} at the smallest rho reached" if gaps else "no set"
        refuted = "".join(f"; {share:.0%} of random sets meet a rho without a set" for share in self.refuted if share)
        room = "" if self.room is None else f"; there {self.room.line()}"
        return f"{self.name:24s} {told}; {stated}; {self.seconds:.1f} s{refuted}{room}"


def spectral_query(n: int, width: int, *, k: int, seed: int = 0) -> Problem:
    """Unit vectors whose variance falls over directions, as those of encoders do, and with a common part."""
    rng = np.random.default_rng([seed, width])
    rows = rng.standard_normal((2 * n, width)) / np.sqrt(1.0 + np.arange(width)) + 0.3 / np.sqrt(width)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query = rows[rng.integers(n)] + 0.02 * rng.standard_normal(width)
    return Problem(scores=rows[:n] @ query / np.linalg.norm(query), labels=rows[:n], reference=rows[n:], k=k)


def read_query(folder: Path, n: int, *, k: int, seed: int = 0) -> Problem:
    """Vectors that an audit's units of texts hold: of some as items, of the others as the reference."""
    import pyarrow as pa

    parts = []
    for path in sorted(folder.glob("units/embed/*/vectors.arrow")):
        with pa.memory_map(str(path)) as source:
            column = pa.ipc.open_file(source).read_all()["vector"].combine_chunks()
            parts.append(np.asarray(column.flatten(), dtype=float).reshape(len(column), -1))
    vectors = np.concatenate(parts)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    query = vectors[rng.integers(len(vectors))] + 0.02 * rng.standard_normal(vectors.shape[1])
    order = rng.permutation(len(vectors))
    items, people = vectors[order[:n]], vectors[order[n:]]
    return Problem(scores=items @ query / np.linalg.norm(query), labels=items, reference=people, k=k)


def kernel_problems(vectors: Path | None) -> Iterator[tuple[str, Callable[[], Problem]]]:
    """Five problems for `rkhs`: some generated, some of real vectors where there are any."""
    yield "generated 1k x 64, k 10", lambda: embedded_query(1_000, 64, k=10)
    yield "generated 2k x 128, k 20", lambda: embedded_query(2_000, 128, k=20)
    for n, k in ((1_000, 10), (1_000, 50), (4_000, 20)):
        if vectors is None:
            yield f"falling {n} x 384, k {k}", lambda n=n, k=k: spectral_query(n, 384, k=k)
        else:
            yield f"read {n}, k {k}", lambda n=n, k=k: read_query(vectors, n, k=k)


def linear_problems() -> Iterator[tuple[str, Callable[[], Problem]]]:
    """Twelve problems for `linear`, 64 to 512 columns."""
    for n, width, k in ((1_000, 64, 10), (1_000, 64, 50), (1_000, 256, 20), (10_000, 128, 10), (10_000, 128, 50)):
        yield f"generated {n} x {width}, k {k}", lambda n=n, w=width, k=k: embedded_query(n, w, k=k)
    yield "generated 10000 x 512, k 50", lambda: embedded_query(10_000, 512, k=50)
    for n, width, k in ((1_000, 384, 10), (1_000, 384, 50), (10_000, 384, 10), (10_000, 384, 50)):
        yield f"falling {n} x {width}, k {k}", lambda n=n, w=width, k=k: spectral_query(n, w, k=k)
    for k in (10, 50):
        yield f"falling 10000 x 64, k {k}", lambda k=k: spectral_query(10_000, 64, k=k)


def kernel_rows(name: str, problem: Problem) -> Rows:
    """Five rows of `rkhs`."""
    top = measure(problem, problem.best_first[: problem.k], "rkhs").value
    return _rows(name, problem, "rkhs", [part * top for part in PARTS])


def linear_rows(name: str, problem: Problem, *, is_semidefinite: bool = False) -> Rows:
    """A curve of `linear`."""
    top = measure(problem, problem.best_first[: problem.k], "linear").value
    found = _rows(name, problem, "linear", list(np.linspace(0.1, 0.9, POINTS) * top))
    with_sets = [row for row in found.rows if row.status in ("optimal", "feasible")]
    if with_sets:
        found.room = room_of(problem, with_sets[0], is_semidefinite=is_semidefinite)
    return found


def _rows(name: str, problem: Problem, kind: str, rhos: list[float]) -> Rows:
    started = thread_time()
    rows = sweep(problem, "mopr", rhos, kind)
    found = Rows(name=name, rows=rows, seconds=thread_time() - started)
    open_rows = [row for row in rows if row.status == "not_found"]
    if open_rows:
        random, oracle = np.random.default_rng(0), function_class(kind).bind(problem)
        sets = [random.choice(problem.n, problem.k, replace=False) for _ in range(RANDOM_SETS)]
        values = np.array([oracle.worst_case(selection_weights(problem, items)).value for items in sets])
        found.refuted = [float(np.mean(values <= row.rho)) for row in open_rows]
    return found
