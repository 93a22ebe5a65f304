"""Whatever stands in the place of an argument is answered or refused in a sentence: no other exception, no warning."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import mprlib
from mprlib import LabelError, MprError, Problem, Reference

pytestmark = [
    pytest.mark.filterwarnings("error::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::mprlib.AssumptionWarning"),
]

HUGE = 10**400
# So many digits that Python does not write them out.
UNWRITABLE = 10**5000
WRONG = [
    None, True, 3, -1, 1.5, float("nan"), HUGE, UNWRITABLE,
    Fraction(HUGE, 3), Decimal("sNaN"), 2j, "", "x", b"x", [],
    [1],
    [[1]], [[1], [1, 2]], {}, {1: 2}, {"s": 1}, {"s": None}, {"s": []}, {"s": "wm"}, {"s": [["w"]] * 4},
    {"s": np.array(1)},
    object(), type, len, {1, 2}, np.array(1), np.array([1, 2]), np.zeros((2, 2, 2)), np.float64(2), (1, 2, 3, 4),
    [None] * 4, ["a"] * 4, [HUGE] * 4, [UNWRITABLE] * 4, [Decimal("sNaN")] * 4, [1e308] * 4, [-1e308, 1e308, 0, 0],
]  # fmt: skip

GIVEN = {
    "scores": [0.9, 0.8, 0.7, 0.6], "labels": [[1, 0], [1, 0], [0, 1], [0, 1]], "reference": [[1, 0], [0, 1]], "k": 2,
    "attributes": {"s": [0, 1]},
}  # fmt: skip
PROBLEM = Problem(**GIVEN)
LEVELS = {"s": ["w", "w", "m", "m"]}
PEOPLE = Reference.from_shares({"s": {"w": 0.5, "m": 0.5}})


def of_problem(name):
    return lambda value: mprlib.measure(Problem(**{**GIVEN, name: value}), [0, 1])


def of_rerank(name):
    given = {"scores": GIVEN["scores"], "labels": LEVELS, "reference": PEOPLE, "k": 2}
    return lambda value: mprlib.rerank(**{**given, name: value})


def of_frames(name):
    given = {
        "candidates": {**LEVELS, "x": GIVEN["scores"]}, "reference": {"s": ["w", "m"]}, "score": "x",
        "attributes": ["s"],
        "k": 2,
    }  # fmt: skip
    return lambda value: Problem.from_frames(**{**given, name: value})


def of_frame(name):
    return lambda value: Reference.from_frame(**{"frame": LEVELS, "attributes": ["s"], name: value})


def of_label_error(part, is_of_attribute):
    def call(value):
        return Problem(**GIVEN, label_error=LabelError(**{part: {"s": value} if is_of_attribute else value}))

    return call


PARTS = ("items", "reference", "probabilities", "known")
CALLS = {
    **{f"Problem {name}": of_problem(name) for name in (*GIVEN, "reference_weights", "embeddings", "query", "item_ids",
       "label_names", "reference_size", "label_error")},
    **{f"rerank {name}": of_rerank(name) for name in ("scores", "labels", "reference", "k", "rho", "ids", "attention")},
    **{f"from_frames {name}": of_frames(name) for name in ("candidates", "reference", "score", "attributes", "k",
    "bins",
       "weight", "id")},
    **{f"from_frame {name}": of_frame(name) for name in ("frame", "attributes", "weight", "bins")},
    **{f"LabelError {part}": of_label_error(part, False) for part in PARTS},
    **{f"LabelError {part} of an attribute": of_label_error(part, True) for part in PARTS},
    **{f"Reference.of {name}": lambda value, name=name: Reference.of(**{"labels": [[1, 0], [0, 1]], name: value})
       for name in ("labels", "weights", "size", "label_names", "attributes")},
    "from_shares": Reference.from_shares,
    "merged": Reference.merged,
    "balanced": Reference.balanced,
    "Confusion.of": mprlib.Confusion.of,
    "items": lambda value: mprlib.measure(PROBLEM, value),
    "attention": lambda value: mprlib.measure(PROBLEM, [0, 1], attention=value),
    "value": lambda value: mprlib.select(PROBLEM, "mopr", value),
    "rho of an order": lambda value: mprlib.fair_order(PROBLEM, [0, 1], value, first=2),
    "kind of a frame": lambda value: mprlib.measure(PROBLEM, [0, 1]).to_frame(value),
    "levels of a ranking": lambda value: mprlib.metrics.ranking(value, {"a": 0.5, "b": 0.5}),
    "target of a ranking": lambda value: mprlib.metrics.ranking(["a"], value),
    "candidates of a ranking": lambda value: mprlib.metrics.ranking(["a"], {"a": 1.0}, value),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_every_value_is_answered_or_refused(call):
    wrong = []
    for value in WRONG:
        try:
            call(value)
        except MprError as error:
            assert str(error) and "\n" not in str(error)
        except Exception as error:  # noqa: BLE001 (whatever is raised is what is asked)
            wrong.append((type(value).__name__, type(error).__name__, str(error)[:80]))
    assert not wrong


@pytest.mark.parametrize(
    ("call", "value", "message"),
    [
        ("Problem scores", [HUGE] * 4, "scores holds a number that does not fit into 64 bits"),
        ("Problem item_ids", 1.5, "item_ids has shape (), (4,) expected"),
        ("Problem label_names", 3, "label_names is 3: a list of names is expected"),
        ("Problem attributes", np.array([1, 2]), "attributes is a ndarray: a mapping of names to columns"),
        ("Problem k", UNWRITABLE, "k is a very large int: it must lie between 1 and"),
        ("rerank labels", {"s": None}, "labels, column 's', is None: a list of values, one for each row"),
        ("from_frame weight", 3, "frame has no column '3': it has 's'"),
        ("Reference.of attributes", {"s": 1}, "attributes['s'] is 1: a list of names is expected"),
        ("merged", "x", "parts holds 'x': a list of references is expected"),
        ("balanced", None, "levels is None: a mapping of attributes to lists of names is expected"),
        ("LabelError items of an attribute", None, "label_error, items: 's' has a NoneType, a Confusion is expected"),
        ("LabelError known", 3, "label_error, known, is a int: a mapping of attributes is expected"),
        ("LabelError known of an attribute", 1, "known levels of 's', have shape (): one position for each item"),
        ("kind of a frame", np.array([1, 2]), "kind is array([1, 2]): one of pandas, polars, pyarrow is expected"),
        ("value", HUGE, "mopr's rho is 1000000"),
        ("levels of a ranking", None, "a list of levels and a mapping"),
        ("levels of a ranking", [[1]], "levels holds [1], which target does not name"),
    ],
    ids=lambda given: "" if isinstance(given, int) else None,
)  # fmt: skip
def test_a_sentence_names_the_argument_and_what_came(call, value, message):
    with pytest.raises(mprlib.InputError) as error:
        CALLS[call](value)
    assert message in str(error.value)
