"""The page in a real browser: silent console, working controls, inert data, nothing off the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.analysis.load import from_tables
from jobs.report.build import build
from tests.jobs.report import chromium, synthetic

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(chromium.BINARY is None, reason="needs Chromium, which is not installed here"),
]

TEXT = "document.getElementById('{}').innerText"
STATE = (
    "[document.getElementById('case-title').innerText, document.getElementById('verdict').innerText,"
    " document.getElementById('read-b').innerText, document.getElementById('groups').innerText,"
    " document.getElementById('items-b').innerText]"
)


def test_loads_silently_and_follows_its_controls(pages: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(pages / "plain.html")
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
        # Who is among the first items: other shares of the same selections, in whole fifths.
        groups = await page.ask(TEXT.format("groups"))
        for first in ("5", "10"):
            await page.ask(f"document.getElementById('counted').value = '{first}'")
            await page.ask("document.getElementById('counted').dispatchEvent(new Event('change'))")
            shown = "[...document.querySelectorAll('#groups tbody td[data-label=A]')].map((one) => one.innerText)"
            shares = {float(share.rstrip("%")) for share in await page.ask(shown)}
            assert shares <= {100 * count / int(first) for count in range(int(first) + 1)}
            assert await page.ask(TEXT.format("groups")) != groups
            assert await page.ask(TEXT.format("luck")) == ""
        await page.ask("document.getElementById('counted').value = ''")
        await page.ask("document.getElementById('counted').dispatchEvent(new Event('change'))")
        assert await page.ask(TEXT.format("groups")) == groups
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


def test_every_control_is_named_and_reached_by_keyboard(pages: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(pages / "plain.html")
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


def test_data_never_runs(pages: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(pages / "hostile.html")
        for case in range(2):
            await page.ask(f"location.hash = 'case-{case}'")
            await page.ask("new Promise((done) => setTimeout(done, 300))")
        assert await page.ask("window.hacked === undefined && !document.querySelector('img')")
        assert "onerror" in await page.ask("document.body.innerText")
        assert page.problems == []

    chromium.browse(script)


def test_broken_cases_are_shown_with_what_is_missing(pages: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(pages / "broken.html")
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


# As many queries as the list of occupations holds.
MANY = 783


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("many") / "many.html"
    run = from_tables(**synthetic.tables(queries=MANY, points=2), manifest=synthetic.manifest())
    path.write_bytes(build(run, has_pictures=False)["index.html"])
    return path


def test_hundreds_of_queries_are_searched_and_all_printed(many: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(many)
        typed = "(() => { const one = document.getElementById('search'); one.value = '{}';"
        typed += " one.dispatchEvent(new Event('input')) })()"
        await page.ask(typed.replace("{}", "OCCUPATION 77"))
        links = "[...document.querySelectorAll('#found a')].map((one) => one.innerText)"
        found = await page.ask(links)
        assert found and all(name.startswith("occupation 77") for name in found)
        await page.ask("document.getElementById('search').focus()")
        await page.press("Enter", 13)
        await page.ask("new Promise((done) => setTimeout(done, 400))")
        assert await page.ask("document.getElementById('case-title').innerText") == found[0]
        await page.ask(typed.replace("{}", "no such query"))
        assert await page.ask(links) == []
        assert await page.ask("document.getElementById('found-count').innerText") == "0 found"
        await page.ask("dispatchEvent(new Event('beforeprint'))")
        await page.call("Emulation.setEmulatedMedia", media="print")
        shown = await page.ask(
            "new Set([...document.querySelectorAll('#overview td a')].filter((one) => one.offsetParent)"
            ".map((one) => one.getAttribute('href'))).size"
        )
        assert shown == MANY
        assert page.problems == []

    chromium.browse(script)
