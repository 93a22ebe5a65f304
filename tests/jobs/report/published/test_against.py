"""The authors' layout of result files, read and drawn beside a run."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from jobs.cli import main
from jobs.errors import UsageError
from jobs.report.published import read_folder
from tests.jobs.report import synthetic

K = 20
NAME = "{data}_curation_{reference}_top10k_{method}_{k}_{kind}_{query}.pkl"


def write(folder, method, content, **parts):
    names = {"data": "celeba", "reference": "fairface", "k": K, "kind": "linearregression", "query": "truck_driver"}
    path = folder / NAME.format(**names | {"method": method} | parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(content))


def sweep(**more):
    """Two values: top-k with an MPR of 0.4 and a similarity of 0.3, and half the MPR for a tenth of similarity."""
    return {"MPR": [0.4, 0.2], "sims": [np.array([0.3 * K]), np.array([0.27 * K])], "indices": [np.ones(3)] * 2} | more


def named(table):
    """A made-up run's table under the names of the paper's data set and reference."""
    for column, value in (("dataset", "CelebA"), ("reference", "FairFace")):
        place = table.schema.get_field_index(column)
        if place >= 0:
            table = table.set_column(place, table.schema.field(place), [[value] * table.num_rows])
    return table


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "theirs"
    write(folder, "mmr", sweep(lambdas=np.linspace(0, 1, 2)))
    fractional = {"MPR": [0.01, 0.01], "sims": [9.0, 9.0], "rhos": np.array([0.2, 0.4])}
    rounded = {"rounded_MPR": [0.1, 0.4], "rounded_sims": [0.285 * K, 0.3 * K]}
    write(folder / "below", "mapr", fractional | rounded)
    write(folder, "debiasclip", {"MPR": 0.3, "sims": np.array([0.24 * K]), "selection": np.arange(3)})
    return folder


def test_values_are_fractions_of_top_k(files):
    found = read_folder(str(files)).curves
    assert set(found["dataset"]) == {"CelebA"} and set(found["reference"]) == {"FairFace"}
    assert set(found["query"]) == {"truck driver"} and set(found["function_class"]) == {"linear"}
    own = {method: rows[["mpr_fraction", "similarity_fraction"]].to_numpy() for method, rows in found.groupby("method")}
    assert own["top_k"] == pytest.approx(np.array([[1, 1]]))
    assert own["mmr"] == pytest.approx(np.array([[1, 1], [0.5, 0.9]]))
    # The sets that were shown, not the fractional points of the programme.
    assert own["mopr_paper"] == pytest.approx(np.array([[0.25, 0.95], [1, 1]]))
    assert own["debias_clip"] == pytest.approx(np.array([[0.75, 0.8]]))


def test_without_mmr_the_loosest_rho_is_top_k(tmp_path):
    rounded = {"rounded_MPR": [0.1, 0.5], "rounded_sims": [0.2 * K, 0.4 * K], "MPR": [0, 0], "sims": [0, 0]}
    # Three values of rho, of which one had no set.
    write(tmp_path, "lp", rounded | {"rhos": np.array([0.1, 0.2, 0.5])}, data="synthetic_utkface", kind="decisiontree")
    found = read_folder(str(tmp_path)).curves
    assert set(found["reference"]) == {"balanced"} and set(found["function_class"]) == {"tree_greedy"}
    assert found[found["method"] == "mopr_paper"]["mpr_fraction"].tolist() == [0.2, 1.0]
    assert found[found["method"] == "mopr_paper"]["parameter_value"].isna().all()


def test_what_is_left_out_is_said(files):
    write(files, "mapr_linear", sweep(), data="ipvslp_celeba")
    write(files, "pbm", {"MPR": [0.1]})
    write(files, "clipclip", sweep(MPR=[0.1, 0.2, 0.3]))
    found = read_folder(str(files))
    assert found.files == 3 and len(found.left_out) == 3
    reasons = " ".join(found.left_out.values())
    assert "another experiment" in reasons and "no 'sims'" in reasons and "3 values of MPR and 2" in reasons


def test_a_folder_without_their_files_is_bad_usage(tmp_path):
    with pytest.raises(UsageError, match="no such folder"):
        read_folder(str(tmp_path / "absent"))
    with pytest.raises(UsageError, match="holds no result file"):
        read_folder(str(tmp_path))


def test_theirs_are_drawn_beside_ours(files, tmp_path, capsys):
    ours = {name: named(table) for name, table in synthetic.tables(queries=1, points=4).items()}
    run = synthetic.write(tmp_path / "run", ours)
    output = tmp_path / "made"
    assert main(["exhibits", str(run), "--output", str(output), "--against", str(files)]) == 0
    assert "against" in capsys.readouterr().out
    rows = pd.read_csv(output / "against.csv")
    assert set(rows["source"]) == {"these runs", "the authors' files"}
    at_half = rows[np.isclose(rows["mpr_fraction"], 0.5)].set_index(["source", "method"])["mean"]
    assert at_half["the authors' files", "mmr"] == pytest.approx(0.9)
    assert at_half["the authors' files", "mopr_paper"] == pytest.approx(0.95)
    assert 0 < at_half["these runs", "mopr"] <= 1
    [drawing] = (output / "against").glob("*.svg")
    assert "the authors' files" in drawing.read_text()
