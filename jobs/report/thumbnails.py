"""Thumbnails of the items that a run's page shows first, kept in the run: a report needs nothing outside it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, zip_longest

import pyarrow as pa

from ..analysis.cases import repaired_rows, top_k_rows
from ..analysis.load import read_all, tables_of
from ..analysis.parts import item_ids, read_part, survey
from ..config.audit import Audit
from ..images import ImageError, ImageLimits, decode, read_image
from ..images.thumbnail import SIDE_PIXELS, thumbnail
from ..plan.inputs import Inputs
from ..store import FileReceipt, Store
from ..store.schema import ITEMS, THUMBNAILS

NAME = "thumbnails/part-00000.parquet"
# Pillow decodes outside Python's lock.
THREADS = 4
# Pictures that are decoded before it is known whether they fit.
CHUNK = 64
# Bytes of a page for three bytes of a picture.
BASE64 = 4 / 3

Item = tuple[str, str]


def write_thumbnails(store: Store, settings: Audit, inputs: Inputs) -> dict[str, FileReceipt]:
    """Thumbnails of chosen pictures up to `report.thumbnail_megabytes`; those of an earlier run go.

    Pictures that can no longer be read have none. Returns: what the file holds, by its name below the root.
    """
    roots = {name: catalogue.root for name, catalogue in inputs.catalogues.items() if catalogue.root is not None}
    limits = {block.name: block.image_limits for block in settings.dataset}
    budget_bytes = settings.report.thumbnail_megabytes * 1e6
    if not roots or not budget_bytes:
        store.delete(NAME)
        return {}
    rows = []
    for (dataset, item), picture in _pictures(store, roots, limits):
        budget_bytes -= BASE64 * len(picture)
        if budget_bytes < 0:
            break
        rows.append({"dataset": dataset, "item_id": item, "thumbnail": picture})
    return {NAME: store.write_table(NAME, pa.Table.from_pylist(rows, schema=THUMBNAILS))}


def _pictures(store: Store, roots: dict[str, str], limits: dict[str, ImageLimits]) -> Iterator[tuple[Item, bytes]]:
    """Items and their thumbnails, in the order in which a page wants them."""
    with tables_of(store):
        items = read_all(store, "items", ITEMS, ["dataset", "item_id", "image"]).to_pandas()
    images = items.drop_duplicates(["dataset", "item_id"]).set_index(["dataset", "item_id"])["image"].dropna()

    def made(item: Item) -> tuple[Item, bytes | None]:
        dataset = item[0]
        try:
            data = read_image(roots[dataset], images[item], limits[dataset])
            return item, thumbnail(decode(data, limits[dataset], at_least=SIDE_PIXELS))
        except ImageError:
            return item, None

    wanted = (item for item in _first_shown(store) if item in images.index and item[0] in roots)
    with ThreadPoolExecutor(THREADS) as pool:
        while chunk := list(islice(wanted, CHUNK)):
            yield from ((item, picture) for item, picture in pool.map(made, chunk) if picture is not None)


def _first_shown(store: Store) -> Iterator[Item]:
    """Items of every query's top-k and repaired selection, all first ranks before all second ones."""
    ids = item_ids(store)
    top: list[list[Item]] = []
    repaired: list[list[Item]] = []
    for part in survey(store).parts():
        run = read_part(store, part, ids)
        for selections, rows in ((top, top_k_rows(run.results)), (repaired, repaired_rows(run.results))):
            selections.extend(
                [(dataset, ids[code]) for code in run.chosen.row(place)]
                for place, dataset in rows[["dataset"]].itertuples(name=None)
            )
    ranked = (item for rank in zip_longest(*top, *repaired) for item in rank if item is not None)
    yield from dict.fromkeys(ranked)
