"""What goes into the page's blocks comes out again."""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np
import pyarrow as pa
import pytest

from jobs.analysis.cases import repaired_rows
from jobs.analysis.curves import trade_offs, vertical_floors
from jobs.analysis.load import Chosen, Run, from_tables
from jobs.report import embed, group_digits, packed
from tests.jobs.report import synthetic


def undigits(text: str, width: int) -> list[int]:
    alphabet = packed.DIGITS.tobytes().decode()
    values = [alphabet.index(digit) for digit in text]
    rows = [values[at : at + width] for at in range(0, len(values), width)]
    return [sum(value * 64 ** (width - 1 - place) for place, value in enumerate(row)) for row in rows]


@pytest.mark.parametrize(("values", "width", "text"), [([0, 1, 63], 1, "01_"), ([64, 4095], 2, "10__"), ([], 2, "")])
def test_digits_by_hand(values: list[int], width: int, text: str):
    assert packed.digits(values, width) == text
    assert undigits(text, width) == values


def test_a_block_unpacks_to_the_same_value():
    value = {"text": "</script>\u2028\U0001f600\"'", "none": None, "numbers": [1, 0.5]}
    assert json.loads(zlib.decompress(base64.b64decode(packed.pack(value)))) == value
    assert "<" not in packed.pack(value)


def blocks_of(tables: dict) -> tuple[list[dict], Run]:
    """The blocks with the ids and names that their numbers are."""
    run = from_tables(**tables)
    curves = trade_offs(run.results)
    blocks = embed.case_blocks(run, curves, repaired_rows(run.results), vertical_floors(curves))
    return [block.about | {"items": block.items, "groups": block.groups} for block in blocks], run


def test_items_and_shares_of_every_selection_come_back():
    tables = synthetic.tables(queries=2, points=5, k=20)
    blocks, _ = blocks_of(tables)
    rows = tables["results"].to_pylist()
    shares = {
        (row["query"], row["method"], row["parameter_value"], row["group"]): row["share_selected"]
        for row in tables["groups"].to_pylist()
    }
    seen = 0
    for block in blocks:
        for series in block["series"]:
            for number in series["points"]:
                point = block["points"][number]
                same = [row for row in rows if (row["query"], row["method"]) == (block["query"], series["method"])]
                value = pytest.approx(point["v"], rel=1e-5) if "v" in point else None
                row = next(row for row in same if row["parameter_value"] == value)
                local = undigits(point["i"], block["width"])
                assert [block["items"][item] for item in local] == row["item_ids"]
                counts = undigits(block["shares"][number], block["group_width"])
                for group, counted in zip(block["groups"], counts):
                    key = (row["query"], row["method"], row["parameter_value"], group)
                    assert counted / block["unit"] == pytest.approx(shares[key])
                seen += 1
    assert seen == 2 * (1 + 5 + 5)


def test_who_is_first_comes_back_for_every_selection():
    tables = synthetic.tables(queries=2, points=3, k=20)
    blocks, _ = blocks_of(tables)
    given = {
        (row["query"], row["method"], row["parameter_value"], row["group"]): row for row in tables["groups"].to_pylist()
    }
    for block in blocks:
        for series in block["series"]:
            for number in series["points"]:
                value = block["points"][number].get("v")
                for first in (5, 10):
                    counts = undigits(block["first"][str(first)][number], 1)
                    for group, counted in zip(block["groups"], counts):
                        same = [
                            row[f"share_first_{first}"]
                            for key, row in given.items()
                            if key[:2] == (block["query"], series["method"]) and key[3] == group
                            and (value is None or key[2] == pytest.approx(value, rel=1e-5))
                        ]  # fmt: skip
                        assert counted / first == pytest.approx(same[0])


def test_exposure_comes_back_for_every_selection():
    tables = synthetic.tables(queries=2, points=3, k=20)
    groups = tables["groups"].to_pandas()
    groups["exposure"] = np.random.default_rng(0).random(len(groups))
    blocks, _ = blocks_of(tables | {"groups": tables["groups"].from_pandas(groups, schema=tables["groups"].schema)})
    given = groups.set_index(["query", "method", "group"]).sort_index()["exposure"]
    for block in blocks:
        assert len(block["exposure"]) == len(block["points"])
        for series in block["series"]:
            for number in series["points"]:
                shares = np.array(undigits(block["exposure"][number], 2)) / block["exposure_unit"]
                for group, share in zip(block["groups"], shares):
                    # Whichever of the method's points it is.
                    same = np.atleast_1d(given[block["query"], series["method"], group])
                    assert np.abs(same - share).min() <= 0.5 / block["exposure_unit"] + 1e-12


def test_a_run_that_does_not_know_who_is_first_says_nothing_of_them():
    tables = synthetic.tables(queries=1, points=2)
    groups = tables["groups"].to_pandas()
    groups["share_first_5"] = None
    blocks, _ = blocks_of(tables | {"groups": tables["groups"].from_pandas(groups, schema=tables["groups"].schema)})
    assert set(blocks[0]["first"]["5"]) == {""}


def test_shares_that_are_no_counts_keep_three_digits():
    tables = synthetic.tables(queries=1, points=3)
    groups = tables["groups"].to_pandas()
    groups["share_selected"] = groups["share_selected"] * 0.9871
    blocks, _ = blocks_of(tables | {"groups": tables["groups"].from_pandas(groups, schema=tables["groups"].schema)})
    assert blocks[0]["unit"] == group_digits.FINEST_SHARE
    first = undigits(blocks[0]["shares"][0], blocks[0]["group_width"])[0] / blocks[0]["unit"]
    assert first == pytest.approx(groups["share_selected"].iloc[0], abs=4e-6)


def test_the_default_is_the_repaired_selection():
    blocks, run = blocks_of(synthetic.tables(queries=1, points=5))
    assert blocks[0]["points"][blocks[0]["default"]]["v"] == pytest.approx(
        repaired_rows(run.results)["parameter_value"].iloc[0], rel=1e-5
    )


def test_shares_by_the_true_labels_come_back_where_labels_may_be_wrong():
    tables = synthetic.tables(queries=1, points=2, k=20)
    assert "corrected" not in blocks_of(tables)[0][0]
    groups = tables["groups"].to_pandas()
    groups["share_corrected"], groups["share_reference_corrected"] = groups["share_selected"] / 2, 0.25
    groups["share_corrected_low"], groups["share_corrected_high"] = 0.0, 1.0
    blocks, _ = blocks_of(tables | {"groups": tables["groups"].from_pandas(groups, schema=tables["groups"].schema)})
    block = blocks[0]
    assert set(block["corrected_reference"]) == {0.25}
    for at, text in enumerate(block["shares"]):
        shown = np.array(undigits(text, block["group_width"])) / block["unit"]
        ends = [undigits(lines[at], block["corrected_width"]) for lines in block["corrected"]]
        assert np.array(ends[0]) / block["corrected_unit"] == pytest.approx(shown / 2, abs=1e-3)
        assert set(ends[1]) == {0} and set(ends[2]) == {block["corrected_unit"]}


def test_a_run_without_groups_still_has_blocks():
    tables = synthetic.tables(queries=1, points=2)
    blocks, _ = blocks_of(tables | {"groups": tables["groups"].slice(0, 0)})
    assert blocks[0]["groups"] == [] and blocks[0]["shares"] == [""] * len(blocks[0]["points"])


def test_a_null_list_has_no_items():
    chosen = Chosen.of(pa.chunked_array([[["b", "a"], None, []], [["a"]]]))
    assert [[chosen.ids[code] for code in chosen.row(row)] for row in range(4)] == [["b", "a"], [], [], ["a"]]
    assert np.all(chosen.offsets == [0, 2, 2, 2, 3])
