"""A picture to the square that a model looks at, as open_clip's transform for evaluation does it.

The steps are those of torchvision on Pillow images, so the pixels are the same; only arithmetic on pixels,
scaling to [0, 1] and the normalisation by mean and deviation, is left to whoever runs the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

INTERPOLATIONS = {"bicubic": Image.Resampling.BICUBIC, "bilinear": Image.Resampling.BILINEAR}


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """Geometry of a model's input.

    resize_mode: shortest (the shorter side fits, the centre is cut out), longest (the longer side fits, the
    rest is filled) or squash (both sides fit).
    """

    height: int
    width: int
    resize_mode: str = "shortest"
    interpolation: str = "bicubic"
    fill_colour: int = 0

    @property
    def shorter_side(self) -> int:
        """Pixels below which a picture's shorter side must not be decoded."""
        return max(self.height, self.width)


def fit(picture: Image.Image, to: Fit) -> np.ndarray:
    """Pixels (height, width, 3) uint8 of an RGB picture."""
    resampling = INTERPOLATIONS[to.interpolation]
    if to.resize_mode == "squash":
        return np.asarray(_resized(picture, (to.width, to.height), resampling))
    width, height = picture.size
    if to.resize_mode == "shortest" and to.height == to.width:
        # The longer side is cut to whole pixels here and rounded below: each as in its model's code.
        side = to.height
        size = (side, int(side * height / width)) if width <= height else (int(side * width / height), side)
        return _centre(_resized(picture, size, resampling), to)
    ratios = (width / to.width, height / to.height)
    if to.resize_mode == "shortest":
        ratio, resampling = min(ratios), Image.Resampling.BICUBIC
    else:
        ratio = max(ratios)
    return _centre(_resized(picture, (round(width / ratio), round(height / ratio)), resampling), to)


def _resized(picture: Image.Image, size: tuple[int, int], resampling: Image.Resampling) -> Image.Image:
    # A long strip's shorter side may round to nothing.
    size = (max(1, size[0]), max(1, size[1]))
    return picture if picture.size == size else picture.resize(size, resampling)


def _centre(picture: Image.Image, to: Fit) -> np.ndarray:
    """The middle of a picture, filled up where it is smaller than the model's input."""
    width, height = picture.size
    if width < to.width or height < to.height:
        wide, high = max(width, to.width), max(height, to.height)
        filled = Image.new("RGB", (wide, high), (to.fill_colour,) * 3)
        filled.paste(picture, ((wide - width) // 2, (high - height) // 2))
        picture, width, height = filled, wide, high
    left, top = round((width - to.width) / 2), round((height - to.height) / 2)
    return np.asarray(picture.crop((left, top, left + to.width, top + to.height)))
