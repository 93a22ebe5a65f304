"""Names in the pages' text lead to the reference, columns to their rows of the dictionary."""

import re

from docs.site.crosslinks import COLUMNS, ROOT, columns, linked, names, slug
from docs.site.reference import pages


def test_first_mentions_of_names_and_columns_are_links():
    page = ROOT / "docs" / "library.md"
    call = "`mprlib.rerank(scores, k=2)`"
    text = f"{call}, again {call}; [`Problem`](x.md)\n\n```python\n`Problem`\n```\n"
    first, _, rest = linked(page, text).partition(", again ")
    assert first == "[`mprlib.rerank(scores, k=2)`](reference/functions.md#mprlibrerank)"
    assert rest == text.partition(", again ")[2]
    assert linked(page, "`Reference.from_frame` `none_such`") == (
        "[`Reference.from_frame`](reference/objects.md#mprlibreference) `none_such`"
    )
    assert linked(page, "`mpr_low`") == (
        '<a class="reference internal" href="columns.html#column-mpr_low"><code class="literal">mpr_low</code></a>'
    )


def test_every_linked_name_has_its_heading():
    headings = {name: {slug(one) for one in re.findall(r"^## (.*)$", text, re.M)} for name, text in pages().items()}
    for name, (page, heading) in names().items():
        assert heading in headings[page.removesuffix(".md")], name


def test_every_column_has_one_place():
    text = linked(COLUMNS, COLUMNS.read_text(encoding="utf-8"))
    places = re.findall(r'id="column-(\w+)"', text)
    assert columns() <= set(places) and len(set(places)) == len(places)
