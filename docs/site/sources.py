"""The sources of the site: the repository's pages where they are, what is made of code, and what leads to them.

Pages keep their places, so that links between them are the same on GitHub and here. docs/README.md, which lists
them, is the first page; a heading of it becomes a part of the navigation.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from docs.site import crosslinks, notebook, reference

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs" / "README.md"
# Where the reference of the library goes, and the heading of docs/README.md whose part it opens.
REFERENCE, REFERENCE_PART = "docs/reference", "Reference"
# A link to a place below this repository.
LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?!https?:)(?P<path>[^)#\s]+)[^)]*\)")
# Pictures and other files that pages show or offer.
SHOWN = ("*.png", "*.svg")


class Part(NamedTuple):
    """A heading of docs/README.md, and the pages that it lists, with what each is called there."""

    title: str
    pages: list[Path]
    names: list[str]


def parts() -> list[Part]:
    """The pages as docs/README.md arranges them."""
    split = re.split(r"^## (.*)$", INDEX.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    links = [re.findall(r"^- \[([^\]]+)\]\(([^)#]+)\)", text, flags=re.MULTILINE) for text in split[1::2]]
    return [
        Part(title, [(INDEX.parent / link).resolve() for _, link in found], [name for name, _ in found])
        for title, found in zip(split[::2], links)
    ]


def assemble(target: Path) -> None:
    """Write the sources into a folder."""
    pages = [ROOT / "README.md", *(page for part in parts() for page in part.pages)]
    for page in pages:
        place = target / page.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n".join(_page(page)), encoding="utf-8")
        written = notebook.of_page(page)
        if written is not None:
            place.with_suffix(".ipynb").write_text(written, encoding="utf-8")
    for pattern in SHOWN:
        for file in INDEX.parent.glob(pattern):
            shutil.copy(file, target / file.relative_to(ROOT))
    (target / "docs" / "README.md").write_text("\n\n".join(_index()), encoding="utf-8")
    folder = target / REFERENCE
    folder.mkdir()
    (folder / "index.md").write_text(reference.index(), encoding="utf-8")
    for name, text in reference.pages().items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def _page(page: Path) -> Iterator[str]:
    """A page, its notebook offered below its title."""
    title, _, rest = page.read_text(encoding="utf-8").partition("\n")
    yield title
    if notebook.has_code(page):
        yield f"\nRun this page: {{download}}`notebook <{page.stem}.ipynb>`."
    yield _below_the_title(crosslinks.linked(page, _without_links_to_files(page, rest)))


def _without_links_to_files(page: Path, text: str) -> str:
    """Links to files of the repository that are no pages as their text alone: the site does not have them."""

    def shown(link: re.Match[str]) -> str:
        target = (page.parent / link["path"]).resolve()
        is_there = target.suffix in (".md", ".png", ".svg") or not target.is_relative_to(ROOT)
        return link[0] if is_there else link["text"]

    return LINK.sub(shown, text)


def _below_the_title(text: str) -> str:
    """From a second title on all headings a level deeper, so that the navigation has one entry a page."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    is_below_another = False
    for number in range(0, len(parts), 2):
        first, *rest = re.split(r"^(?=# )", parts[number], flags=re.MULTILINE)
        deeper = first if not is_below_another else _deeper(first)
        is_below_another = is_below_another or bool(rest)
        parts[number] = deeper + "".join(map(_deeper, rest))
    return "".join(parts)


def _deeper(text: str) -> str:
    return re.sub(r"^(#+ )", r"#\1", text, flags=re.MULTILINE)


def _index() -> Iterator[str]:
    """docs/README.md with the navigation, which readers of the repository do not need."""
    yield INDEX.read_text(encoding="utf-8")
    yield _toctree("Begin", {"What it is": ROOT / "README.md"})
    for part in parts():
        own = {"The library": ROOT / REFERENCE / "index.md"} if part.title == REFERENCE_PART else {}
        yield _toctree(part.title, own | dict(zip(part.names, part.pages)))


def _toctree(caption: str, pages: dict[str, Path]) -> str:
    """The navigation of a part, in which pages are called as docs/README.md calls them."""
    lines = [f"{name} </{page.relative_to(ROOT).with_suffix('')}>" for name, page in pages.items()]
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *lines, "```"])
