"""No two curves of a drawing look alike."""

import itertools

import numpy as np
import pytest

import mprlib
from jobs.report.exhibits.numbered import ALL_METHODS
from jobs.report.styles import COLOURS, styles_of


def looks(series) -> set:
    return set(styles_of(series).values())


def test_thirteen_methods_with_three_classes_each_look_different():
    series = list(itertools.product([f"method {number}" for number in range(13)], ["linear", "tree", "groups"]))
    assert len(looks(series)) == 39


def test_all_registered_methods_with_and_without_classes_look_different():
    series = list(itertools.product(mprlib.METHODS, [None, *mprlib.FUNCTION_CLASSES]))
    assert len(looks(series)) == len(series)


def test_a_method_keeps_its_colour_over_the_classes_that_it_constrains():
    styles = styles_of([("top_k", None), ("mopr", "linear"), ("mopr", "tree")])
    assert styles["mopr", "linear"].colour == styles["mopr", "tree"].colour != styles["top_k", None].colour
    assert styles["mopr", "linear"].marker != styles["mopr", "tree"].marker


def test_lines_are_whole_while_colours_last():
    styles = styles_of([(f"method {number}", None) for number in range(len(COLOURS) + 1)])
    assert [bool(style.dashes) for style in styles.values()] == [False] * len(COLOURS) + [True]


# Machado, Oliveira and Fernandes 2009, on linear RGB: what the three kinds of dichromats see.
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
# Differences of CIE L*a*b*: 2 is just seen side by side; thin lines and small marks need several times as much.
LEAST_DIFFERENCE = 10.0


def lab(colour: str, seen) -> np.ndarray:
    """A colour's L*a*b* (D65) as somebody sees it."""
    parts = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.asarray(seen) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("kind", SEEN)
def test_colours_are_told_apart_by_everybody(kind):
    seen = [lab(colour, SEEN[kind]) for colour in COLOURS]
    differences = [np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2)]
    assert min(differences) >= LEAST_DIFFERENCE


def test_a_print_without_colours_has_a_marker_or_a_line_for_each_method():
    """As many methods as a figure of the paper has."""
    series = [(name, "linear" if name.startswith("mopr") else None) for name in (*ALL_METHODS, "paths")]
    found = styles_of(series).values()
    assert len({(style.marker, style.dashes) for style in found}) == len(series)
