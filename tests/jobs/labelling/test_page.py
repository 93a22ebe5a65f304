"""The labelling page in a real browser: labels by keys, state that survives closing, a CSV that a run reads."""

from __future__ import annotations

import asyncio
import csv
import io
import time
from pathlib import Path
from typing import Any

import pytest

from jobs.datasets.hand_labels import read_hand_labels
from jobs.labelling.page import page
from tests.jobs.labelling import made
from tests.jobs.report import chromium

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(chromium.BINARY is None, reason="needs Chromium, which is not installed here"),
]

COUNT = 200
QUESTION = "document.getElementById('question').textContent"
COUNTED = "document.getElementById('count').textContent"
SAID = "document.getElementById('said').textContent"
ITEM = "document.querySelector('#item .id').textContent"
PREDICTED = "document.getElementById('predicted')"


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("label page") / "label.html"
    path.write_bytes(page(made.sample(COUNT), made.pictures(COUNT), "small"))
    return path


async def press(one: chromium.Page, *keys: str) -> None:
    for key in keys:
        await one.press(key, ord(key.upper()) if len(key) == 1 else 0)


async def saved(one: chromium.Page, folder: Path) -> list[dict[str, str]]:
    """The rows of the CSV that the page saves."""
    await one.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    await press(one, "s")
    end = time.monotonic() + 20
    while not (folder / "labels.csv").exists():
        assert time.monotonic() < end, "no CSV was saved"
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.2)
    return list(csv.DictReader(io.StringIO((folder / "labels.csv").read_text(encoding="utf-8"), newline="")))


async def fits(one: chromium.Page, width: int) -> bool:
    size = {"width": width, "height": 800, "deviceScaleFactor": 2, "mobile": width < 500}
    await one.call("Emulation.setDeviceMetricsOverride", **size)
    found: bool = await one.ask("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    return found


def test_two_hundred_items_are_labelled_by_keys_closed_and_saved(path: Path, tmp_path: Path):
    (tmp_path / "profile").mkdir()
    (tmp_path / "files").mkdir()

    async def first(one: chromium.Page) -> None:
        seconds = await one.open(path)
        assert seconds < 5
        assert await one.ask(QUESTION) == "gender: which?" and "0 labelled" in await one.ask(COUNTED)
        # Female, male, cannot tell; the fourth is left for later, the fifth taken back and given again.
        await press(one, "1", "2", "0", "ArrowRight", "1", "u")
        assert await one.ask(ITEM) == "i4" and await one.ask(SAID) == "Undone."
        await press(one, "2")
        assert "4 labelled" in await one.ask(COUNTED) and await one.ask(ITEM) == "i5"
        assert one.problems == []

    async def second(one: chromium.Page) -> list[dict[str, str]]:
        await one.open(path)
        assert await one.ask(ITEM) == "i5" and "4 labels kept" in await one.ask(SAID)
        for _ in range(COUNT - 5):
            await press(one, "1")
        # Where all others are done comes what was left for later.
        assert await one.ask(ITEM) == "i3"
        await press(one, "2")
        assert await one.ask(QUESTION) == "age: which?"
        for _ in range(COUNT):
            await press(one, "3")
        assert await one.ask(SAID) == "All items are labelled: save the CSV."
        rows = await saved(one, tmp_path / "files")
        assert one.problems == []
        assert {address.split(":")[0] for address in one.requests} <= {"file", "data", "blob"}
        return rows

    chromium.browse(first, tmp_path / "profile")
    rows = chromium.browse(second, tmp_path / "profile")
    sample = made.sample(COUNT)
    assert list(rows[0]) == ["item_id", "gender", "age", "inclusion_probability", "prediction_shown"]
    assert [row["item_id"] for row in rows] == sample.items["item_id"].to_pylist()
    assert [row["gender"] for row in rows[:6]] == ["female", "male", "cannot tell", "male", "male", "female"]
    assert {row["age"] for row in rows} == {"20 and over"} and {row["prediction_shown"] for row in rows} == {"no"}
    assert [float(row["inclusion_probability"]) for row in rows] == sample.probabilities.tolist()
    read = read_hand_labels("labels.csv", tmp_path / "files", "gender")
    assert len(read.ids) == COUNT - 1 and read.levels[:3] == ("female", "male", "male")


def test_what_was_predicted_is_shown_when_asked_and_then_it_is_said(path: Path, tmp_path: Path):
    async def script(one: chromium.Page) -> list[dict[str, str]]:
        await one.open(path)
        texts = "document.body.innerText + [...document.querySelectorAll('[aria-label], [title]')].map((x) => x.title)"
        assert await one.ask(f"{PREDICTED}.hidden") and "predicted:" not in await one.ask(texts)
        await press(one, "1", "p")
        assert (await one.ask(f"{PREDICTED}.textContent")).startswith("predicted: ")
        await press(one, "1", "p", "1")
        assert await one.ask(f"{PREDICTED}.hidden") and await one.ask(f"{PREDICTED}.textContent") == ""
        return await saved(one, tmp_path)

    assert [row["prediction_shown"] for row in chromium.browse(script)[:3]] == ["no", "yes", "no"]


SET_FILE = """(() => {
  const held = new DataTransfer();
  held.items.add(new File([%s], "labels.csv", { type: "text/csv" }));
  const input = document.getElementById("open");
  input.files = held.files;
  input.dispatchEvent(new Event("change"));
  return new Promise((done) => setTimeout(done, 200));
})()"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item_id,gender\ni0,male\ni1,cannot tell\ni9,\n", "2 labels read from labels.csv."),
        ('item_id,age\n"i3","20 and over"\r\nother,under 10\ni4,old\n', "1 label"),
        ("id,gender\ni0,male\n", "has no column item_id"),
        ("", "has no column item_id"),
    ],
)
def test_a_saved_file_is_opened_again(path: Path, text: str, said: str):
    async def script(one: chromium.Page) -> Any:
        await one.open(path)
        await one.ask(SET_FILE % repr(text))
        assert one.problems == []
        return await one.ask(SAID)

    found = chromium.browse(script)
    assert said in found
    if "other" in text:
        assert "1 row of other items passed over; 1 label of levels that are not known here passed over" in found


def test_data_never_run_and_every_control_is_named_and_reached(path: Path):
    async def script(one: chromium.Page) -> None:
        await one.open(path)
        await press(one, "1", "1")
        assert "onerror" in await one.ask("document.getElementById('item').innerText")
        assert await one.ask("window.hacked === undefined")
        unnamed = "[...document.querySelectorAll('button, input')].filter((x) => !x.innerText && !x.labels?.length)"
        assert await one.ask(f"{unnamed}.length") == 0
        assert await one.ask("[...document.images].every((x) => x.alt)")
        reached = set()
        for _ in range(20):
            await one.press("Tab", 9)
            reached.add(await one.ask("document.activeElement.id || document.activeElement.textContent"))
        assert {"later", "undo", "save", "open", "show"} <= reached
        assert any(name.startswith("1 female") for name in reached)
        # A button keeps the focus for the next item.
        await one.ask("document.querySelector('#levels button').focus()")
        await one.press("Enter", 13)
        await one.ask("document.querySelector('#levels button').click()")
        assert await one.ask("document.activeElement.parentElement.id") == "levels"
        assert one.problems == []

    chromium.browse(script)


def test_telephones_show_item_and_levels_at_once(path: Path, tmp_path: Path):
    long = made.sample(20, {"race": tuple(f"a level with a long name {number}" for number in range(40))})
    other = tmp_path / "long.html"
    other.write_bytes(page(long, made.pictures(20), "w" * 80))

    async def script(one: chromium.Page) -> None:
        for opened in (path, other):
            await one.open(opened)
            for width in (320, 390, 480, 760, 1400):
                assert await fits(one, width), (opened, width)
        await one.open(path)
        assert await fits(one, 390)
        bottom = await one.ask("document.getElementById('levels').getBoundingClientRect().bottom")
        least = await one.ask(
            "Math.min(...[...document.querySelectorAll('button')].map((x) => x.getBoundingClientRect().height))"
        )
        assert bottom <= 800 and least >= 44
        assert one.problems == []

    chromium.browse(script)
