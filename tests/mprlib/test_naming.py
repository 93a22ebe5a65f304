"""What counts as a level, and names that differ where things differ."""

import numpy as np
import pytest

from mprlib import InputError, Problem, measure, select
from mprlib.cells import cells_of
from mprlib.encoding import Encoding
from mprlib.function_classes.groups import Groups, _intersections
from mprlib.level_names import joint_name, level_name
from mprlib.naming import AttributeLevels, cell_levels, cell_names


def problem(labels, reference=None, *, k=1, **fields) -> Problem:
    labels = np.asarray(labels, dtype=float)
    reference = labels if reference is None else reference
    return Problem(scores=np.arange(len(labels))[::-1], labels=labels, reference=reference, k=k, **fields)


def levels_of(given: Problem, attribute: str) -> dict[str, int]:
    """Items of the pool in each level."""
    levels, cells = cell_levels(given)[attribute], cells_of(given)
    counts = np.bincount(levels.codes, cells.pool_counts, len(levels.names))
    return {name: int(count) for name, count in zip(levels.names, counts) if count}


ASKED = pytest.mark.parametrize(
    "ask",
    [
        lambda given: measure(given, [0], "groups"),
        lambda given: select(given, "apportionment"),
        lambda given: select(given, "fair_top_k"),
        lambda given: select(given, "det_cons"),
        lambda given: select(given, "det_const_sort"),
        lambda given: select(given, "mopr", 0.5, "groups"),
    ],
    ids=["groups", "apportionment", "fair_top_k", "det_cons", "det_const_sort", "mopr"],
)


@ASKED
@pytest.mark.parametrize(
    ("labels", "attributes", "message"),
    [
        ([[0.3], [0.7], [0.3]], None, "^labels, column 'p', holds 0.[37]: groups need levels"),
        ([[1.0], [0.0], [1e-9]], None, "^labels, column 'p', holds 1e-09"),
        ([[37.5], [40.0], [41.0]], None, "bin continuous attributes"),
        ([[0.7, 0.3], [0.4, 0.6], [1.0, 0.0]], {"sex": [0, 1]}, "^labels, column 'p', holds 0.[47]: .* round prob"),
        (np.arange(30)[:, None], None, "^labels, attribute 'p', has 30 different values in 31 rows"),
    ],
)
def test_values_that_are_no_levels_are_refused(ask, labels, attributes, message):
    names = ["p", "q"][: len(labels[0])]
    reference = np.array([labels[0]])
    with pytest.raises(InputError, match=message):
        ask(problem(labels, reference, label_names=names, attributes=attributes))


@ASKED
@pytest.mark.parametrize(
    "labels",
    [
        [[0], [1], [1]],
        [[-1], [1], [1]],
        [[0], [3], [7]],
        np.arange(60)[:, None] % 30,
        np.eye(40),
        [[1, 0], [0, 1], [0, 0], [1, 1]],
        [[0, 0], [0, 0]],
    ],
    ids=["binary", "signs", "codes", "shared ages", "one-hot", "not one-hot", "zero"],
)
def test_whole_values_are_levels(ask, labels):
    ask(problem(labels, attributes={"a": range(len(labels[0]))}))


def test_fractions_are_measured_and_named_where_no_levels_are_needed():
    """Rows of a probe's probabilities, which differ although the same class is the likeliest."""
    given = problem([[0.7, 0.3], [0.6, 0.4]], attributes={"sex": [0, 1]}, label_names=["sex=f", "sex=m"])
    assert measure(given, [0], "saturated").value > 0
    assert sorted(cell_names(given, np.arange(2))) == ["sex=(0.6, 0.4)", "sex=(0.7, 0.3)"]


def test_rows_that_are_not_one_hot_are_levels_of_their_own():
    """Someone of two races is not someone of none."""
    rows = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0], [0, 0, 0]]
    given = problem(rows, attributes={"race": [0, 1, 2]}, label_names=["race=A", "race=B", "race=C"])
    assert levels_of(given, "race") == {"race=A": 1, "race=B": 1, "race=A + race=B": 1, "race=other": 2}


def test_an_attribute_that_has_a_level_called_other_keeps_it():
    rows = [[1, 0], [0, 1], [0, 0]]
    given = problem(rows, attributes={"race": [0, 1]}, label_names=["race=A", "race=other"])
    assert levels_of(given, "race") == {"race=A": 1, "race=other": 1, "race=other (2)": 1}


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([[-1, 1], [1, -1]], {"s=f": 1, "s=m": 1}),
        ([[1, 0], [1, 0]], {"s=f": 2}),
        ([[1, 0], [0, 1], [-1, -1]], {"s=(1, 0)": 1, "s=(0, 1)": 1, "s=(-1, -1)": 1}),
    ],
    ids=["signs", "a level nobody has", "effect coding"],
)
def test_other_codings_of_levels(rows, names):
    assert levels_of(problem(rows, attributes={"s": [0, 1]}, label_names=["s=f", "s=m"]), "s") == names


def test_codes_that_differ_in_the_seventh_digit_are_two_levels():
    given = problem([[1234567], [1234568], [1234568]], label_names=["zip"])
    assert levels_of(given, "zip") == {"zip=1234567": 1, "zip=1234568": 2}
    # Showing the first alone: it is a third of the reference.
    assert measure(given, [0], "groups").value == pytest.approx(2 / 3)


def test_groups_of_many_attributes_do_not_run_into_each_other():
    """70 attributes of two levels have more combinations than a 64-bit number counts."""
    labels = np.eye(70)
    levels = [AttributeLevels(codes=column.astype(int), names=("0", "1")) for column in labels.T]
    code, names = _intersections(levels)
    assert len(names) == len(np.unique(code)) == 70


def test_names_of_different_levels_differ():
    """Attribute a with the level b=c beside a=b with c; a level that reads as a level of another attribute."""
    levels = {"a": ("b=c", "x"), "a=b": ("c", "y"), "s": ("f & t=u", "f"), "t": ("u", "v"), "q": ('"', "&")}
    encoding = Encoding(levels=levels)
    assert len(set(encoding.names)) == 10
    rows = {"a": ["b=c", "x"], "a=b": ["c", "y"], "s": ["f & t=u", "f"], "t": ["v", "u"], "q": ['"', "&"]}
    labels = encoding.encode(rows)
    given = problem(labels, attributes=encoding.attributes, label_names=encoding.names)
    for most in (1, 2, 3, 5):
        names = Groups(max_attributes=most).bind(given).names
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ([("sex", "f"), ("age", "<50")], "sex=f & age=<50"),
        ([("sector", "hotels & food")], "sector=hotels & food"),
        ([("sex", "f"), ("sector", "hotels & food")], "sex=f & sector=hotels & food"),
        ([("age", "30=up")], "age=30=up"),
        ([("a=b", "c")], '"a=b"=c'),
        ([("s", "f & t=u")], '"s=f & t=u"'),
        ([("race & ethnicity", "a"), ("sex", "f")], '"race & ethnicity=a" & sex=f'),
    ],
)
def test_only_names_that_read_otherwise_are_quoted(parts, name):
    assert joint_name(level_name(*part) for part in parts) == name


def test_joint_names_of_random_levels_are_one_to_one():
    random = np.random.default_rng(0)
    words = ["a", "b", " & ", "=", '"', "a=b", " & a=", "\\"]
    seen: dict[str, tuple] = {}

    def text():
        return "".join(random.choice(words, int(random.integers(1, 4))))

    for _ in range(20_000):
        parts = tuple((text(), text()) for _ in range(int(random.integers(1, 3))))
        assert seen.setdefault(joint_name(level_name(*part) for part in parts), parts) == parts
