"""The site builds without a network and a warning, and is complete."""

import re
import socket
from pathlib import Path

import pytest

from docs.site.__main__ import build
from docs.site.public import every_name, kind_of
from docs.site.sources import parts
from tests.pages import ROOT

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    def refused(*_: object, **__: object) -> None:
        raise OSError("the site is built without a network")

    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refused)
        build(folder)
    return folder


def test_the_first_page_leads_to_every_page(site):
    target = re.search(r'url=([^"]+)"', (site / "index.html").read_text(encoding="utf-8"))
    assert target is not None
    first = (site / target[1]).read_text(encoding="utf-8")
    for page in [ROOT / "README.md", *(page for part in parts() for page in part.pages)]:
        path = page.relative_to(ROOT).with_suffix(".html")
        assert (site / path).exists(), path
        assert f'{path.name}"' in first, path


def test_nothing_is_fetched_by_a_reader(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(r'<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)="(https?://[^"]+)"', text)
        assert not fetched, f"{page.name} fetches {fetched}"
        assert not re.search(r"@import|url\(['\"]?https?:", text), page.name


def test_every_public_name_is_in_the_reference(site):
    text = "".join(page.read_text(encoding="utf-8") for page in (site / "docs" / "reference").glob("*.html"))
    for one in every_name():
        assert f'<span class="pre">{one.name}</span></code><a class="headerlink"' in text, one.name
        if kind_of(one) != "errors":
            assert f">{one.name.rpartition('.')[2]}<" in text, one.name


def test_links_to_columns_lead_to_their_rows(site):
    rows = set(re.findall(r'id="(column-\w+)"', (site / "docs" / "columns.html").read_text(encoding="utf-8")))
    linked = {
        place
        for page in (site / "docs").glob("*.html")
        for place in re.findall(r'href="columns\.html#(column-\w+)"', page.read_text(encoding="utf-8"))
    }
    assert len(linked) > 20 and linked <= rows


def test_formulas_are_drawn_by_the_browser(site):
    text = (site / "docs" / "method.html").read_text(encoding="utf-8")
    assert text.count("<math") > 100 and "$$" not in text and "MathJax" not in text


def test_pages_with_code_offer_their_notebook(site):
    assert 'download=""' in (site / "README.html").read_text(encoding="utf-8")
    assert list(site.glob("_downloads/*/README.ipynb"))
