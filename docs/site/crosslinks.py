"""Names in the pages' text as links: of the library to its reference, of columns to their dictionary.

The first mention on a page is one, outside of code blocks, headings and other links; pages stay as they are on GitHub.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from docs.site.public import MODULES, exported, kind_of

ROOT = Path(__file__).resolve().parents[2]
REFERENCE, COLUMNS = ROOT / "docs" / "reference", ROOT / "docs" / "columns.md"
# What stays as it is: blocks of code, headings, rows of tables' heads, links with their text; else code in a line.
KEPT_OR_CODE = re.compile(
    r"(?P<kept>^```.*?^```|^#+ [^\n]*|\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)]*\))|(?<!`)`(?P<code>[^`\n]+)`(?!`)",
    flags=re.MULTILINE | re.DOTALL,
)
# A name of the library, with or without its module, and what may follow it.
NAME = re.compile(r"(?P<name>(?:mprlib\.)?\w+(?:\.\w+)*)(?:\(.*\))?")
# A row of the dictionary of columns.
ROW = re.compile(r"^\| `(?P<column>\w+)` \|", flags=re.MULTILINE)
HEADING = re.compile(r"[^\w\- ]")


def linked(page: Path, text: str) -> str:
    """The text of a page with its first mentions as links; the dictionary with a place for every column."""
    if page == COLUMNS:
        return _with_places(text)
    seen: set[str] = set()

    def shown(found: re.Match[str]) -> str:
        code = found["code"]
        target = None if code is None or code in seen else _target(page, code)
        if target is None:
            return found[0]
        seen.add(code)
        return target

    return KEPT_OR_CODE.sub(shown, text)


def place_of(column: str) -> str:
    """The id of a column's row."""
    return f"column-{column}"


def slug(heading: str) -> str:
    """The address of a heading on its page, as GitHub makes it."""
    return HEADING.sub("", heading.lower()).replace(" ", "-")


@cache
def names() -> Mapping[str, tuple[str, str]]:
    """The page and the heading of the reference by what is written of a name: with its module, a class without it."""
    pages = {one.name: (kind_of(one).replace(" ", "_"), one) for one in exported()}
    for module in MODULES:
        pages.update({one.name: (module.__name__.removeprefix("mprlib."), one) for one in exported(module)})
    found = {name: (f"{page}.md", slug(name)) for name, (page, _) in pages.items()}
    classes = {name.rpartition(".")[2]: found[name] for name, (_, one) in pages.items() if one.is_class}
    return {**classes, **found}


@cache
def columns() -> frozenset[str]:
    """Names of columns that are nothing but that."""
    every = {row["column"] for row in ROW.finditer(COLUMNS.read_text(encoding="utf-8"))}
    return frozenset(one for one in every if "_" in one)


def _target(page: Path, code: str) -> str | None:
    """A name as a link; None where it is none."""
    if code in columns():
        address = os.path.relpath(COLUMNS.with_suffix(".html"), page.parent)
        # Rows of a table are no places that Sphinx knows: a test looks at these.
        return (
            f'<a class="reference internal" href="{address}#{place_of(code)}"><code class="literal">{code}</code></a>'
        )
    named = NAME.fullmatch(code)
    if named is None:
        return None
    parts = named["name"].split(".")
    for size in range(len(parts), 0, -1):
        known = names().get(".".join(parts[:size]))
        if known is not None:
            return f"[`{code}`]({os.path.relpath(REFERENCE / known[0], page.parent)}#{known[1]})"
    return None


def _with_places(text: str) -> str:
    """Each column's first row with its id."""
    seen: set[str] = set()

    def placed(row: re.Match[str]) -> str:
        if row["column"] in seen:
            return row[0]
        seen.add(row["column"])
        return f'| <a id="{place_of(row["column"])}"></a>`{row["column"]}` |'

    return ROW.sub(placed, text)
