"""What the site is made of: docstrings become Markdown that says the same, formulas MathML, pages notebooks."""

import re
from xml.etree import ElementTree

import pytest

from docs.site.diagrams import layers, read, svg
from docs.site.docstrings import escaped, markdown
from docs.site.formulas import mathml
from docs.site.notebook import notebook
from docs.site.sources import INDEX, parts
from tests.pages import PAGES, blocks, name_of, text_of

DOCSTRING = """\
One selection of k items, with a price z* per cell.

Lines that belong
together are one paragraph.

    minimise  -s . a
      subject to  sum a = k

auto    HiGHS for small ones
gurobi  Gurobi for all

Shapes:  items (k,), positions;
         distinct.
Raises:  InputError for [nothing].

>>> 1 + 1
2
"""


def test_each_part_of_a_docstring_has_its_form():
    assert markdown(DOCSTRING).split("\n\n") == [
        "One selection of k items, with a price z\\* per cell.",
        "Lines that belong together are one paragraph.",
        "```text\nminimise  -s . a\n  subject to  sum a = k\n```",
        "```text\nauto    HiGHS for small ones\ngurobi  Gurobi for all\n```",
        "- **Shapes**: items (k,), positions;\n  distinct.\n- **Raises**: InputError for \\[nothing\\].",
        "```pycon\n>>> 1 + 1\n2\n```",
    ]


def test_arguments_are_a_list_beside_the_fields():
    text = "One sum.\n\nsizes (L,): rows of each\nlevel. known: others.\nReturns: a number.\nnothing: that is none."
    assert markdown(text, ["sizes", "known"]).split("\n\n")[1].splitlines() == [
        "- `sizes` (L,): rows of each",
        "  level. known: others.",
        "- **Returns**: a number.",
        "  nothing: that is none.",
    ]


def test_flow_charts_are_drawn_in_layers():
    [text] = blocks("docs/flow.md", "mermaid")
    rows = layers(read(text))
    assert rows[2:6] == [["plan"], ["run", "search", "mprlib"], ["stages"], ["store"]]
    drawn = ElementTree.fromstring(svg(text))
    shown = ["".join(one.itertext()) for one in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"audit.yaml", "store: the run's folder", "units of work", "what people get"} <= set(shown)
    with pytest.raises(ValueError, match="no arrow"):
        read("flowchart LR\na --- b")


def test_an_example_below_a_field_is_no_part_of_it():
    assert markdown("Raises:  nothing.\n>>> 1\n1").split("\n\n") == [
        "- **Raises**: nothing.",
        "```pycon\n>>> 1\n1\n```",
    ]


def test_code_keeps_its_letters():
    assert escaped("`a*b` and a*b and $x$") == "`a*b` and a\\*b and \\$x\\$"


def test_a_page_becomes_cells_in_its_order():
    cells = notebook("# Title\n\n```python\nx = 1\n```\n\nthen\n\n```sh\nls\n```\n\n```python\ny = 2\n```\n")["cells"]
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in cells] == [
        ("markdown", "# Title"),
        ("code", "x = 1"),
        ("markdown", "then\n\n```sh\nls\n```"),
        ("code", "y = 2"),
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_formula_can_be_drawn(page):
    """docutils knows most of LaTeX; what it lacks is replaced in docs/site/formulas.py."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"\$\$(.+?)\$\$", text, flags=re.DOTALL)
    for formula in blocks + re.findall(r"\$([^$]+)\$", re.sub(r"\$\$.+?\$\$", "", text, flags=re.DOTALL)):
        assert mathml(formula, is_block=formula in blocks), formula


def test_the_list_of_pages_is_read():
    titles = {part.title: part.pages for part in parts()}
    assert INDEX.parent / "method.md" in titles["Background"] and all(titles.values())
