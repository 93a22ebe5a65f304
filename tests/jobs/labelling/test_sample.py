"""A sample of a run: which items it holds, with which probabilities, and how it is written."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from jobs.cli import main
from jobs.labelling.frame import frame_of
from jobs.labelling.page import content
from jobs.labelling.sample import SampleRequest, sample_of
from jobs.labelling.shown import shown_selections, solve_unit
from jobs.plan.plan_file import PLAN
from jobs.results.manifest import MANIFEST
from jobs.store import Store
from tests.jobs.conftest import people, write_audit

COUNT = 40


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    assert main(["run", str(write_audit(folder, methods=["top_k"])), "--output", str(folder / "run")]) == 0
    return folder / "run"


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def sampled(run: Path, **asked):
    store = Store(str(run))
    return sample_of(store, store.read_json(MANIFEST), SampleRequest(count=COUNT, **asked))


def test_the_command_writes_a_page_and_a_table(run, capsys):
    assert main(["label-sample", str(run), "--count", str(COUNT), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["dataset"], said["items"], said["of"], said["attributes"]) == ("items", COUNT, 120, ["gender", "age"])
    assert Path(said["page"]).parent == run / "label-sample" and Path(said["page"]).stat().st_size > 1_000
    rows = table(Path(said["csv"]))
    assert len(rows) == len({row["item_id"] for row in rows}) == COUNT
    known = people().set_index("person")["gender"]
    assert all(known[row["item_id"]] == row["predicted_gender"] for row in rows)
    assert sum(int(row["times_selected"]) > 0 for row in rows) == said["selected"]


def test_the_same_seed_gives_the_same_bytes_and_another_one_other_items(run, tmp_path):
    pages = []
    for number, seed in enumerate((0, 0, 1)):
        folder = tmp_path / str(number)
        assert main(["label-sample", str(run), "--output", str(folder), "--seed", str(seed)]) == 0
        pages.append((folder / "label.html").read_bytes())
    assert pages[0] == pages[1] != pages[2]


def test_items_of_selections_are_drawn_more_often_and_what_was_drawn_is_known(run):
    sample = sampled(run)
    is_selected = sample.times > 0
    assert sample.probabilities[is_selected].min() > sample.probabilities[~is_selected].max()
    assert sample.ratio > 1
    assert (sample.probabilities > 0).all() and (sample.probabilities <= 1).all()


def test_weights_of_a_sample_stand_for_all_items(run):
    """Horvitz and Thompson: over draws, items count as often as they are there."""
    sums, women = [], []
    for seed in range(60):
        sample = sampled(run, seed=seed, attributes=("gender",))
        weights = 1 / sample.probabilities
        sums.append(weights.sum())
        women.append(weights[np.array(sample.items["attribute:gender"].to_pylist()) == "female"].sum())
    assert np.mean(sums) == pytest.approx(120, rel=0.03)
    assert np.mean(women) == pytest.approx((people()["gender"] == "female").sum(), rel=0.05)


def test_where_no_more_items_are_there_all_are_taken(run, capsys):
    assert main(["label-sample", str(run), "--count", "500", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == 120


def test_frames_count_what_selections_hold(run):
    store = Store(str(run))
    shown = shown_selections(store)["items"]
    frame = frame_of(store, solve_unit(store, "items"), shown)
    results = pd.read_parquet(run / "results")
    held = results[results["function_class"] == "linear"].explode("item_ids")["item_ids"].value_counts()
    assert frame.times.sum() == held.sum() == 20 and frame.times.max() == held.max()
    assert frame.own.sum() == pytest.approx(1 / 10)
    gender = people().set_index("person")["gender"]
    for row, one in zip(frame.shares["gender"], shown):
        assert row[frame.levels["gender"].index("female")] == np.mean(gender[list(one.ids)] == "female")


def test_the_page_asks_for_some_attributes_and_for_levels_alone(tmp_path):
    table = people()
    table.loc[:30, "gender"] = None
    path = write_audit(tmp_path, table, methods=["top_k"])
    assert main(["run", str(path), "--output", str(tmp_path / "run")]) == 0
    sample = sampled(tmp_path / "run", attributes=("gender",))
    page = content(sample, [None] * COUNT, "small")
    assert page["attributes"] == [{"name": "gender", "levels": ["female", "male"]}]
    assert {item["predicted"][0] for item in page["items"]} <= {"female", "male", "unknown"}


def test_pictures_are_on_the_page(tmp_path, capsys):
    table = people()
    table["picture"] = [f"{name}.jpg" for name in table["person"]]
    (tmp_path / "faces").mkdir()
    for name in table["picture"][:-1]:
        Image.new("RGB", (400, 300), (200, 30, 30)).save(tmp_path / "faces" / name)
    image = ["--set", "dataset.image=picture", "--set", "dataset.root=faces"]
    path = write_audit(tmp_path, table, methods=["top_k"])
    assert main(["run", str(path), "--output", str(tmp_path / "run"), *image]) == 0
    assert main(["label-sample", str(tmp_path / "run"), "--count", "120"]) == 0
    page = (tmp_path / "run" / "label-sample" / "label.html").read_text(encoding="utf-8")
    assert page.count("data:image/webp;base64,") == 119


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dataset", "other"], "--dataset other: the run has selections of items"),
        (["--attribute", "age", "--attribute", "race"], "--attribute race: the run has gender, age"),
        (["--count", "0"], "--count"),
    ],
)
def test_what_the_run_lacks_is_said(run, capsys, arguments, said):
    assert main(["label-sample", str(run), *arguments]) == 2
    printed = capsys.readouterr().err
    assert said in printed and printed.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: shutil.rmtree(folder / "units" / "items"), "the tables cannot be read"),
        (lambda folder: shutil.rmtree(folder / "results"), "holds no rows under results/"),
        (lambda folder: (folder / PLAN).unlink(), "holds no plan of data set items that can be read"),
        (lambda folder: (folder / PLAN).write_text('[{"stage": "solve"}]'), "holds no plan of data set items"),
        (lambda folder: _changed(folder, k="ten"), "holds no plan of data set items that can be read"),
        (lambda folder: (folder / MANIFEST).write_text('{"settings": {}}'), None),
    ],
)
def test_a_run_that_is_not_whole(run, tmp_path, capsys, change, said):
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    change(folder)
    assert main(["label-sample", str(folder)]) == (0 if said is None else 2)
    printed = capsys.readouterr().err
    assert said is None or (said in printed and printed.count("\n") == 1)


def _changed(folder: Path, **fields) -> None:
    """The plan with other fields of the units that solve."""
    plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    for unit in plan:
        unit["spec"] |= fields if unit["stage"] == "solve" else {}
    (folder / PLAN).write_text(json.dumps(plan), encoding="utf-8")


def test_a_folder_without_a_run(tmp_path, capsys):
    assert main(["label-sample", str(tmp_path)]) == 2
    printed = capsys.readouterr().err
    assert "holds no finished run" in printed and printed.count("\n") == 1


def test_an_output_that_cannot_be_written(run, tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["label-sample", str(run), "--output", str(tmp_path / "file" / "page")]) == 2
    assert "--output" in capsys.readouterr().err
