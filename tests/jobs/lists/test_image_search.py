"""The example that the README begins with: Kay et al.'s picture search, audited in seconds and without a model."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from jobs.analysis.curves import trade_offs
from jobs.analysis.joined_runs import load_together
from jobs.report.exhibits import EXHIBITS
from tests.data_files import data_file

ROOT = Path(__file__).resolve().parents[3]
KAY = data_file("kay_image_gender.parquet")
# What seconds of work are, on a machine that does other things too.
MOST_CPU_SECONDS = 15
RUN = """
import resource, sys
from jobs.cli import main
code = main(["run", sys.argv[1], "--output", sys.argv[2], "--json"])
used = resource.getrusage(resource.RUSAGE_SELF)
print(code, used.ru_utime + used.ru_stime, *(name for name in ("torch", "faiss", "ray") if name in sys.modules))
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The run's folder, and what it printed last."""
    folder = tmp_path_factory.mktemp("image search") / "run"
    command = [sys.executable, "-c", RUN, str(ROOT / "jobs/configs/image_search.yaml"), str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return folder, ended.stdout.splitlines()[-1].split()


@pytest.fixture(scope="module")
def occupations():
    """Shares by occupation, as the data have them."""
    return pq.read_table(KAY).to_pandas().groupby("search_term").first()


def test_it_takes_seconds_and_imports_no_model_and_no_cluster(finished):
    _, (code, seconds, *imported) = finished
    assert (code, imported) == ("0", [])
    assert float(seconds) < MOST_CPU_SECONDS


def test_shares_shown_and_targets_are_the_datas(finished, occupations):
    folder, _ = finished
    rows = pd.read_parquet(folder / "groups")
    rows = rows[(rows["method"] == "as_shown") & (rows["group"] == "gender=woman")]
    women = rows.sort_values("k").groupby("query").last()
    assert len(women) == 45
    assert (women["share_selected"] - occupations["search_p_women"]).abs().max() < 1e-9
    assert (women["share_reference"] - occupations["bls_p_women"]).abs().max() < 1e-9
    assert (women["k"] == occupations["search_n"]).all()


def test_the_exhibit_has_the_published_regression(finished):
    run = load_together([finished[0]])
    exhibit = EXHIBITS["shown_and_expected"](run, trade_offs(run.results))
    found = exhibit.table.set_index("group").loc["gender=woman"]
    assert found[["intercept", "intercept_error", "slope", "slope_error"]].round(3).tolist() == [
        -0.26,
        0.097,
        5.331,
        0.377,
    ]
    assert found.filter(like="shown_at_half").mul(100).round(1).tolist() == [43.5, 38.9, 48.2]
    assert (found["queries"], found["items"]) == (45, 3262)


def test_the_files_that_are_shipped_are_what_their_command_writes(finished, occupations, monkeypatch, tmp_path):
    from jobs.data import make_image_search

    monkeypatch.setattr(make_image_search, "FOLDER", tmp_path)
    make_image_search.main(str(KAY))
    for name in ("image_search.parquet", "image_search_targets.csv"):
        read = pd.read_parquet if name.endswith("parquet") else pd.read_csv
        pd.testing.assert_frame_equal(read(tmp_path / name), read(ROOT / "jobs/data" / name))


def test_the_manifest_says_how_it_was_read(finished):
    folder, _ = finished
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["encoder"] is None
    assert any("the discount of DCG" in note for note in manifest["notes"])
