"""A process that reads, decodes and fits pictures: `python -m jobs.images.decode_worker`, over its two pipes.

It says READY once. Then each line on its standard input is a request in JSON: root, limits, fit, is_fast,
images. Each image is answered, in order, by a header of HEADER and a body: pixels, or a reason and a detail
in JSON. A process of its own, so that a picture on which native code crashes or hangs costs one item.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import sys
from typing import Any, BinaryIO

from .decode import decode
from .errors import ImageError
from .fit import Fit, fit
from .limits import ImageLimits
from .reading import read_image

READY = b"decoder ready\n"
# Status, then bytes of the body.
HEADER = struct.Struct("<BI")
PIXELS, FAULT = 0, 1
# A JPEG decoded at a fraction of its size keeps at least this many times the pixels of the model's side,
# so that the last step down is still made by the model's own interpolation.
DECODED_SIDES = 2


def pixels_of(root: str, locator: str | None, limits: ImageLimits, to: Fit, is_fast: bool) -> memoryview:
    """Pixels of one picture, rows first.

    Raises:  ImageError with the reason.
    """
    at_least = DECODED_SIDES * to.shorter_side if is_fast else None
    pixels: Any = fit(decode(read_image(root, locator, limits), limits, at_least), to)
    return memoryview(pixels).cast("B")


def answer(request: dict[str, Any], output: BinaryIO) -> None:
    """Write what came of each image of a request."""
    limits, to = ImageLimits(**request["limits"]), Fit(**request["fit"])
    for locator in request["locators"]:
        body: memoryview | bytes
        try:
            status, body = PIXELS, pixels_of(request["root"], locator, limits, to, request["is_fast"])
        except ImageError as error:
            status, body = FAULT, json.dumps([error.reason.value, error.detail]).encode()
        output.write(HEADER.pack(status, len(body)))
        output.write(body)
        output.flush()


def main() -> None:
    """Answer requests until the other end closes the pipe."""
    # Whoever holds the pipe decides when this ends: an interrupt from the keyboard reaches it first.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a library prints must not come between answers.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    output.write(READY)
    output.flush()
    for line in sys.stdin.buffer:
        answer(json.loads(line), output)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
