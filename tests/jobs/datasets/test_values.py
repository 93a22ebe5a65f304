"""Every Arrow type as the text that a person would write, and as numbers."""

from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from jobs.datasets.values import BadValue, first_ambiguous_id, numbers_of, texts_of
from mprlib.frames.levels import coded

NOON = datetime(2020, 1, 31, 12, 0, 0, 250_000)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([1.0, 2.5, None, float("nan"), 0.1, -0.0]), ["1", "2.5", None, None, "0.1", "0"]),
        (pa.array([1e16, 1e-7]), ["10000000000000000", "1e-07"]),
        (pa.array([0.1, 3.0], pa.float32()), ["0.1", "3"]),
        (pa.array(np.array([0.1, 3.0], np.float16)), ["0.1", "3"]),
        (pa.array([2**53 + 1, None]), ["9007199254740993", None]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([Decimal("1.50"), Decimal("-0.05")]), ["1.5", "-0.05"]),
        (pa.array([Decimal("0.000000001")]), ["0.000000001"]),
        (pa.array([Decimal("2.00"), Decimal("100.00"), Decimal("-0.00"), None]), ["2", "100", "0", None]),
        (pa.array([date(2020, 1, 31)]), ["2020-01-31"]),
        (pa.array([datetime(2020, 1, 31), NOON]), ["2020-01-31", "2020-01-31 12:00:00.25"]),
        (pa.array([0], pa.timestamp("ns", "UTC")), ["1970-01-01 00:00:00Z"]),
        (pa.array([time(12, 30)]), ["12:30:00"]),
        (pa.array(["007", "", None]), ["007", "", None]),
        (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
        (pa.array(["a", "b"], pa.string_view()), ["a", "b"]),
        (pa.array(["a", "b", None]).dictionary_encode(), ["a", "b", None]),
        (pa.array([7, None, 7]).dictionary_encode(), ["7", None, "7"]),
        (pc.run_end_encode(pa.array(["a", "a", "b"])), ["a", "a", "b"]),
        (pa.array(["Grüße".encode(), None]), ["Grüße", None]),
        (pa.array([b"abc"], pa.binary(3)), ["abc"]),
        (pa.array([UUID(int=5).bytes], pa.uuid()), ["00000000-0000-0000-0000-000000000005"]),
        (pa.nulls(2), [None, None]),
        (pa.chunked_array([pa.array(["b"]).dictionary_encode(), pa.array(["a"]).dictionary_encode()]), ["b", "a"]),
    ],
    ids=lambda one: str(one.type) if isinstance(one, (pa.Array, pa.ChunkedArray)) else "",
)  # fmt: skip
def test_texts(values, texts):
    assert texts_of(values).to_pylist() == texts


@pytest.mark.parametrize(
    "values", [pa.array([[1]]), pa.array([{"a": 1}]), pa.array([(1, 2, 3)], pa.month_day_nano_interval())]
)
def test_what_has_no_text(values):
    with pytest.raises(TypeError):
        texts_of(values)


def test_bytes_that_are_no_text_have_a_row():
    with pytest.raises(BadValue) as caught:
        texts_of(pa.array([b"a", None, b"\xff"]))
    assert (caught.value.row, caught.value.value) == (2, b"\xff")


def test_numbers():
    found = numbers_of(pa.array(["1", " 2.5 ", "-3", "+4.", ".5", "1e3", "", " ", None]))
    np.testing.assert_array_equal(found, [1, 2.5, -3, 4, 0.5, 1000, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(numbers_of(pa.array([1, None])), [1, np.nan])
    np.testing.assert_array_equal(numbers_of(pa.array([Decimal("1.5")])), [1.5])
    np.testing.assert_array_equal(numbers_of(pa.array([3]).dictionary_encode()), [3])


@pytest.mark.parametrize("text", ["1,000", "1.000,5", "0x1F", "1_000", "NA", "nan", "inf", "12:30", "ten", "1 2", "٣"])
def test_texts_that_are_no_numbers_have_a_row(text):
    with pytest.raises(BadValue) as caught:
        numbers_of(pa.array(["1", None, text, "x"]))
    assert (caught.value.row, caught.value.value) == (2, text)


@pytest.mark.parametrize("values", [pa.array([True]), pa.array([date(2020, 1, 1)]), pa.array([[1.0]])])
def test_types_that_hold_no_numbers(values):
    with pytest.raises(TypeError):
        numbers_of(values)


@pytest.mark.parametrize(
    ("values", "row"),
    [
        (pa.array([1.0, 2.0**53 - 1]), None),
        (pa.array([1.0, 12345678901234567.0]), 1),
        (pa.array([2.0**24 - 1, 2.0**24], pa.float32()), 1),
        (pa.array([2**60]), None),
        (pa.array(["12345678901234567"]), None),
    ],
)
def test_floats_that_cannot_be_told_from_their_neighbours(values, row):
    found = first_ambiguous_id(values)
    assert (None if found is None else found.row) == row


@pytest.mark.parametrize(
    "column",
    [
        *(
            pa.array([Decimal("1.50"), Decimal("1.00"), Decimal("20.00"), Decimal("0.125")], kind)
            for kind in (pa.decimal128(10, 3), pa.decimal256(40, 7))
        ),
        pa.array([0.1, 2.0, 123456789.0, 1e-7, float("nan")], pa.float32()),
        pa.array([0.1, 2, 1e22, 1e-7, -0.0]),
        pa.array([True, False, None]),
        pa.array([date(2020, 1, 31), None]),
        *(
            pa.array([NOON, datetime(2020, 1, 31), NOON.replace(microsecond=0)], pa.timestamp(unit))
            for unit in ("ms", "us", "ns")
        ),
        pa.array([NOON, datetime(2020, 1, 31)], pa.timestamp("us", "UTC")),
        pa.array([NOON, datetime(2020, 7, 31)], pa.timestamp("us", "Europe/Berlin")),
        pa.array([time(12, 0, 0, 250000), time(1, 2), time(0)], pa.time64("us")),
        pa.array([b"a", "\u00fc".encode()]),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("library", ["pandas", "arrow"])
def test_a_column_s_levels_have_one_name_in_the_library_and_in_an_audit(column, library):
    given = column.to_pandas() if library == "pandas" else pa.table({"column": column})["column"]
    assert set(texts_of(column).to_pylist()) - {None} == set(coded("people", "column", given).levels)
