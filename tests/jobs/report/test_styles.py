"""No two curves of a drawing look alike."""

import itertools

import mprlib
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
