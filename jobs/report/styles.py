"""Colour, marker and line of every curve, so that no two curves of a drawing look alike.

A method has a colour, a class that it constrained a marker, and what colours cannot tell apart any more
a pattern of the line. Colours are told apart under every common colour blindness, and markers in a print
without colours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..analysis.cases import method_order
from ..analysis.wording import is_missing

# Okabe and Ito's colours (and two of Tol's). Blue and vermilion are left to what is compared: selection A
# and B, before and after.
COLOURS = ("#000000", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#7A6A00", "#777777")
MARKERS = ("D", "o", "s", "^", "v", "P", "X", "<")
# Lengths of a broken line's first dash and of its gaps, in line widths; each further pattern adds a dot.
DASH, GAP, DOT = 5.0, 2.0, 1.0

Series = tuple[str, str | None]


class Style(NamedTuple):
    """A curve's colour, its marker, and the lengths of dashes and gaps in line widths, none for a whole line."""

    colour: str
    marker: str
    dashes: tuple[float, ...]

    def line(self) -> dict[str, Any]:
        """The arguments of a line in a drawing."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": (0, self.dashes) if self.dashes else "-",
        }


def series_of(method: str, target: Any) -> Series:
    """A curve's key: its method and the class that it constrained, if any."""
    return method, None if is_missing(target) else str(target)


def series_label(method: str, target: Any) -> str:
    """A method's name, and the class that it constrained."""
    return method if is_missing(target) else f"{method} ({target})"


def styles_of(series: Iterable[Series]) -> dict[Series, Style]:
    """Every curve's style, no two alike, in the report's order of methods.

    series: the curves of all drawings that should agree; classes in order of their first appearance.
    """
    known = list(dict.fromkeys(series))
    methods = sorted({method for method, _ in known}, key=method_order)
    # Curves of no class look like those of the first class, unless one method has both.
    has_both = any((method, None) in known for method, target in known if target is not None)
    classes = list(dict.fromkeys(target for _, target in known if target is not None))
    places: dict[str | None, int] = {name: place + has_both for place, name in enumerate(classes)} | {None: 0}
    rounds = math.ceil(len(methods) / len(COLOURS))
    found = {}
    for method, target in sorted(known, key=lambda one: method_order(one[0])):
        place, at = methods.index(method), places[target]
        # Methods of one colour have patterns of their own; a method's classes share one until markers run out.
        pattern = place // len(COLOURS) + rounds * (at // len(MARKERS))
        found[method, target] = Style(
            colour=COLOURS[place % len(COLOURS)],
            marker=MARKERS[(place + at) % len(MARKERS)],
            dashes=(DASH, GAP) + (DOT, GAP) * (pattern - 1) if pattern else (),
        )
    return found
