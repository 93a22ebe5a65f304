"""The paper's experiments as they ship, on miniatures of all four data sets and a tiny model."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from jobs.cli import main
from jobs.config.file import read_config
from jobs.encoders.prompt_files import write_tokens
from jobs.report.exhibits import EXHIBITS, NUMBERED
from jobs.report.exhibits.numbered import BALANCED, FAIRFACE
from jobs.report.exhibits.numbered import POOL as POOL_REFERENCE
from tests.jobs.datasets import layouts
from tests.pages import commands
from tests.tiny_clip import CONFIGURATION, write_tiny_clip

pytestmark = pytest.mark.system
CONFIGS = Path(__file__).resolve().parents[2] / "jobs" / "configs"
# Pools as large as the smallest of them: 50 items of which one can still choose.
DATA_SETS = {"celeba": 90, "utkface": 60, "fairface": 189, "occupations": 60}
POOL, POINTS = 56, 2
NAMES = ("paper", "debias_clip", "occupations")
# Occupations' miniature has three of the forty-five, which its list asks for in its own order.
QUERIES = {"occupations": "{list: [nurse, chef]}"}
# The classes that numbers show: every further one is some dozen drawings more.
CLASSES = {
    "paper": "[linear, linear_regression, tree, tree_greedy, mlp, mlp_trained]",
    "debias_clip": "[linear]",
    "occupations": "[linear, tree, mlp]",
}
PUBLISHED = "celeba_curation_fairface_top10k_mmr_50_linearregression_architect.pkl"
TINY = "{kind: open_clip, model: %s.json, pretrained: %s.safetensors, batch: 16}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Configurations beside their data, as their first lines ask for."""
    folder = tmp_path_factory.mktemp("paper")
    for kind, count in DATA_SETS.items():
        layouts.LAYOUTS[kind](folder / kind, count)
    write_tiny_clip(folder)
    write_tiny_clip(folder, seed=1, name="other")
    tokens = np.random.default_rng(0).standard_normal((2, CONFIGURATION["text_cfg"]["width"])).astype(np.float32)
    write_tokens(folder / "debias_clip.safetensors", tokens, {})
    (folder / "published").mkdir()
    theirs = {"MPR": [0.4, 0.2], "sims": [np.array([15.0]), np.array([13.5])], "lambdas": np.array([0.0, 0.5])}
    (folder / "published" / PUBLISHED).write_bytes(pickle.dumps(theirs))
    for name in NAMES:
        shutil.copy(CONFIGS / f"{name}.yaml", folder)
    return folder


def small(config: Path) -> list[str]:
    """Overrides that leave every data set, reference and method in place: a tiny model, few points."""
    model = "other" if config.stem == "debias_clip" else "tiny"
    changes = [f"encoder={TINY % (model, model)}", f"prefilter.top={POOL}", "k=[50]", "runtime.executor=local"]
    changes += [f"function_classes={CLASSES[config.stem]}"]
    changes += [f"queries={QUERIES[config.stem]}"] if config.stem in QUERIES else []
    for place, entry in enumerate(yaml.safe_load(config.read_text())["methods"]):
        for name, settings in entry.items() if isinstance(entry, dict) else ():
            points = {"points": POINTS} if "points" in settings else {}
            changes.append(f"methods.{place}={yaml.safe_dump({name: settings | points}).strip()}")
    return [part for change in changes for part in ("--set", change)]


def documented(command: str) -> list[list[str]]:
    """The arguments of this command's lines on the page of the paper."""
    return [line.split()[1:] for line in commands("docs/paper.md") if line.startswith(f"mpr-audit {command} ")]


@pytest.fixture(scope="module")
def runs(folder):
    """Every run of the page, as it is written there but for what makes it small."""
    with contextlib.chdir(folder):
        for arguments in documented("run"):
            config = folder / arguments[1]
            limit = [] if config.stem in QUERIES else ["--limit", "1"]
            assert main([*arguments, *limit, *small(config)]) == 0
    return [folder / "runs" / name for name in NAMES]


@pytest.fixture(scope="module")
def made(runs, folder):
    """What the page's `exhibits` wrote of all runs, and what it printed."""
    plain, arguments = documented("exhibits")
    # The one does what the other does, and more.
    assert arguments == [*plain, "--against", "published"]
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed), pytest.MonkeyPatch.context() as patch:
        # Drawings as small as a stamp: what they show is looked at in their tables.
        for module in ("pictures", "sheet"):
            patch.setattr(f"jobs.report.exhibits.{module}.DOTS_PER_INCH", 20)
        patch.setattr("jobs.report.exhibits.contact_sheets.ITEMS", 2)
        assert main(arguments) == 0
    return folder / "exhibits", printed.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_the_configuration_is_valid_as_it_stands(name):
    settings = read_config(CONFIGS / f"{name}.yaml").settings
    assert settings.reference[0].query_conditioned and settings.encoder.model.startswith("ViT-B-")
    assert {one.name for one in settings.reference} <= {FAIRFACE, BALANCED, POOL_REFERENCE}


def test_all_four_data_sets_go_through_one_command_each(runs):
    results = pd.concat([pd.read_parquet(run / "results") for run in runs])
    assert set(results["dataset"]) == {"CelebA", "UTKFace", "Occupations, ten queries", "Occupations"}
    assert (results.loc[results["reference"] != "balanced", "n_reference"] == POOL).all()
    # One row for each combination of gender, race and age.
    assert (results.loc[results["reference"] == "balanced", "n_reference"] == 2 * 5 * 2).all()
    assert {"mopr_paper(T=10)", "mopr_paper(T=50)"} < set(results["method"])
    assert results.loc[results["dataset"] == "Occupations", "precision"].notna().all()
    groups = pd.concat([pd.read_parquet(run / "groups") for run in runs])
    assert groups["group"].str.contains("race=Asian").any() and groups["group"].str.contains("40 and over").any()


def test_every_exhibit_is_made_of_the_runs(made):
    output, printed = made
    # The paper compares all queries with one reference, Kay et al. each with its own; and the miniatures have one k.
    assert printed.count("not made") == 2
    assert {path.stem for path in output.glob("*.tex")} == {*EXHIBITS, "against"} - {"shown_and_expected", "over_k"}
    tables = pd.read_csv(output / "smallest_mpr.csv")
    assert {"CelebA", "UTKFace", "Occupations"} < set(tables["dataset"])


def test_every_number_of_the_paper_is_made_of_the_shipped_configurations(made):
    output, printed = made
    index = pd.read_csv(output / "paper" / "index.csv").set_index("number")
    assert list(index.index) == [one.number for one in NUMBERED]
    # The miniatures are asked for 50 items alone.
    lacks = index["lacks"].dropna()
    assert list(lacks.index) == ["Appendix: other k"] and lacks.iloc[0].startswith("no k 10 and no 150 beside data set")
    assert printed.count("lacks") == 1 and "Table 2" in printed
    for one in NUMBERED:
        if one.number in lacks.index:
            continue
        assert f"  {one.number} " in printed
        assert (output / f"{index.loc[one.number, 'csv']}").exists() and (output / f"paper/{one.stem}.tex").exists()


def test_figure_1_joins_the_two_encoders(made):
    rows = pd.read_csv(made[0] / "paper" / "figure-1.csv")
    assert set(rows["dataset"]) == {"CelebA", "UTKFace"} and set(rows["function_class"]) == {"linear"}
    assert {"top_k", "mopr", "mmr", "pbm", "clip_clip", "debias_clip"} < set(rows["method"])
    # A method that bounds trees has no curve under linear functions.
    assert set(rows["target_class"].dropna()) == {"linear"}
    [own] = pd.read_parquet(made[0].parent / "runs" / "debias_clip" / "results").query(
        "dataset == 'CelebA' and method == 'debias_clip' and function_class == 'linear' and "
        "reference == 'FairFace'"
    ).itertuples()  # fmt: skip
    [drawn] = rows.query("dataset == 'CelebA' and method == 'debias_clip'").itertuples()
    assert drawn.similarity_fraction == pytest.approx(own.similarity / own.similarity_top_k)


def test_the_authors_curve_is_beside_ours(made):
    rows = pd.read_csv(made[0] / "against.csv").query("method == 'mmr' and dataset == 'CelebA'")
    assert set(rows["source"]) == {"these runs", "the authors' files"}
    theirs = rows[rows["source"] == "the authors' files"].set_index("mpr_fraction")["mean"]
    # Half of top-k's MPR keeps 13.5 of 15; a set of all of it keeps everything.
    assert theirs[0.5] == pytest.approx(0.9) and theirs[1.0] == 1.0


def test_table_1_adds_up(made, folder):
    """Each cell is counted among the items that a method shows; sums are those of the cells."""
    table = pd.read_csv(made[0] / "paper" / "table-1.csv").query("first == 'gender' and second == 'race'")
    assert set(table["reference"]) == {"balanced"} and set(table["dataset"]) == {"UTKFace"}
    results = pd.read_parquet(folder / "runs" / "paper" / "results")
    [top] = results.query(
        "dataset == 'UTKFace' and method == 'top_k' and k == 50 and function_class == 'linear' and "
        "reference == 'balanced'"
    )["item_ids"]
    # UTKFace's names hold the labels: age_gender_race_date.
    labels = [(name.split("_")[1], name.split("_")[2]) for name in map(os.path.basename, top)]
    codes = {"gender=Male": "0", "gender=Female": "1", "race=White": "0", "race=Black": "1", "race=Asian": "2"}
    own = table[table["series"] == "top_k"].set_index(["first_level", "second_level"])["share_mean"]
    for gender in ("gender=Male", "gender=Female"):
        assert own[gender, "sum"] == pytest.approx(sum(one == codes[gender] for one, _ in labels) / 50)
        for race in ("race=White", "race=Black", "race=Asian"):
            assert own[gender, race] == pytest.approx(labels.count((codes[gender], codes[race])) / 50)
    for race in ("race=White", "race=Black", "race=Asian"):
        assert own["sum", race] == pytest.approx(own["gender=Male", race] + own["gender=Female", race])
    assert (table["share_reference"] - 0.1).abs().min() < 1e-12
    text = (made[0] / "paper" / "table-1.tex").read_text()
    assert "reference" in text and "sum" in text and "White" in text


def test_a_run_that_lacks_something_says_which_run_has_it(runs, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("jobs.report.exhibits.files_of", lambda name, exhibit: {f"{name}.csv": b""})
    assert main(["exhibits", str(runs[2]), "--output", str(tmp_path / "made")]) == 0
    printed = capsys.readouterr().out
    assert "paper/appendix-precision.csv" in printed
    assert "lacks: no data set CelebA and no UTKFace: run paper.yaml" in printed
