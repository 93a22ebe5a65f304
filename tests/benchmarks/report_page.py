"""Size, build time and load time of the report of a large run: python -m tests.benchmarks.report_page

Bars: the page of 300 queries under 15 MB and interactive in under 2 seconds in headless Chromium.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from PIL import Image

from jobs.analysis.load import from_tables
from jobs.config.audit import ReportSettings
from jobs.images.thumbnail import SIDE_PIXELS, thumbnail
from jobs.report.build import build
from jobs.report.thumbnails import BASE64
from jobs.store.schema import THUMBNAILS
from tests.jobs.report import chromium, synthetic

REPEATS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--points", type=int, default=50)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument(
        "--thumbnails", type=float, default=ReportSettings().thumbnail_megabytes, help="megabytes of the page"
    )
    parser.add_argument("--pictures", action="store_true", help="write the drawings too")
    settings = parser.parse_args()
    started = time.perf_counter()
    tables = synthetic.tables(
        queries=settings.queries, points=settings.points, k=settings.k, people=10_000, pool=10_000, has_second_mopr=True
    )
    print(f"made {tables['results'].num_rows:,} result rows, {tables['groups'].num_rows:,} group rows, "
          f"{tables['items'].num_rows:,} items in {time.perf_counter() - started:.1f} s")  # fmt: skip
    started = time.perf_counter()
    run = from_tables(
        **tables, thumbnails=thumbnails(tables["items"], settings.thumbnails), manifest=synthetic.manifest()
    )
    loaded = time.perf_counter() - started
    started, worked = time.perf_counter(), time.process_time()
    files = build(run, has_pictures=settings.pictures)
    built, worked = time.perf_counter() - started, time.process_time() - worked
    page = files["index.html"]
    print(f"{len(run.thumbnails):,} thumbnails, {settings.thumbnails:g} MB of the page at most")
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


def thumbnails(items: pa.Table, megabytes: float) -> pa.Table:
    """Small pictures of the first items until the page's budget is spent; noise, which packs worst."""
    random, rows, left_bytes = np.random.default_rng(0), [], megabytes * 1e6
    for item in items["item_id"].to_pylist():
        picture = thumbnail(Image.fromarray(random.integers(0, 256, (SIDE_PIXELS, SIDE_PIXELS, 3), dtype=np.uint8)))
        left_bytes -= BASE64 * len(picture)
        if left_bytes < 0:
            break
        rows.append({"dataset": "people", "item_id": item, "thumbnail": picture})
    return pa.Table.from_pylist(rows, schema=THUMBNAILS)


async def _timed(page: chromium.Page, path: Path) -> float:
    seconds = await page.open(path)
    if page.problems:
        raise RuntimeError(f"the page's console says {page.problems}")
    return seconds


if __name__ == "__main__":
    main()
