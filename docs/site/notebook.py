"""A page as a Jupyter notebook: its text as cells of Markdown, its blocks of Python as cells of code.

The blocks of a page run in order in one namespace, as `tests/test_pages_run.py` runs them and as a notebook does.
"""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```\n?", flags=re.MULTILINE | re.DOTALL)
# Before a block that is shown and not run, with the reason why.
NOT_RUN = re.compile(r"<!-- not run: .*? -->\s*\Z", flags=re.DOTALL)
# Pages whose blocks are files of a program, not steps.
FILES = ("extending.md",)


def has_code(page: Path) -> bool:
    """Whether a page has steps to run."""
    return page.name not in FILES and BLOCK.search(page.read_text(encoding="utf-8")) is not None


def of_page(page: Path) -> str | None:
    """The notebook's JSON; None for a page without steps."""
    return (
        json.dumps(notebook(page.read_text(encoding="utf-8")), ensure_ascii=False, indent=1) if has_code(page) else None
    )


def notebook(text: str) -> dict[str, Any]:
    """The notebook of a page's text, in nbformat 4.5."""
    cells: list[dict[str, Any]] = []
    numbers, end = count(), 0
    for block in BLOCK.finditer(text):
        before = text[end : block.start()]
        if NOT_RUN.search(before):
            continue
        cells += [_cell("markdown", before, numbers), _cell("code", block[1], numbers)]
        end = block.end()
    cells.append(_cell("markdown", text[end:], numbers))
    return {
        "cells": [cell for cell in cells if cell["source"]],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(kind: str, text: str, numbers: Any) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": kind,
        "id": f"cell-{next(numbers)}",
        "metadata": {},
        "source": text.strip("\n").splitlines(keepends=True),
    }
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
