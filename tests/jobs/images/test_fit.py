"""Pictures fitted as open_clip fits them, checked against its own transform on pictures of many shapes."""

import numpy as np
import pytest
from PIL import Image

from jobs.encoders.torchvision_operators import make_importable
from jobs.images.fit import Fit, fit

make_importable()
open_clip = pytest.importorskip("open_clip")

SIZES = [(224, 224), (32, 32), (33, 97), (640, 480), (1, 1), (9, 300), (1001, 250), (20, 31)]


def picture(width: int, height: int) -> Image.Image:
    """Smooth colours with some noise, so that each step of a resize shows."""
    generator = np.random.default_rng(width * 10_007 + height)
    rows, columns = np.mgrid[:height, :width]
    waves = np.stack([np.sin(rows / 7), np.cos(columns / 5), np.sin((rows + columns) / 9)], axis=-1)
    return Image.fromarray(np.clip(127 + 90 * waves + generator.normal(0, 12, waves.shape), 0, 255).astype(np.uint8))


def transform(**settings):
    return open_clip.transform.image_transform_v2(open_clip.transform.PreprocessCfg(**settings), is_train=False)


@pytest.mark.parametrize("interpolation", ["bicubic", "bilinear"])
@pytest.mark.parametrize("resize_mode", ["shortest", "longest", "squash"])
@pytest.mark.parametrize("size", [32, (32, 48), (48, 32)], ids=str)
def test_pixels_are_those_of_open_clips_transform(size, resize_mode, interpolation):
    height, width = (size, size) if isinstance(size, int) else size
    settings = {"size": size, "resize_mode": resize_mode, "interpolation": interpolation}
    mean, deviation = (0.1, 0.2, 0.3), (0.5, 0.6, 0.7)
    theirs = transform(**settings, mean=mean, std=deviation, fill_color=9)
    to = Fit(height=height, width=width, resize_mode=resize_mode, interpolation=interpolation, fill_colour=9)
    for shape in SIZES:
        expected = theirs(picture(*shape)).permute(1, 2, 0).numpy()
        pixels = fit(picture(*shape), to)
        assert pixels.dtype == np.uint8 and pixels.shape == (height, width, 3)
        found = (pixels.astype(np.float32) / 255 - np.float32(mean)) / np.float32(deviation)
        assert np.abs(found - expected).max() < 1e-6, shape


def test_the_centre_of_a_wide_picture_is_kept():
    wide = np.zeros((10, 30, 3), dtype=np.uint8)
    wide[:, 10:20] = 255
    assert (fit(Image.fromarray(wide), Fit(height=10, width=10)) == 255).all()


def test_what_is_too_small_is_filled_with_the_colour():
    tall = Image.fromarray(np.full((20, 10, 3), 200, dtype=np.uint8))
    pixels = fit(tall, Fit(height=20, width=20, resize_mode="longest", fill_colour=7))
    assert (pixels[:, 5:15] == 200).all() and (pixels[:, :5] == 7).all() and (pixels[:, 15:] == 7).all()
