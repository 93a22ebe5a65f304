"""Size, build time and load time of the report of a large run: python -m tests.benchmarks.report_page

Bars: the page of 300 queries under 15 MB and interactive in under 2 seconds in headless Chromium.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from jobs import report
from tests.jobs.report import chromium, synthetic

REPEATS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--points", type=int, default=50)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument("--pictures", action="store_true", help="time the PNG files too")
    settings = parser.parse_args()
    started = time.perf_counter()
    tables = synthetic.tables(
        queries=settings.queries, points=settings.points, k=settings.k, people=10_000, pool=10_000, has_second_mopr=True
    )
    print(f"made {tables['results'].num_rows:,} result rows, {tables['groups'].num_rows:,} group rows, "
          f"{tables['items'].num_rows:,} items in {time.perf_counter() - started:.1f} s")  # fmt: skip
    started = time.perf_counter()
    run = report.from_tables(**tables, manifest=synthetic.manifest())
    loaded = time.perf_counter() - started
    started, worked = time.perf_counter(), time.process_time()
    files = report.build(run, has_pictures=settings.pictures)
    built, worked = time.perf_counter() - started, time.process_time() - worked
    page = files["index.html"]
    print(f"{'queries':>8} {'page MB':>8} {'files MB':>9} {'load s':>7} {'build s':>8} {'CPU s':>6}")
    total = sum(map(len, files.values())) / 1e6
    print(f"{settings.queries:>8} {len(page) / 1e6:>8.2f} {total:>9.2f} {loaded:>7.2f} {built:>8.2f} {worked:>6.2f}")
    if chromium.BINARY is None:
        print("no Chromium here: the load time was not measured")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.html"
        path.write_bytes(page)
        times = [chromium.browse(lambda one: _timed(one, path)) for _ in range(REPEATS)]
    print("seconds from navigation to interactive:", ", ".join(f"{seconds:.2f}" for seconds in times))


async def _timed(page: chromium.Page, path: Path) -> float:
    seconds = await page.open(path)
    if page.problems:
        raise RuntimeError(f"the page's console says {page.problems}")
    return seconds


if __name__ == "__main__":
    main()
