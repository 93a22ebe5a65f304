"""The documentation's pages, and the blocks of code in them."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
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


class Block(NamedTuple):
    """A fenced block of a page; `reason` is why it is not run, where a comment before it says so."""

    language: str
    text: str
    reason: str | None


def every_block(page: str | Path) -> list[Block]:
    """All fenced blocks of a page, in order. `<!-- not run: WHY -->` before a block says why it is not."""
    found = re.finditer(
        r"(?:^<!-- not run: (?P<reason>.+?) -->\s*)?^```(?P<language>\S*)\n(?P<text>.*?)^```$",
        text_of(page),
        flags=re.MULTILINE | re.DOTALL,
    )
    return [Block(one["language"], one["text"], one["reason"]) for one in found]
