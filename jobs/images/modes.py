"""Every kind of pixel to RGB, eight bits a channel."""

from __future__ import annotations

import numpy as np
from PIL import Image

from .errors import ImageError, Reason

BACKGROUND = (255, 255, 255)
# 16-bit values over this are 8-bit values: 65535 becomes 255.
SIXTEEN_TO_EIGHT = 257
WITH_ALPHA = {"RGBA", "LA", "PA", "La", "RGBa"}
PLAIN = {"1", "L", "P", "CMYK", "YCbCr", "HSV", "RGBX"}
SIXTEEN_BIT = {"I;16", "I;16L", "I;16B", "I;16N"}


def to_rgb(image: Image.Image) -> Image.Image:
    """The picture in mode RGB, alpha over white.

    Raises:  ImageError for pixels that no rule covers.
    """
    if image.mode in WITH_ALPHA or "transparency" in image.info:
        return _over_white(image)
    if image.mode == "RGB":
        return image.copy() if image.readonly else image
    if image.mode in PLAIN:
        return image.convert("RGB")
    if image.mode in SIXTEEN_BIT | {"I", "F"}:
        return _grey(np.asarray(image).astype(np.float64), image.mode)
    raise ImageError(Reason.UNSUPPORTED, f"mode {image.mode}")


def _over_white(image: Image.Image) -> Image.Image:
    if image.mode in SIXTEEN_BIT | {"I", "F"}:
        # One grey value means "transparent"; the rest is a plain 16-bit picture.
        values = np.asarray(image).astype(np.float64)
        grey = _grey(values, image.mode)
        grey.paste(BACKGROUND, mask=Image.fromarray(values == image.info["transparency"]))
        return grey
    if image.mode in ("La", "RGBa"):
        image = image.convert(image.mode.upper())
    layers = image.convert("RGBA")
    picture = Image.new("RGB", layers.size, BACKGROUND)
    picture.paste(layers, mask=layers.getchannel("A"))
    return picture


def _grey(values: np.ndarray, mode: str) -> Image.Image:
    """Grey values (h, w) of more than eight bits: integers up to 65535, or floats in [0, 1] or [0, 255]."""
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(values).all() or low < 0 or high > 65535:
        raise ImageError(Reason.UNSUPPORTED, f"mode {mode} with values from {low:g} to {high:g}")
    if mode != "F" or high > 255:
        values = values / SIXTEEN_TO_EIGHT
    elif high <= 1:
        values = values * 255
    return Image.fromarray(np.rint(values).astype(np.uint8)).convert("RGB")
