"""The page in a real browser: silent console, working controls, inert data, nothing off the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.analysis.load import from_tables
from jobs.report.build import build
from tests.jobs.report import chromium, hostile, synthetic

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(chromium.BINARY is None, reason="needs Chromium, which is not installed here"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    runs = {
        "plain": from_tables(**synthetic.tables(queries=4, points=6), manifest=synthetic.manifest()),
        "hostile": from_tables(**hostile.tables(), manifest=hostile.manifest()),
        "broken": from_tables(**hostile.broken_tables()),
        "long": from_tables(**hostile.long_tables(), manifest=hostile.long_manifest()),
    }
    for name, run in runs.items():
        (folder / f"{name}.html").write_bytes(build(run, has_pictures=False)["index.html"])
    return folder


TEXT = "document.getElementById('{}').innerText"
STATE = (
    "[document.getElementById('case-title').innerText, document.getElementById('verdict').innerText,"
    " document.getElementById('read-b').innerText, document.getElementById('groups').innerText,"
    " document.getElementById('items-b').innerText]"
)


# Letter and A4 less the browser's margins, at 96 pixels an inch.
SHEET_PIXELS = 717


def test_prints_within_the_width_of_a_sheet(folder: Path):
    async def script(page: chromium.Page) -> int:
        await page.open(folder / "plain.html")
        await page.ask("dispatchEvent(new Event('beforeprint'))")
        await page.call("Emulation.setEmulatedMedia", media="print")
        size = {"width": SHEET_PIXELS, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        await page.call("Emulation.setDeviceMetricsOverride", **size)
        return await page.ask("document.documentElement.scrollWidth")

    assert chromium.browse(script) <= SHEET_PIXELS


# Telephones, tablets and screens; styles change at 760.
WIDTHS = (320, 340, 360, 375, 390, 414, 480, 600, 700, 760, 761, 800, 1024, 1200, 1600)


def test_no_width_scrolls_sideways(folder: Path):
    async def script(page: chromium.Page) -> list[tuple]:
        wide = []
        for name in ("plain", "hostile", "broken", "long"):
            await page.open(folder / f"{name}.html")
            await page.ask("document.querySelectorAll('details').forEach((one) => one.open = true)")
            for case in range(2):
                await page.ask(f"location.hash = 'case-{case}'")
                await page.ask("new Promise((done) => setTimeout(done, 300))")
                for width in WIDTHS:
                    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
                    await page.call("Emulation.setDeviceMetricsOverride", **size)
                    root = "document.documentElement"
                    there, seen = await page.ask(f"[{root}.scrollWidth, {root}.clientWidth]")
                    wide += [(name, case, width, there)] if there > seen else []
        return wide

    assert chromium.browse(script) == []


def test_loads_silently_and_follows_its_controls(folder: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(folder / "plain.html")
        title, verdict, read, groups, items = await page.ask(STATE)
        assert "Worst off:" in verdict and "mean similarity" in verdict and "mopr, rho" in read
        # No table of the overview has a column beyond its edge.
        wide = "[...document.querySelectorAll('#overview .scroll')].some((one) => one.scrollWidth > one.clientWidth)"
        assert not await page.ask(wide)
        assert await page.ask("document.querySelectorAll('#panels svg[role=img][aria-label]').length") == 3
        # The slider, by keyboard: the next point of the sweep shows other items and other shares.
        await page.ask("document.getElementById('point-b').focus()")
        await page.press("End", 35)
        _, _, read_end, groups_end, items_end = await page.ask(STATE)
        assert read_end != read and groups_end != groups and items_end != items
        # Another query, by button and by link.
        await page.ask("document.getElementById('next').click()")
        await page.ask("new Promise((done) => setTimeout(done, 300))")
        assert (await page.ask(STATE))[0] != title
        await page.ask("document.querySelector('#overview a[href^=\"#case-\"]').click()")
        await page.ask("new Promise((done) => setTimeout(done, 300))")
        assert (await page.ask(STATE))[0] == title
        assert await page.ask("document.activeElement.id") == "case-title"
        # A mark of the curve becomes selection B; a method chosen by name becomes A.
        await page.ask("document.querySelectorAll('#panels .mark')[8].dispatchEvent(new MouseEvent('click'))")
        await page.ask("document.getElementById('method-a').selectedIndex = 2")
        await page.ask("document.getElementById('method-a').dispatchEvent(new Event('change'))")
        assert "mmr" in await page.ask(TEXT.format("read-a"))
        # Combinations make the table longer, the differing items make the lists shorter.
        count = "document.querySelectorAll('#groups tbody tr').length"
        before = await page.ask(count)
        await page.ask("document.getElementById('crossed').click()")
        assert await page.ask(count) != before
        await page.ask("document.getElementById('differing').click()")
        assert "only in A" in await page.ask(TEXT.format("items-a"))
        assert page.problems == []
        assert {address.split(":")[0] for address in page.requests} <= {"file", "data"} and len(page.requests) <= 2

    chromium.browse(script)


def test_every_control_is_named_and_reached_by_keyboard(folder: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(folder / "plain.html")
        unnamed = await page.ask(
            "Array.from(document.querySelectorAll('select, input'))"
            ".filter((one) => !one.labels.length).map((one) => one.id)"
        )
        assert unnamed == []
        unlabelled = "Array.from(document.querySelectorAll('svg')).filter((one) => !one.hasAttribute('aria-hidden') && "
        unlabelled += "!one.hasAttribute('aria-label') && !one.hasAttribute('aria-labelledby')).length"
        assert await page.ask(unlabelled) == 0
        reached = set()
        for _ in range(40):
            await page.press("Tab", 9)
            reached.add(await page.ask("document.activeElement.id"))
        assert {"case", "next", "method-a", "method-b", "point-b", "crossed", "small", "order", "differing"} <= reached

    chromium.browse(script)


def test_data_never_runs(folder: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(folder / "hostile.html")
        for case in range(2):
            await page.ask(f"location.hash = 'case-{case}'")
            await page.ask("new Promise((done) => setTimeout(done, 300))")
        assert await page.ask("window.hacked === undefined && !document.querySelector('img')")
        assert "onerror" in await page.ask("document.body.innerText")
        assert page.problems == []

    chromium.browse(script)


def test_broken_cases_are_shown_with_what_is_missing(folder: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(folder / "broken.html")
        texts = []
        for case in range(5):
            await page.ask(f"location.hash = 'case-{case}'")
            await page.ask("new Promise((done) => setTimeout(done, 300))")
            texts.append(await page.ask(TEXT.format("explorer")))
            texts.append(await page.ask("document.getElementById('panels').textContent"))
        said = "\n".join(texts)
        assert "out of memory" in said and "MPR is 0: nothing to divide by" in said and "not_found" in said
        assert "NaN" not in said and "undefined" not in said and "null" not in said
        assert page.problems == []

    chromium.browse(script)
