"""The page in a real browser on sheets, telephones and screens of all widths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.jobs.report import chromium

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(chromium.BINARY is None, reason="needs Chromium, which is not installed here"),
]

# Letter and A4 less the browser's margins, at 96 pixels an inch.
SHEET_PIXELS = 717


def test_prints_within_the_width_of_a_sheet(pages: Path):
    async def script(page: chromium.Page) -> int:
        await page.open(pages / "plain.html")
        await page.ask("dispatchEvent(new Event('beforeprint'))")
        await page.call("Emulation.setEmulatedMedia", media="print")
        size = {"width": SHEET_PIXELS, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        await page.call("Emulation.setDeviceMetricsOverride", **size)
        return await page.ask("document.documentElement.scrollWidth")

    assert chromium.browse(script) <= SHEET_PIXELS


# Telephones, tablets and screens; styles change at 760.
WIDTHS = (320, 340, 360, 375, 390, 414, 480, 600, 700, 760, 761, 800, 1024, 1200, 1600)


def test_no_width_scrolls_sideways(pages: Path):
    async def script(page: chromium.Page) -> list[tuple]:
        wide = []
        for name in ("plain", "hostile", "broken", "long"):
            await page.open(pages / f"{name}.html")
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


SIZES = ((390, 1.0), (800, 1.0), (1280, 1.0), (640, 2.0))


def test_the_first_screen_says_who_whether_it_is_luck_and_what_enough_costs(pages: Path):
    async def script(page: chromium.Page) -> None:
        for width, scale in SIZES:
            for scheme in ("light", "dark"):
                await page.open(pages / "plain.html")
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


def test_a_telephone_shows_cards_in_the_place_of_wide_tables(pages: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(pages / "plain.html")
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
