"""Columns of probabilities, and items that have a level which no item is likely to have: corrections stay."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from jobs.stages.likely import expected_confusion
from jobs.stages.solve import Solve
from mprlib import Confusion
from mprlib.label_errors.weakness import weak_confusion
from tests.jobs.conftest import people, settings, write_audit
from tests.jobs.units_in_process import run_plan

CORRECTED = ["mpr_corrected", "mpr_corrected_low", "mpr_corrected_high"]


def solved(folder: Path, levels: list[str | None]) -> pd.DataFrame:
    """Results of an audit in which the first people have these levels, by class."""
    table = pd.concat([people(seed) for seed in range(5)], ignore_index=True)
    likely = np.where(table["gender"] == "female", 0.9, 0.1)
    table = table.assign(person=[f"p{number}" for number in range(len(table))], p_female=likely, p_male=1 - likely)
    table.loc[range(len(levels)), "gender"] = levels
    columns = {"female": "p_female", "male": "p_male"}
    folder.mkdir()
    path = write_audit(
        folder,
        table,
        ["nurse"],
        dataset=settings()["dataset"] | {"attributes": {"gender": {"probabilities": columns}}},
        methods=["top_k"],
        function_classes=["linear", "saturated", "tree"],
    )
    plan, store = run_plan(path)
    tables = [store.read_table(Solve.file(unit.key, "results")) for unit in plan.solved]
    return pa.concat_tables(tables).to_pandas().set_index("function_class")


def test_items_of_another_level_take_no_correction_away(tmp_path):
    without, found = solved(tmp_path / "without", []), solved(tmp_path / "found", [None, "other"])
    assert not found["message"].any()
    for column in CORRECTED:
        assert found[column].to_numpy() == pytest.approx(without[column].to_numpy(), abs=0.02), column


@pytest.mark.parametrize(
    ("counts", "sizes"),
    [
        ([[540.0, 60.0, 0.0], [60.0, 540.0, 0.0], [0.0, 0.0, 0.0]], [600, 600, np.inf]),
        # Three items have the label "other", which their probabilities take for somebody else's.
        ([[540.0, 60.0, 2.0], [60.0, 540.0, 1.0], [0.2, 0.3, 0.1]], [602, 601, np.inf]),
        # All are of one level, some of which are labelled as the other one.
        ([[500.0, 70.0], [0.0, 0.0]], [570, np.inf]),
        ([[0.0, 0.0], [0.1, 9.0]], [np.inf, 9.1]),
    ],
)
def test_labels_of_a_level_that_no_item_is_likely_to_have_are_right(counts, sizes):
    found = expected_confusion(np.array(counts), np.array(counts))
    assert found.sizes == pytest.approx(sizes)
    known = np.isinf(sizes)
    assert np.array_equal(found.shares[known], np.eye(len(counts))[known])
    assert not weak_confusion("gender", found)


def test_one_item_is_said_in_the_singular():
    found = weak_confusion("gender", Confusion.of([[1, 0], [50, 50]]))
    assert "1 item of a true level to tell it by is too few" in found
    assert "2 items of a true level to tell it by are too few" in weak_confusion(
        "gender", Confusion.of([[2, 0], [2, 1]])
    )
