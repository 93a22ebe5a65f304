"""The documentation's pages, and the blocks of code in them."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
INDEX = ROOT / "docs" / "README.md"
PAGES = [
    README,
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "cluster/README.md", "jobs/data/README.md")),
]


def text_of(page: str | Path) -> str:
    """A page's text; its path is relative to the repository."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str | Path, language: str) -> list[str]:
    """The fenced blocks of that language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(page), flags=re.MULTILINE | re.DOTALL)


def commands(page: str | Path) -> list[str]:
    """Each line of the page's `sh` blocks that does something."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def name_of(page: Path) -> str:
    """For test ids."""
    return str(page.relative_to(ROOT))


class Section(NamedTuple):
    """A heading of docs/README.md, and the pages that it lists."""

    title: str
    pages: list[Path]


def sections() -> list[Section]:
    """The pages as docs/README.md arranges them."""
    parts = re.split(r"^## (.*)$", text_of(INDEX), flags=re.MULTILINE)[1:]
    links = [re.findall(r"^- \[[^\]]+\]\(([^)#]+)\)", part, flags=re.MULTILINE) for part in parts[1::2]]
    return [
        Section(title, [(INDEX.parent / link).resolve() for link in found]) for title, found in zip(parts[::2], links)
    ]
