"""A hostile folder, read as the job reads it: each item is a picture or has the reason that it was given."""

import time

import pytest

from jobs import datasets
from jobs.datasets import described
from jobs.images import ImageError, decode, read_image
from tests.jobs.images.hostile import REASONS, HostileFolder, write_hostile_folder


def outcomes(folder: HostileFolder) -> dict[str, object]:
    """What becomes of every item of the catalogue: None for a picture, else the reason."""
    block = described(folder.block)
    catalogue = datasets.load(block, folder.root)
    found = {}
    for item, locator in zip(catalogue.items["item_id"].to_pylist(), catalogue.items["image"].to_pylist()):
        try:
            decode(read_image(catalogue.root, locator, block.image_limits), block.image_limits)
            found[item] = None
        except ImageError as error:
            found[item] = error.reason
    return found


@pytest.mark.parametrize("count", [400, pytest.param(5000, marks=pytest.mark.full)])
def test_every_item_is_a_picture_or_has_its_reason(count, tmp_path):
    folder = write_hostile_folder(tmp_path / "pictures", count)
    assert len(folder.bad) == round(0.05 * count)
    assert set(folder.bad.values()) == set(REASONS.values())
    started = time.perf_counter()
    assert outcomes(folder) == dict.fromkeys(folder.good) | folder.bad
    assert time.perf_counter() - started < 60
