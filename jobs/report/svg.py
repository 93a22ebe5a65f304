"""Drawings with axes as SVG: texts stay texts, and the same data give the same bytes.

Units are points, so that sizes of type are what they are in print. Every mark is a path of its own place, which all
programs draw alike; what markers of SVG look like differs between them.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

# A mark's outline about its place, 4 points across.
MARKS = {
    "D": "m0-2.6l2.6 2.6-2.6 2.6-2.6-2.6z",
    "o": "m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0z",
    "s": "m-2-2h4v4h-4z",
    "^": "m0-2l2 4h-4z",
    "v": "m0 2l2-4h-4z",
    "<": "m-2 0l4-2v4z",
    "P": "m-.7-2h1.4v1.3h1.3v1.4h-1.3v1.3h-1.4v-1.3h-1.3v-1.4h1.3z",
    "X": "m-2-1l1-1 1 1 1-1 1 1-1 1 1 1-1 1-1-1-1 1-1-1 1-1z",
}
# Distances of ticks, as parts of a power of ten.
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MOST_TICKS = 5
# Font size of notes in a panel.
NOTE_SIZE = 9.0
# Width of a letter as a part of the type's size, on average over English text in a sans-serif.
LETTER = 0.55
# Of an axis' own length: what is beyond its end by less is rounding.
ROUNDING = 1e-9
GRID, FRAME = "#dddddd", "#222222"
# XML 1.0 has no way to write these.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """A rectangle of the drawing, in points from its upper left corner, and the values at its ends."""

    left: float
    top: float
    right: float
    bottom: float
    across: tuple[float, float]
    up: tuple[float, float]

    def x(self, value: float) -> float:
        """Where a value of the horizontal axis is."""
        low, high = self.across
        return self.left + (self.right - self.left) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """Where a value of the vertical axis is."""
        low, high = self.up
        return self.bottom - (self.bottom - self.top) * (value - low) / (high - low)

    def places(self, across: Iterable[float], up: Iterable[float]) -> list[str]:
        """Points of a path."""
        (x_low, x_high), (y_low, y_high) = self.across, self.up
        x_scale, y_scale = (self.right - self.left) / (x_high - x_low), (self.bottom - self.top) / (y_high - y_low)
        x_start, y_start = self.left - x_scale * x_low, self.bottom + y_scale * y_low
        return [f"{x_start + x_scale * x:.2f} {y_start - y_scale * y:.2f}" for x, y in zip(across, up)]

    def axes(self, across: str, up: str = "") -> Iterator[str]:
        """Grid, ticks, frame, and what the axes are."""
        for value, said in ticks(*self.across):
            x = f"{self.x(value):.2f}"
            yield f'<path d="M{x} {self.top}V{self.bottom}" stroke="{GRID}"/>'
            yield text(said, float(x), self.bottom + 12, anchor="middle")
        for value, said in ticks(*self.up):
            y = f"{self.y(value):.2f}"
            yield f'<path d="M{self.left} {y}H{self.right}" stroke="{GRID}"/>'
            yield text(said, self.left - 4, float(y) + 3.4, anchor="end")
        width, height = self.right - self.left, self.bottom - self.top
        yield (
            f'<rect x="{self.left}" y="{self.top}" width="{width:.2f}" height="{height:.2f}" fill="none" '
            f'stroke="{FRAME}"/>'
        )
        yield text(across, (self.left + self.right) / 2, self.bottom + 25, anchor="middle")
        if up:
            middle = (self.top + self.bottom) / 2
            yield text(up, self.left - 38, middle, anchor="middle", turned=True)


def ticks(low: float, high: float, most: int = MOST_TICKS) -> list[tuple[float, str]]:
    """Round values within an axis, at most that many steps apart, with what is written beside them."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * part for part in STEPS if power * part >= rough * (1 - ROUNDING))
    first = math.ceil((low - ROUNDING * (high - low)) / step)
    last = math.floor((high + ROUNDING * (high - low)) / step)
    digits = max(0, -math.floor(math.log10(step)) + (round(step / power, 1) == STEPS[2]))
    return [(place * step, f"{place * step:.{digits}f}") for place in range(first, last + 1)]


def text(said: str, x: float, y: float, *, size: float = 9.0, anchor: str = "start", turned: bool = False) -> str:
    """A line of type; turned: upwards."""
    turn = f' transform="rotate(-90 {x:.2f} {y:.2f})"' if turned else ""
    return f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size:g}" text-anchor="{anchor}"{turn}>{escaped(said)}</text>'


def wrapped(said: str, x: float, y: float, width: float) -> Iterator[str]:
    """A text in lines of at most that width, about a place."""
    lines: list[str] = []
    for word in said.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, NOTE_SIZE) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    for number, line in enumerate(lines):
        yield text(line, x, y + 1.2 * NOTE_SIZE * (number - (len(lines) - 1) / 2), size=NOTE_SIZE, anchor="middle")


def marks(places: Sequence[str], marker: str, colour: str, *, is_hollow: bool = False) -> str:
    """The same mark at each place."""
    outline = MARKS[marker]
    drawn = "".join([f"M{place}{outline}" for place in places])
    return f'<path d="{drawn}" ' + (f'fill="none" stroke="{colour}"/>' if is_hollow else f'fill="{colour}"/>')


def line(places: Sequence[str], colour: str, dashes: Sequence[float] = (), width: float = 0.8) -> str:
    """A line from place to place. dashes: lengths of its parts and gaps, as multiples of the width."""
    pattern = f' stroke-dasharray="{" ".join(f"{width * one:g}" for one in dashes)}"' if dashes else ""
    return f'<path d="M{"L".join(places)}" fill="none" stroke="{colour}" stroke-width="{width:g}"{pattern}/>'


def width_of(said: str, size: float) -> float:
    """About how long a line of type is."""
    return LETTER * size * len(said)


def drawing(width: float, height: float, parts: Iterable[str]) -> bytes:
    """A whole drawing on white, in UTF-8."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}pt" height="{height:g}pt" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="DejaVu Sans, Verdana, Helvetica, sans-serif" fill="{FRAME}" '
        f'stroke-width="0.8">\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
    )
    return f"{head}{chr(10).join(parts)}\n</svg>\n".encode("utf-8", "replace")


def escaped(said: str) -> str:
    """Anybody's text as text of a drawing."""
    return html.escape(FORBIDDEN.sub("\ufffd", said))
