"""Pictures of the items of a sample, large enough to tell what they show."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..analysis.load import pictured, read_all, tables_of
from ..images import ImageError, ImageLimits, decode, read_image
from ..images.thumbnail import thumbnail
from ..store import Store
from ..store.schema import THUMBNAILS
from .sample import Sample

# A file takes about six kilobytes, so that a page of hundreds opens at once.
SIDE_PIXELS = 224
# Pillow decodes outside Python's lock.
THREADS = 4


def pictures_of(store: Store, manifest: Mapping[str, Any], sample: Sample) -> list[bytes | None]:
    """The picture of each item: from its file, else as the run kept it; None where there is neither."""
    root, limits = _source(manifest, sample.dataset)
    with tables_of(store):
        kept = pictured(read_all(store, "thumbnails", THUMBNAILS))

    def made(item: str, locator: str | None) -> bytes | None:
        try:
            if root is not None:
                data = read_image(root, locator, limits)
                return thumbnail(decode(data, limits, at_least=SIDE_PIXELS), SIDE_PIXELS)
        except ImageError:
            pass
        return kept.get((sample.dataset, item))

    columns = (sample.items[name].to_pylist() for name in ("item_id", "image"))
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(made, *columns))


def _source(manifest: Mapping[str, Any], dataset: str) -> tuple[str | None, ImageLimits]:
    """The folder that a data set's pictures are in, and what one may cost."""
    root = next((one.get("root") for one in manifest.get("data", ()) if one.get("dataset") == dataset), None)
    blocks = manifest["settings"].get("dataset", ())
    limits: dict[str, Any] = next((one["image_limits"] for one in blocks if one.get("name") == dataset), {})
    return root, ImageLimits.model_validate(limits)
