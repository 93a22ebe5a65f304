"""Thumbnails: small, of the items shown first, within their budget, and seen on the page with a text beside them."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from jobs.analysis.load import load
from jobs.cli import main
from jobs.images.thumbnail import SIDE_PIXELS, thumbnail
from tests.jobs.report import chromium

from .conftest import people, write_audit

COLOURS = {"female": (200, 30, 30), "male": (30, 30, 200)}


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """An audit of pictures whose vectors are given: red for women, blue for men; one picture is cut short."""
    folder = tmp_path_factory.mktemp("pictures")
    table = people()
    table["picture"] = [f"{name}.jpg" for name in table["person"]]
    (folder / "faces").mkdir()
    for name, gender in zip(table["picture"], table["gender"]):
        Image.new("RGB", (200, 100), COLOURS[gender]).save(folder / "faces" / name)
    path = write_audit(folder, table, ["nurse"], methods=["top_k", {"mopr": {"points": 3, "targets": ["linear"]}}])
    output = folder / "run"
    image = ["--set", "dataset.image=picture", "--set", "dataset.root=faces"]
    assert main(["run", str(path), "--output", str(output), *image]) == 0
    return output


def test_a_thumbnail_is_small_and_keeps_its_shape():
    picture = Image.effect_noise((640, 480), 80).convert("RGB")
    data = thumbnail(picture)
    with Image.open(io.BytesIO(data)) as small:
        assert (small.format, small.size) == ("WEBP", (SIDE_PIXELS, SIDE_PIXELS * 3 // 4))
    assert len(data) < 4_000 and data == thumbnail(picture)
    assert picture.size == (640, 480)


def test_every_item_of_the_default_selections_has_its_picture(run):
    loaded = load(run)
    top = loaded.results[loaded.results["method"] == "top_k"].index[0]
    for code in loaded.chosen.row(top):
        key = ("items", loaded.chosen.ids[code])
        with Image.open(io.BytesIO(loaded.thumbnails[key])) as small:
            colour = np.asarray(small.convert("RGB")).reshape(-1, 3).mean(axis=0)
        assert np.abs(colour - COLOURS[loaded.items.loc[key, "labels"]["gender"]]).max() < 12


def test_a_report_needs_no_pictures_outside_the_run(run, capsys):
    page = run / "report" / "index.html"
    before = page.read_bytes()
    faces = run.parent / "faces"
    faces.rename(run.parent / "gone")
    assert main(["report", str(run)]) == 0
    (run.parent / "gone").rename(faces)
    assert page.read_bytes() == before


def test_the_budget_holds_and_none_means_none(run, capsys):
    arguments = ["run", str(run.parent / "audit.yaml"), "--output", str(run), "--set", "dataset.image=picture"]
    for megabytes, most in (("0.001", 1_000), ("0", 0), ("4", 4e6)):
        setting = f"report.thumbnail_megabytes={megabytes}"
        assert main([*arguments, "--set", "dataset.root=faces", "--set", setting]) == 0
        kept = load(run).thumbnails
        assert sum(4 / 3 * len(data) for data in kept.values()) <= most
        assert bool(kept) == bool(most)
    table = pd.read_parquet(run / "thumbnails")
    assert set(table["dataset"]) == {"items"}


@pytest.mark.system
@pytest.mark.skipif(chromium.BINARY is None, reason="no Chromium here: the page was not opened")
def test_pictures_show_on_the_page_with_a_text_each(run):
    async def look(page: chromium.Page) -> list:
        await page.open(run / "report" / "index.html")
        for _ in range(100):
            seen = await page.ask(
                "[...document.querySelectorAll('img.thumbnail')].map((one) => [one.naturalWidth, one.alt])"
            )
            if seen and all(width for width, _ in seen):
                break
            await asyncio.sleep(0.05)
        assert page.problems == []
        return seen

    seen = chromium.browse(look)
    assert len(seen) == 20 and all(width == SIDE_PIXELS and "gender: " in text for width, text in seen)
