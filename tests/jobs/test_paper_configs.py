"""The paper's experiments as they ship, on miniatures of all four data sets and a tiny model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from jobs.cli import main
from jobs.config.file import read_config
from jobs.report.exhibits import EXHIBITS
from tests.jobs.datasets import layouts
from tests.tiny_clip import write_tiny_clip

CONFIGS = Path(__file__).resolve().parents[2] / "jobs" / "configs"
DATA_SETS = {"celeba": 30, "utkface": 30, "fairface": 98, "occupations": 30}
POINTS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Configurations beside their data, as their first lines ask for."""
    folder = tmp_path_factory.mktemp("paper")
    for kind, count in DATA_SETS.items():
        layouts.LAYOUTS[kind](folder / kind, count)
    write_tiny_clip(folder)
    for name in ("paper", "occupations"):
        shutil.copy(CONFIGS / f"{name}.yaml", folder)
    return folder


def small(config: Path) -> list[str]:
    """Overrides that leave every data set, class and method in place: a tiny model, few points."""
    changes = ["encoder={kind: open_clip, model: tiny.json, pretrained: tiny.safetensors, batch: 16}"]
    changes += ["prefilter.top=24", "k=[6]", "runtime.executor=local"]
    for place, entry in enumerate(yaml.safe_load(config.read_text())["methods"]):
        for name, settings in entry.items() if isinstance(entry, dict) else ():
            changes.append(f"methods.{place}={yaml.safe_dump({name: settings | {'points': POINTS}}).strip()}")
    return [part for change in changes for part in ("--set", change)]


@pytest.fixture(scope="module")
def runs(folder):
    outputs = []
    for name in ("paper", "occupations"):
        config = folder / f"{name}.yaml"
        # Occupations' miniature has three of the forty-five, which its list asks for in its own order.
        queries = ["--set", "queries={list: [nurse, chef]}"] if name == "occupations" else ["--limit", "1"]
        outputs.append(folder / "runs" / name)
        assert main(["run", str(config), "--output", str(outputs[-1]), *queries, *small(config)]) == 0
    return outputs


@pytest.mark.parametrize("name", ["paper", "occupations"])
def test_the_configuration_is_valid_as_it_stands(name):
    settings = read_config(CONFIGS / f"{name}.yaml").settings
    assert settings.reference[0].query_conditioned and settings.encoder.model == "ViT-B-32"


def test_all_four_data_sets_go_through_one_command_each(runs):
    results = pd.concat([pd.read_parquet(run / "results") for run in runs])
    assert set(results["dataset"]) == {"CelebA", "UTKFace", "Occupations"}
    assert (results["n_reference"] == 24).all() and (results["reference"] == "FairFace").all()
    assert results.loc[results["dataset"] == "Occupations", "precision"].notna().all()
    groups = pd.concat([pd.read_parquet(run / "groups") for run in runs])
    assert groups["group"].str.contains("race=Asian").any() and groups["group"].str.contains("40 and over").any()


def test_every_exhibit_is_made_of_the_two_runs(runs, folder, capsys):
    output = folder / "exhibits"
    assert main(["exhibits", *map(str, runs), "--output", str(output)]) == 0
    # The paper compares all queries with one reference, Kay et al. each with its own.
    assert capsys.readouterr().out.count("not made") == 1
    assert {path.stem for path in output.glob("*.tex")} == set(EXHIBITS) - {"shown_and_expected"}
    tables = pd.read_csv(output / "smallest_mpr.csv")
    assert set(tables["dataset"]) == {"CelebA", "UTKFace", "Occupations"}
