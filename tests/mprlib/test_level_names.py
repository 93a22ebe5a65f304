"""A level has one name, wherever it is written: in a column, as the key of a table, in a list of levels."""

from datetime import date, datetime, time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import mprlib
from mprlib.encoding import Encoding
from mprlib.frames.levels import coded, level_of

PAIRS = [
    (True, False),
    (np.True_, np.False_),
    (1, 2),
    (1.0, 2.0),
    (0.5, 1.5),
    (np.float32(0.1), np.float32(0.2)),
    (Decimal("1.50"), Decimal("2.00")),
    (None, "a"),
    (float("nan"), "a"),
    (pd.NA, "a"),
    (datetime.combine(date(2021, 1, 1), time()), datetime.combine(date(2022, 1, 1), time())),
    (date(2021, 1, 1), date(2022, 1, 1)),
    ("True", "1.0"),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{type(pair[0]).__name__}-{pair[0]}")
def test_shares_balance_and_confusions_are_of_the_levels_of_columns(pair):
    first, second = pair
    column = [first, first, second, second]
    references = [
        mprlib.Reference.from_shares({"g": {first: 0.5, second: 0.5}}),
        mprlib.Reference.from_shares({("g", "h"): {(first, "x"): 0.3, (second, "y"): 0.7}}),
        mprlib.Reference.balanced({"g": [first, second]}),
    ]
    levels = list(coded("people", "g", column).levels)
    for reference in (references[0], references[2]):
        assert set(levels) <= set(reference.encoding.levels["g"])
        found = mprlib.rerank([0.9, 0.8, 0.7, 0.6], {"g": column}, reference, k=2, rho=0.1)
        assert found.items.tolist() == [0, 2] and found.mpr == 0.0
    assert set(levels) <= set(references[1].encoding.levels["g"])
    confusion = mprlib.Confusion.from_table({first: {first: 0.9, second: 0.1}, second: {second: 1.0}})
    assert confusion.levels == references[0].encoding.levels["g"]
    problem = mprlib.Problem.from_frames(
        {"g": column, "score": [0.9, 0.8, 0.7, 0.6]}, references[0], score="score", attributes=["g"], k=2,
        label_error={"g": {first: {first: 0.9, second: 0.1}, second: {first: 0.1, second: 0.9}}},
    )  # fmt: skip
    assert mprlib.measure(problem, [0, 2], "groups").value == 0.0


def test_rows_of_levels_are_read_as_columns_are():
    encoding = Encoding(levels={"g": (True, False)})
    assert encoding.levels == {"g": ("true", "false")}
    assert encoding.codes({"g": [False, True]})[0].tolist() == [1, 0]
    assert level_of(None, "missing") == "missing"


def test_a_service_is_warned_of_levels_that_the_reference_lacks():
    reference = mprlib.Reference.from_shares({"g": {"a": 0.5, "b": 0.5}})
    with pytest.warns(mprlib.AssumptionWarning, match=r"no one in the reference has g=c \(1 of 3 candidates\)"):
        mprlib.rerank([0.9, 0.8, 0.7], {"g": ["a", "b", "c"]}, reference, k=2)


def test_an_item_without_an_id_is_named():
    labels = [[1, 0], [0, 1], [1, 0]]
    for ids in ([1, None, 2], [1.0, float("nan"), 2.0], pd.array([1, pd.NA, 2], dtype="Int64")):
        with pytest.raises(mprlib.InputError, match="item_ids has no value for item 1"):
            mprlib.Problem(scores=[3, 2, 1], labels=labels, reference=labels, k=1, item_ids=ids)
    frame = {"g": ["a", "b", "a"], "score": [3, 2, 1], "id": ["x", None, "y"]}
    with pytest.raises(mprlib.InputError, match="column 'id': item_ids has no value for item 1"):
        mprlib.Problem.from_frames(frame, frame, score="score", attributes=["g"], k=1, id="id")
