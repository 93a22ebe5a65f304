"""Files of every kind become the right picture or the right reason."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from PIL import Image

from jobs.images import ImageError, ImageLimits, Reason, decode
from tests.jobs.images.pictures import BAD, ODD, QUARTERS, bare_png, encoded, is_alike, quarters, seen

LIMITS = ImageLimits()


def reason_of(data: bytes, limits: ImageLimits = LIMITS) -> Reason:
    with pytest.raises(ImageError) as caught:
        decode(data, limits)
    return caught.value.reason


@pytest.mark.parametrize("name", ODD)
def test_every_kind_of_file_shows_the_same_picture(name):
    image = decode(ODD[name](), LIMITS)
    assert image.mode == "RGB"
    assert is_alike(seen(image), QUARTERS)


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_picture_has_its_reason(name):
    data, reason = BAD[name]
    assert reason_of(data()) == reason


@pytest.mark.parametrize("format_name", ["PNG", "TIFF"])
def test_sixteen_bits_are_scaled_not_cut_off(format_name):
    values = np.array([[0, 257, 32896, 65535]] * 4, dtype=np.uint16)
    image = decode(encoded(Image.fromarray(values), format_name), LIMITS)
    assert [image.getpixel((column, 0)) for column in range(4)] == [(0,) * 3, (1,) * 3, (128,) * 3, (255,) * 3]


@pytest.mark.parametrize(
    ("values", "expected"), [([0.0, 0.5, 1.0], [0, 128, 255]), ([0.0, 100.0, 255.0], [0, 100, 255])]
)
def test_floats_are_shares_or_bytes(values, expected):
    data = encoded(Image.fromarray(np.array([values] * 3, dtype=np.float32)), "TIFF")
    image = decode(data, LIMITS)
    assert [image.getpixel((column, 0))[0] for column in range(3)] == expected


def test_numbers_that_no_rule_covers():
    data = encoded(Image.fromarray(np.full((4, 4), -5.0, dtype=np.float32)), "TIFF")
    assert reason_of(data) == Reason.UNSUPPORTED


def test_half_transparent_is_half_white():
    layer = Image.new("RGBA", (8, 8), (0, 0, 0, 128))
    assert decode(encoded(layer, "PNG"), LIMITS).getpixel((4, 4)) == (127,) * 3


@pytest.mark.parametrize("orientation", range(1, 9))
def test_upright_whatever_the_camera_did(orientation):
    """Of the eight orientations, each undoes what it stands for: the first row and column say which."""
    pixels = np.zeros((16, 32, 3), dtype=np.uint8)
    pixels[:8, :16] = 255  # upper left of the stored picture
    exif = Image.Exif()
    exif[0x112] = orientation
    image = decode(encoded(Image.fromarray(pixels), "PNG", exif=exif), LIMITS)
    width, height = image.size
    assert (width, height) == ((32, 16) if orientation < 5 else (16, 32))
    bright = {1: (0, 0), 2: (1, 0), 3: (1, 1), 4: (0, 1), 5: (0, 0), 6: (1, 0), 7: (1, 1), 8: (0, 1)}[orientation]
    assert image.getpixel((bright[0] * (width - 1), bright[1] * (height - 1))) == (255,) * 3
    assert image.getpixel(((1 - bright[0]) * (width - 1), (1 - bright[1]) * (height - 1))) == (0,) * 3


def test_one_pixel_is_a_picture_unless_the_settings_want_more():
    data = encoded(Image.new("RGB", (1, 1), (9, 8, 7)), "PNG")
    assert decode(data, LIMITS).getpixel((0, 0)) == (9, 8, 7)
    assert reason_of(data, ImageLimits(min_side=2)) == Reason.TOO_SMALL


def test_a_bomb_is_not_decoded():
    tracemalloc.start()
    assert reason_of(bare_png(30_000, 30_000)) == Reason.TOO_MANY_PIXELS
    assert reason_of(bare_png(13_000, 13_000)) == Reason.TOO_MANY_PIXELS
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 1_000_000


def test_size_of_the_file_is_limited():
    assert reason_of(bytes(2000), ImageLimits(max_megabytes=0.001)) == Reason.TOO_LARGE


def test_a_jpeg_is_decoded_no_larger_than_needed_and_never_below():
    data = encoded(quarters(512), "JPEG", quality=95)
    for wanted, side in [(64, 64), (65, 128), (400, 512), (900, 512)]:
        image = decode(data, LIMITS, at_least=wanted)
        assert image.size == (side, side)
        assert is_alike(seen(image), QUARTERS)


def test_odd_metadata_is_no_warning():
    exif = b"Exif\0\0II*\0\x08\0\0\0\xff\xff" + b"\x12\x01\x03\0\xff\xff\xff\xff\0\0\0\0"
    data = encoded(quarters(), "JPEG", quality=95, exif=exif)
    with warnings.catch_warnings(record=True) as leaked:
        warnings.simplefilter("always")
        assert is_alike(seen(decode(data, LIMITS)), QUARTERS)
    assert leaked == []


@pytest.mark.parametrize("format_name", ["JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "AVIF", "JPEG2000"])
def test_damage_anywhere_is_a_reason_or_a_picture(format_name):
    """Bytes overwritten and cut at random places: never another exception."""
    whole, generator = encoded(quarters(64), format_name), np.random.default_rng(5)
    for _ in range(150):
        data = bytearray(whole)
        for place in generator.integers(0, len(data), 3):
            data[place] = generator.integers(0, 256)
        cut = int(generator.integers(1, len(data) + 1))
        try:
            assert decode(bytes(data[:cut]), ImageLimits(max_pixels=1_000_000)).mode == "RGB"
        except ImageError as error:
            assert error.reason in Reason


def test_an_error_travels_between_processes():
    error = pickle.loads(pickle.dumps(ImageError(Reason.DAMAGED, "line\nbreak")))
    assert (error.reason, error.detail, str(error)) == (Reason.DAMAGED, "line break", "damaged: line break")
