"""What people wrote when they tried the library for the first time: it works, or one sentence says what to write."""

import numpy as np
import pandas as pd
import pytest

import mprlib
from mprlib import InputError, Problem, Selection
from mprlib.selection import Status

LEVELS = np.eye(2)[[0, 0, 0, 1, 1, 1]]


def problem(**changes) -> Problem:
    given = {"scores": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], "labels": LEVELS, "reference": LEVELS, "k": 2}
    named = {"label_names": ["sex=woman", "sex=man"], "attributes": {"sex": [0, 1]}, "reference_size": 1e4}
    return Problem(**{**given, **named, **changes})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            lambda: mprlib.select(problem(), "mopr", rho=0.1),
            r"rho is no keyword: mopr's parameter rho is the third argument, as in select\(problem, 'mopr', 0.1\)",
        ),
        (
            lambda: mprlib.sweep(problem(), "mopr", rho=[0.2, 0.1]),
            r"or sweep\(problem, 'mopr', \[0.2\]\)",
        ),
        (
            lambda: mprlib.select(problem(), "fair_top_k", group=[1, 0, 1, 0, 1, 0]),
            "^neither the method nor the function class has a setting 'group': .*; did you mean 'protected'",
        ),
        (
            lambda: mprlib.select(problem(), "pbm", 0.5, groups=[1, 0, 1, 0, 1, 0]),
            "has a setting 'groups': .*; did you mean 'group_labels'",
        ),
        (
            lambda: mprlib.select(problem(), "mopr", 0.1, "tree", dept=2),
            "has a setting 'dept': .*; did you mean 'depth'",
        ),
        (lambda: mprlib.select(problem(), "top_k", 0.1), "top_k has no parameter: the value 0.1 does not apply, leave"),
        (lambda: mprlib.sweep(problem(), "top_k", [0.1, 0.2]), "top_k has no parameter: the value 0.1 does not apply"),
        (
            lambda: problem(attributes={"sex": ["woman", "man"]}),
            r"attributes\['sex'\] names the column 'woman': labels has .*; did you mean 'sex=woman'",
        ),
        (lambda: problem(attributes=["sex"]), "attributes is a list: a mapping .*Problem.from_frames"),
        (
            lambda: problem(labels=pd.DataFrame({"sex": ["m", "f", "m", "f", "m", "f"]}), label_names=None),
            "labels, column 'sex', holds text .*: numbers are expected, Problem.from_frames takes columns of levels",
        ),
        (
            lambda: mprlib.measure(problem(), failed()),
            "items is a selection without items: nothing to choose from",
        ),
    ],
)
def test_one_sentence_says_what_to_write(asked, message):
    with pytest.raises(InputError, match=message) as told:
        asked()
    assert "\n" not in str(told.value)


def failed() -> Selection:
    return Selection(
        items=np.array([], dtype=int), status=Status.FAILED, method="mopr", value=None, similarity=None, mpr=None,
        mpr_upper_bound=None, message="nothing to choose from",
    )  # fmt: skip


def test_a_selection_stands_for_its_items():
    ours = problem()
    selection = mprlib.select(ours, "top_k")
    assert mprlib.measure(ours, selection, "groups").value == mprlib.measure(ours, selection.items, "groups").value


@pytest.mark.parametrize("method", [name for name, kind in mprlib.METHODS.items() if kind.is_constrained])
def test_a_set_that_misses_rho_has_no_gap(method):
    ours = problem(k=3)
    found = mprlib.select(ours, method, 0.0, "saturated" if method == "mopr_qp" else "groups")
    assert found.status in ("infeasible", "not_found")
    assert found.gap is None


def test_methods_and_classes_print_their_settings():
    printed = str(mprlib.METHODS)
    assert "mmr: Mmr(spread='mean')" in printed
    assert "    parameter lambda: a number from 0 to 1" in printed
    assert "tree: Tree(depth=3, signed=False)" in str(mprlib.FUNCTION_CLASSES)
    assert list(mprlib.METHODS) == list(dict(mprlib.METHODS))
