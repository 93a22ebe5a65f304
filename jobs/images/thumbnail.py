"""A picture small enough that a page holds hundreds."""

from __future__ import annotations

import io

from PIL import Image

# Faces are told apart at this size; a file takes about a kilobyte.
SIDE_PIXELS = 64
QUALITY = 45


def thumbnail(image: Image.Image, side_pixels: int = SIDE_PIXELS) -> bytes:
    """The picture as WebP, its longer side at most that many pixels; the same picture gives the same bytes.

    image: RGB, as `decode` returns it; it is left as it is.
    """
    small = image.copy()
    small.thumbnail((side_pixels, side_pixels))
    data = io.BytesIO()
    small.save(data, format="WEBP", quality=QUALITY, method=4)
    return data.getvalue()
