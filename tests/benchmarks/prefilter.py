"""Exact search against a plain product and FAISS: time, memory, growth, recall.

`python -m tests.benchmarks.prefilter` (4 GB of disk in a temporary folder, some minutes; `--rows 100000` for a
short form). Limits at 1,000,000 x 512, 55 queries, depth 10,000, 2 threads: 1.3 times the plain product and top-k,
faster than FAISS, 1,500 MB beyond the mapped file, within 15% of proportional from a quarter to twice the rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WIDTH, QUERIES, THREADS, REPEATS = 512, 55, 2, 5
# One core's rate is also measured with as many queries as a large audit has.
MANY_QUERIES, MANY_ROWS = 500, 1_000_000
# The largest audit that the docs estimate, and the vectors that one of its search tasks maps.
PAPER_ROWS, PAPER_QUERIES, PAPER_DEPTH, PAPER_SHARD_BYTES = 400_000_000, 500, 10_000, 1.024e9
# Depths at which both kernels are timed: `auto` goes by this.
DEPTHS = (1, 10, 100, 1000)


def make_vectors(path: Path, rows: int) -> None:
    """Unit vectors in a file to be mapped."""
    import numpy as np

    generator, step = np.random.default_rng(0), 50_000
    vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, WIDTH))
    for start in range(0, rows, step):
        block = generator.standard_normal((min(step, rows - start), WIDTH), dtype=np.float32)
        vectors[start : start + step] = block / np.linalg.norm(block, axis=1, keepdims=True)
    vectors.flush()


def timed(run: Callable[[], object], repeats: int = REPEATS) -> tuple[float, float]:
    """Least wall and least processor seconds of some runs: other work on the machine only adds."""
    wall, processor = [], []
    for _ in range(repeats):
        started, used = time.perf_counter(), time.process_time()
        run()
        wall.append(time.perf_counter() - started)
        processor.append(time.process_time() - used)
    return min(wall), min(processor)


class Case:
    """The mapped vectors, the queries, and the search with its canonical scores."""

    def __init__(self, path: Path, rows: int, depth: int) -> None:
        import numpy as np
        import torch

        torch.set_num_threads(THREADS)
        self.vectors = np.load(path, mmap_mode="r")[:rows]
        queries = np.random.default_rng(1).standard_normal((QUERIES, WIDTH), dtype=np.float32)
        self.queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
        self.depth = depth

    def search(self, backend: str = "torch", depth: int | None = None) -> list:
        """Positions and exact scores of every query's survivors."""
        found, exact = self.parts(backend, depth)
        return list(zip(found(), exact()))

    def parts(
        self, backend: str = "torch", depth: int | None = None, threads: int = THREADS
    ) -> tuple[Callable, Callable]:
        """The pass over the rows, and after it the exact scores of what it found."""
        from jobs.search import KERNELS
        from jobs.search.canonical import exact_scores, proposals

        rows: list = []

        def found() -> list:
            survivors = proposals(KERNELS[backend], [self.vectors], self.queries, depth or self.depth, 1.0)
            rows[:] = [positions for positions, _ in survivors]
            return rows

        def exact() -> list:
            with ThreadPoolExecutor(threads) as pool:
                return list(pool.map(lambda query, row: exact_scores(self.vectors, query, row), self.queries, rows))

        return found, exact


def measure_time(case: Case) -> dict:
    """Seconds of the search and of the plain product over a copy in memory, by turns."""
    import numpy as np
    import torch

    copy, queries = torch.from_numpy(np.array(case.vectors)), torch.from_numpy(case.queries)

    def plain() -> None:
        torch.topk(queries @ copy.T, case.depth, dim=1)

    turns = [(*timed(plain, 1), *timed(case.search, 1)) for _ in range(REPEATS)]
    keys = ("plain_wall", "plain_cpu", "search_wall", "search_cpu")
    best = {key: min(turn[place] for turn in turns) for place, key in enumerate(keys)}
    return best | {"ratio_by_turn": sorted(round(turn[2] / turn[0], 2) for turn in turns)}


def measure_faiss(case: Case) -> dict:
    """Seconds of one search of a flat index."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexFlatIP(WIDTH)
    index.add(case.vectors)
    return {"faiss_wall": timed(lambda: index.search(case.queries, case.depth), 1)[0]}


def measure_memory(case: Case) -> dict:
    """Bytes of the process beyond the file, which is resident after a search."""
    case.search()
    # Not getrusage: its peak is handed down by the process that started this one.
    [peak] = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return {"beyond_file_bytes": int(peak.split()[1]) * 1024 - case.vectors.nbytes}


def measure_growth(case: Case) -> dict:
    """Seconds of the pass over the rows and of the exact scores, and the memory that both took."""
    found, exact = case.parts()
    passed, again = timed(found), timed(exact)
    return {"pass": passed, "exact": again, **measure_memory(case)}


def measure_recall(case: Case) -> dict:
    """Share of the best rows by float64 scores that the search found, ties within 1e-6 being equal."""
    import numpy as np

    recalls, chunk, columns = [], 100_000, case.queries.astype(np.float64).T
    starts = range(0, len(case.vectors), chunk)
    parts = (case.vectors[start : start + chunk].astype(np.float64) @ columns for start in starts)
    for exact, (rows, scores) in zip(np.concatenate(list(parts)).T, case.search()):
        found = rows[np.argsort(-scores, kind="stable")[: case.depth]]
        cut = np.partition(exact, -case.depth)[-case.depth]
        sure = np.flatnonzero(exact > cut + 1e-6)
        is_near = exact[found] >= cut - 1e-6
        recalls.append(float(is_near.mean() if np.isin(sure, found).all() else np.isin(sure, found).mean()))
    return {"recall": min(recalls)}


def measure_rates(case: Case) -> dict:
    """Rates of one core, which the plan's estimate uses, and both kernels at small depths."""
    import faiss
    import numpy as np
    import torch

    faiss.omp_set_num_threads(THREADS)
    case_numbers = case.vectors.size * QUERIES
    depths = {depth: [timed(lambda: case.search(name, depth), 2)[0] for name in ("torch", "faiss")] for depth in DEPTHS}
    torch.set_num_threads(1)
    found, exact = case.parts(threads=1)
    passed, again = timed(found, 3)[0], timed(exact, 3)[0]
    case.queries, case.vectors = np.resize(case.queries, (MANY_QUERIES, WIDTH)), case.vectors[:MANY_ROWS]
    many = timed(case.parts(threads=1)[0], 1)[0]
    return {
        "numbers_per_second": case_numbers / passed,
        "numbers_per_second_many": case.vectors.size * MANY_QUERIES / many,
        "rescored_numbers_per_second": case.depth * QUERIES * WIDTH / again,
        "depths": depths,
    }


def measure_merge(case: Case) -> dict:
    """Candidates a second that a merge on one core reads, and bytes of each on disk."""
    import numpy as np
    import pyarrow as pa

    from jobs.plan.search_units import MERGED_TABLES
    from jobs.stages.prefilter import CANDIDATES, merge
    from jobs.store import Store, unit_file

    generator, prompts = np.random.default_rng(2), [str(number) for number in range(QUERIES)]
    with tempfile.TemporaryDirectory() as folder:
        store, written = Store(folder), 0
        for key in range(MERGED_TABLES):
            rows = [np.sort(generator.integers(0, 10**6, case.depth)) + key * 10**6 for _ in prompts]
            scores = [generator.random(case.depth, dtype=np.float32) for _ in prompts]
            table = pa.table([prompts, rows, scores, [1e-5] * QUERIES], schema=CANDIDATES)
            written += store.write_table(unit_file("prefilter", str(key), "candidates"), table, 1).bytes
        found = [["prefilter", str(key)] for key in range(MERGED_TABLES)]
        seconds = timed(lambda: merge({"found": found, "prompts": prompts, "top": case.depth}, store), 3)[0]
    candidates = MERGED_TABLES * QUERIES * case.depth
    return {"candidates_per_second": candidates / seconds, "candidate_bytes": written / candidates}


def print_paper_estimate(rates: dict, merged: dict) -> None:
    """What the largest planned audit would read and compute, from the rates of one core printed above."""
    parts = PAPER_ROWS * WIDTH * 4 / PAPER_SHARD_BYTES
    candidates = parts * PAPER_QUERIES * PAPER_DEPTH
    terms = {
        "scoring": PAPER_ROWS * PAPER_QUERIES * WIDTH / rates["numbers_per_second_many"],
        "merging": candidates * 8 / 7 / merged["candidates_per_second"],
        "exact scores": PAPER_QUERIES * PAPER_DEPTH * WIDTH / rates["rescored_numbers_per_second"],
    }
    tasks = f"{parts:.0f} tasks of {PAPER_SHARD_BYTES / 1e9:.0f} GB"
    print(f"{PAPER_ROWS:,} x {WIDTH}, {PAPER_QUERIES} queries, depth {PAPER_DEPTH:,}, {tasks}")
    numbers = PAPER_ROWS * WIDTH
    print(f"  vectors read  {numbers * 4 / 1e9:,.0f} GB float32, {numbers * 2 / 1e9:,.0f} GB float16")
    print(f"  candidates    {candidates * merged['candidate_bytes'] / 1e9:,.1f} GB written and read")
    for name, seconds in terms.items():
        print(f"  {name:<14}{seconds / 3600:8.3f} core hours")
    per_core = rates["numbers_per_second_many"] / PAPER_QUERIES * 4
    print(f"  a core scores {per_core / 1e6:,.0f} MB of float32 vectors a second: slower storage dominates")


MEASURES = {
    "time": measure_time,
    "faiss": measure_faiss,
    "memory": measure_memory,
    "growth": measure_growth,
    "recall": measure_recall,
    "rates": measure_rates,
    "merge": measure_merge,
}


def measured(what: str, path: Path, rows: int, depth: int) -> dict:
    """One measure in a process of its own, so that its memory is its own."""
    command = [sys.executable, "-m", "tests.benchmarks.prefilter", "--measure", what, "--path", str(path)]
    command += ["--rows", str(rows), "--depth", str(depth)]
    environment = os.environ | {"OMP_NUM_THREADS": str(THREADS)}
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return json.loads(ended.stdout.splitlines()[-1])


def report(rows: int, depth: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        make_vectors(path, 2 * rows)
        print(f"{rows:,} x {WIDTH} float32, {QUERIES} queries, depth {depth:,}, {THREADS} threads")
        times = measured("time", path, rows, depth)
        print(f"plain product and top-k   {times['plain_wall']:8.2f} s  {times['plain_cpu']:8.2f} s of processor")
        print(f"search with exact scores  {times['search_wall']:8.2f} s  {times['search_cpu']:8.2f} s of processor")
        ratio = times["search_wall"] / times["plain_wall"]
        print(f"ratio (limit 1.3)         {ratio:8.2f}    by turn {times['ratio_by_turn']}")
        seconds = measured("faiss", path, rows, depth)["faiss_wall"]
        print(f"faiss.IndexFlatIP         {seconds:8.2f} s  (must be slower)", flush=True)
        memory = measured("memory", path, rows, depth)["beyond_file_bytes"]
        print(f"beyond the mapped file    {memory / 1e6:8.0f} MB (limit 1,500)")
        print(f"least recall (limit 1)    {measured('recall', path, rows, depth)['recall']:8.6f}", flush=True)
        # Exact scores are of queries x depth rows, however many there are; the pass should be proportional.
        print(f"{'rows':>12}{'pass s':>10}{'exact s':>10}{'pass cpu s':>12}{'a million':>12}{'MB beyond file':>16}")
        for share in (0.25, 0.5, 1, 2):
            one = measured("growth", path, int(share * rows), depth)
            (wall, processor), (exact, _) = one["pass"], one["exact"]
            print(
                f"{share * rows:>12,.0f}{wall:>10.2f}{exact:>10.2f}{processor:>12.2f}"
                f"{processor / (share * rows / 1e6):>12.2f}{one['beyond_file_bytes'] / 1e6:>16.0f}",
                flush=True,
            )
        rates = measured("rates", path, rows, depth)
        print(f"one core, product and filter  {rates['numbers_per_second'] / 1e9:6.1f} billion products a second")
        print(
            f"one core, exact scores        {rates['rescored_numbers_per_second'] / 1e9:6.2f} billion products a second"
        )
        many = rates["numbers_per_second_many"] / 1e9
        print(f"  the same, {MANY_QUERIES} queries       {many:6.1f} billion products a second")
        merged = measured("merge", path, rows, depth)
        print(
            f"one core, merging             {merged['candidates_per_second'] / 1e6:6.1f} million candidates a second, "
            f"{merged['candidate_bytes']:.1f} bytes each"
        )
        for number, (torch_seconds, faiss_seconds) in rates["depths"].items():
            print(f"depth {number:>5}   torch {torch_seconds:6.2f} s   faiss {faiss_seconds:6.2f} s")
    print_paper_estimate(rates, merged)
    print("GPU: not run by this benchmark")


def main() -> None:
    """Print the table, or one measure's figures as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--depth", type=int, default=10_000)
    parser.add_argument("--measure", choices=MEASURES)
    parser.add_argument("--path", type=Path)
    options = parser.parse_args()
    if options.measure:
        case = Case(options.path, options.rows, options.depth)
        print(json.dumps(MEASURES[options.measure](case)))
    else:
        report(options.rows, min(options.depth, options.rows))


if __name__ == "__main__":
    main()
