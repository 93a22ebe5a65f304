"""The page in a real browser: silent console, working controls, inert data, nothing off the page."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
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
        "mixed": from_tables(**synthetic.tables(queries=20, points=2), manifest=synthetic.manifest()),
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


# As many queries as the list of occupations holds.
MANY = 783


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("many") / "many.html"
    run = from_tables(**synthetic.tables(queries=MANY, points=2), manifest=synthetic.manifest())
    path.write_bytes(build(run, has_pictures=False)["index.html"])
    return path


SIZES = ((390, 1.0), (800, 1.0), (1280, 1.0), (640, 2.0))


def test_the_first_screen_says_who_whether_it_is_luck_and_what_enough_costs(folder: Path):
    async def script(page: chromium.Page) -> None:
        for width, scale in SIZES:
            for scheme in ("light", "dark"):
                await page.open(folder / "plain.html")
                size = {"width": width, "height": 900, "deviceScaleFactor": scale, "mobile": width < 500}
                await page.call("Emulation.setDeviceMetricsOverride", **size)
                scheme_of = [{"name": "prefers-color-scheme", "value": scheme}]
                await page.call("Emulation.setEmulatedMedia", features=scheme_of)
                found = await page.ask(
                    "(() => { const one = document.querySelector('#overview .verdict');"
                    " return [one.innerText, one.getBoundingClientRect().bottom,"
                    " document.documentElement.scrollWidth <= innerWidth,"
                    " getComputedStyle(document.body).backgroundColor] })()"
                )
                text, bottom, fits, paper = found
                assert "beyond chance" in text
                assert "a random 20 stays within" in text
                assert "mean similarity" in text
                assert "population" in text
                assert bottom <= 900
                assert fits
                assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
        assert page.problems == []

    chromium.browse(script)


def test_a_telephone_shows_cards_in_the_place_of_wide_tables(folder: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(folder / "plain.html")
        size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
        await page.call("Emulation.setDeviceMetricsOverride", **size)
        wide = await page.ask(
            "[...document.querySelectorAll('table.cards')].filter((one) => one.offsetParent"
            " && one.scrollWidth > one.parentElement.clientWidth).length"
        )
        assert wide == 0
        label = await page.ask(
            "getComputedStyle(document.querySelector('table.cards td[data-label^=Reference]'), '::before').content"
        )
        assert "population" in label
        assert page.problems == []

    chromium.browse(script)


def test_chance_is_drawn_and_what_is_within_it_is_grey(folder: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(folder / "mixed.html")
        assert await page.ask("document.querySelectorAll('#panels rect.chance').length") == 3
        assert await page.ask("document.querySelectorAll('#overview svg.chart rect.chance').length") == 1
        assert await page.ask("document.querySelectorAll('#groups rect.chance').length") > 3
        assert await page.ask("document.querySelectorAll('#groups td.within').length") > 3
        headed = await page.ask("[...document.querySelectorAll('#overview tr:not(.within) td.n.strong')].length")
        within = await page.ask("document.querySelectorAll('#overview details tr.within a').length")
        assert headed >= 1 and within >= 1
        assert "no gap beyond chance" in await page.ask("document.getElementById('overview').innerText")
        assert page.problems == []

    chromium.browse(script)


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


def test_newcomers_that_are_known_to_be_something_else_are_marked(tmp_path: Path):
    made = synthetic.tables(queries=1, points=6)
    rows = made["items"].to_pylist()
    query = made["results"]["query"][0].as_py()
    asked = set(made["results"]["item_ids"][0].as_py())
    terms = [query.title() if row["item_id"] in asked else "singer" for row in rows]
    place = made["items"].schema.get_field_index("relevance")
    made["items"] = made["items"].set_column(place, "relevance", pa.array(terms))
    path = tmp_path / "terms.html"
    path.write_bytes(build(from_tables(**made, manifest=synthetic.manifest()), has_pictures=False)["index.html"])

    async def script(page: chromium.Page) -> None:
        await page.open(path)
        marked = "[...document.querySelectorAll('#items-{} .unsupported')].map((one) => one.innerText)"
        newcomers = await page.ask("document.querySelectorAll('#items-b .only').length")
        assert newcomers > 0
        assert await page.ask(marked.format("b")) == [f"not {query}: singer"] * newcomers
        assert await page.ask(marked.format("a")) == []
        assert page.problems == []

    chromium.browse(script)


def test_shares_by_the_true_labels_stand_below_those_of_predicted_ones(tmp_path: Path):
    tables = synthetic.tables(queries=1, points=2, k=20)
    groups = tables["groups"].to_pandas()
    groups["share_corrected"], groups["share_reference_corrected"] = 0.123, 0.456
    groups["share_corrected_low"], groups["share_corrected_high"] = 0.1, 0.789
    tables |= {"groups": pa.Table.from_pandas(groups, schema=tables["groups"].schema)}
    run = from_tables(**tables, manifest=synthetic.manifest())
    (tmp_path / "index.html").write_bytes(build(run, has_pictures=False)["index.html"])

    async def script(page: chromium.Page) -> None:
        await page.open(tmp_path / "index.html", "#case-0")
        cells = (
            "[...document.querySelector('#groups tbody tr').cells].map((one) => one.innerText.replace(/\\s+/g, ' '))"
        )
        cells = await page.ask(cells)
        assert cells[1].endswith(" true labels 46%")
        assert cells[2].endswith(" true labels 12% (10% to 79%)")
        # Of the first few items nothing is estimated.
        await page.ask("document.getElementById('counted').value = '5'")
        await page.ask("document.getElementById('counted').dispatchEvent(new Event('change'))")
        assert "true labels" not in await page.ask("document.querySelector('#groups tbody tr').cells[2].innerText")
        assert page.problems == []

    chromium.browse(script)
