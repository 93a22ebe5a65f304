"""Pictures of four known colours, in every kind of file, and files that only look like pictures."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

from jobs.images import Reason

SIDE = 32
RED, GREEN, BLUE, WHITE = (250, 10, 10), (10, 240, 10), (10, 10, 240), (255, 255, 255)
# Upper left, upper right, lower left, lower right.
QUARTERS = (RED, GREEN, BLUE, WHITE)
# A lossy codec moves a colour by this much, inside a quarter.
LOSSY = 12
TURNED_BY_EXIF = 0x112


def quarters(side: int = SIDE) -> Image.Image:
    """The picture that all others are made of."""
    pixels = np.empty((side, side, 3), dtype=np.uint8)
    half = side // 2
    for number, colour in enumerate(QUARTERS):
        rows = slice(0, half) if number < 2 else slice(half, side)
        columns = slice(0, half) if number % 2 == 0 else slice(half, side)
        pixels[rows, columns] = colour
    return Image.fromarray(pixels)


def encoded(image: Image.Image, format_name: str, **options: Any) -> bytes:
    """The bytes of an image file."""
    stream = io.BytesIO()
    image.save(stream, format_name, **options)
    return stream.getvalue()


def seen(image: Image.Image) -> list[tuple[int, ...]]:
    """The colours in the middle of the four quarters."""
    width, height = image.size
    places = [(width // 4, height // 4), (3 * width // 4, height // 4)]
    places += [(width // 4, 3 * height // 4), (3 * width // 4, 3 * height // 4)]
    return [image.getpixel(place) for place in places]


def is_alike(found: list[tuple[int, ...]], expected: tuple[tuple[int, ...], ...]) -> bool:
    """Whether colours agree but for what a codec may lose."""
    return bool(np.abs(np.array(found) - np.array(expected)).max() <= LOSSY)


def bare_png(width: int, height: int) -> bytes:
    """A valid header of any size over next to no data."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def _turned() -> bytes:
    exif = Image.Exif()
    exif[TURNED_BY_EXIF] = 6  # the camera was held so that the picture must turn right by 90 degrees
    return encoded(quarters().transpose(Image.Transpose.ROTATE_90), "JPEG", quality=95, exif=exif)


def _transparent_white() -> bytes:
    """White is there as nothing at all, over black."""
    layers = np.asarray(quarters().convert("RGBA")).copy()
    layers[SIDE // 2 :, SIDE // 2 :] = 0
    return encoded(Image.fromarray(layers), "PNG")


def _palette_with_holes() -> bytes:
    image = quarters().convert("P", palette=Image.Palette.ADAPTIVE, colors=4)
    return encoded(image, "PNG", transparency=image.getpixel((SIDE - 1, SIDE - 1)))


def _animated(format_name: str) -> bytes:
    black = Image.new("RGB", (SIDE, SIDE))
    return encoded(quarters(), format_name, save_all=True, append_images=[black, black], quality=95)


# What a picture file may be and still show the four quarters.
ODD: dict[str, Callable[[], bytes]] = {
    "plain.png": lambda: encoded(quarters(), "PNG"),
    "plain.jpg": lambda: encoded(quarters(), "JPEG", quality=95),
    "a png.jpg": lambda: encoded(quarters(), "PNG"),
    "progressive.jpg": lambda: encoded(quarters(), "JPEG", quality=95, progressive=True),
    "cmyk.jpg": lambda: encoded(quarters().convert("CMYK"), "JPEG", quality=95),
    "cmyk.tif": lambda: encoded(quarters().convert("CMYK"), "TIFF"),
    "palette.gif": lambda: encoded(quarters().convert("P", palette=Image.Palette.ADAPTIVE), "GIF"),
    "palette with holes.png": _palette_with_holes,
    "animated.gif": lambda: _animated("GIF"),
    "animated.webp": lambda: _animated("WEBP"),
    "animated.png": lambda: _animated("PNG"),
    "turned.jpg": _turned,
    "transparent.png": _transparent_white,
    "still.webp": lambda: encoded(quarters(), "WEBP", quality=95),
    "picture.bmp": lambda: encoded(quarters(), "BMP"),
    "packed.tif": lambda: encoded(quarters(), "TIFF", compression="tiff_lzw"),
}


def _half(data: bytes) -> bytes:
    return data[: len(data) // 2]


# Files that hold no picture, and what is said of each.
BAD: dict[str, tuple[Callable[[], bytes], Reason]] = {
    "truncated.jpg": (lambda: _half(encoded(quarters(128), "JPEG")), Reason.TRUNCATED),
    "truncated.png": (lambda: _half(encoded(quarters(128), "PNG")), Reason.TRUNCATED),
    "truncated.gif": (lambda: _half(encoded(quarters(128), "GIF")), Reason.TRUNCATED),
    "header only.jpg": (lambda: encoded(quarters(), "JPEG")[:30], Reason.TRUNCATED),
    "empty.jpg": (lambda: b"", Reason.EMPTY),
    "text.jpg": (lambda: b"I am a text, and was renamed.\n" * 20, Reason.NOT_AN_IMAGE),
    "page.jpg": (lambda: b"<!doctype html><title>404 Not Found</title>", Reason.NOT_AN_IMAGE),
    "drawing.jpg": (lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n", Reason.NOT_AN_IMAGE),
    "bomb.png": (lambda: bare_png(30_000, 30_000), Reason.TOO_MANY_PIXELS),
    "small bomb.png": (lambda: bare_png(12_000, 10_000), Reason.TOO_MANY_PIXELS),
    "strip.png": (lambda: bare_png(1, 60_000), Reason.TOO_LONG),
}
