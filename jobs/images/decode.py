"""Bytes of a picture to upright RGB."""

from __future__ import annotations

import io
import struct
import warnings
import zlib

from PIL import Image, ImageOps, UnidentifiedImageError

from .errors import ImageError, Reason
from .limits import ImageLimits
from .modes import to_rgb

# Raster formats whose decoders only decode: no EPS or WMF, which start other programs.
FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "AVIF", "JPEG2000")
# What Pillow's decoders raise on bad input, beside OSError.
DECODER_ERRORS = (
    OSError,
    ValueError,
    TypeError,
    SyntaxError,
    IndexError,
    KeyError,
    AttributeError,
    EOFError,
    ArithmeticError,
    AssertionError,
    RuntimeError,
    MemoryError,
    struct.error,
    zlib.error,
)
# EXIF's tag; 1 is upright.
ORIENTATION = 0x112
# Words of Pillow's messages for data that end too early.
_ENDED_EARLY = ("truncated", "broken data stream", "unexpected end", "not enough", "eof", "incomplete", "no more data")
_QUIET = r"PIL\.|jobs\.images"


def decode(data: bytes, limits: ImageLimits, at_least: int | None = None) -> Image.Image:
    """The picture, RGB and upright by its EXIF orientation; an animation's first frame.

    16-bit values are scaled, not cut off; what is transparent shows white. at_least: the shorter side that
    is wanted; a JPEG may then be decoded at a half, a quarter or an eighth of its size, never below it.
    Raises:  ImageError with the reason; nothing else for any bytes.
    """
    if not data:
        raise ImageError(Reason.EMPTY)
    if len(data) > limits.max_megabytes * 1e6:
        raise ImageError(Reason.TOO_LARGE, f"{len(data):,} bytes")
    _silence_pillow()
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            _check_size(image.size, limits)
            if at_least is not None:
                image.draft(None, (at_least, at_least))
            image.load()
            picture = to_rgb(_upright(image))
            # What a file says beside its pixels (its orientation, a profile, a text) has been dealt with.
            picture.info = {}
            return picture
    except ImageError:
        raise
    except Image.DecompressionBombError:
        raise ImageError(Reason.TOO_MANY_PIXELS, _declared_size(data)) from None
    except UnidentifiedImageError:
        raise ImageError(Reason.NOT_AN_IMAGE, f"begins with {data[:12]!r}") from None
    except DECODER_ERRORS as error:
        message = str(error) or type(error).__name__
        is_early = any(words in message.lower() for words in _ENDED_EARLY) or isinstance(error, EOFError)
        raise ImageError(Reason.TRUNCATED if is_early else Reason.DAMAGED, message) from None


def _silence_pillow() -> None:
    """Pillow warns of odd metadata, which is nothing to a reader of pictures; other warnings stay."""
    if not any(
        entry[0] == "ignore" and entry[3] is not None and entry[3].pattern == _QUIET for entry in warnings.filters
    ):
        warnings.filterwarnings("ignore", module=_QUIET)


def _check_size(size: tuple[int, int], limits: ImageLimits) -> None:
    width, height = size
    shown = f"{width} x {height}"
    if width * height > limits.max_pixels:
        raise ImageError(Reason.TOO_MANY_PIXELS, shown)
    if min(size) < limits.min_side:
        raise ImageError(Reason.TOO_SMALL, shown)
    if max(size) > limits.max_elongation * min(size):
        raise ImageError(Reason.TOO_LONG, shown)


def _upright(image: Image.Image) -> Image.Image:
    """Turned as EXIF says; metadata that cannot be read turn nothing."""
    try:
        # Without a turn, Pillow's function would copy the picture.
        return image if image.getexif().get(ORIENTATION, 1) == 1 else ImageOps.exif_transpose(image)
    except DECODER_ERRORS:
        return image


def _declared_size(data: bytes) -> str:
    """Width and height where the header has them at a known place."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return f"{width} x {height}"
    return ""
