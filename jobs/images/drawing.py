"""Drawings of few colours as small PNG files."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image

# Lines of a few colours on white, with their smooth edges: with a palette the file is a third, and encoded in half
# the time.
COLOURS = 128


def drawing_png(pixels: Any, size: tuple[int, int], dots_per_inch: int) -> bytes:
    """The PNG of a drawing. pixels: a buffer of red, green, blue and alpha, row by row; size: width and height."""
    picture = Image.frombuffer("RGBA", size, pixels).convert("RGB")
    flat = picture.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    flat.save(buffer, format="png", dpi=(dots_per_inch, dots_per_inch))
    return buffer.getvalue()
