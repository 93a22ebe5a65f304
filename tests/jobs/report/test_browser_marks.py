"""The page in a real browser: what is marked beside shares and items."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from jobs.analysis.load import from_tables
from jobs.report.build import build
from tests.jobs.report import chromium, synthetic

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(chromium.BINARY is None, reason="needs Chromium, which is not installed here"),
]


def test_chance_is_drawn_and_what_is_within_it_is_grey(pages: Path):
    async def script(page: chromium.Page) -> None:
        await page.open(pages / "mixed.html")
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
