"""Tables for LaTeX: booktabs, every text of the data escaped."""

from __future__ import annotations

import re

import pandas as pd

from ...analysis.wording import is_missing

SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\u2212": r"$-$",
    "\u00b1": r"$\pm$",
    "\u2264": r"$\leq$",
    "\u221e": r"$\infty$",
    "\u2026": r"\ldots{}",
}
# Longer tables break over pages.
LONGEST_FLOAT = 40
_SPECIAL = re.compile("|".join(map(re.escape, SPECIAL)))
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_BOLD = re.compile(r"\*([^*]+)\*")


def escaped(text: str) -> str:
    """A text that LaTeX prints as it is; control characters become one space."""
    return _SPECIAL.sub(lambda match: SPECIAL[match.group()], _CONTROL.sub(" ", text))


def table(rows: pd.DataFrame, caption: str, label: str) -> bytes:
    """The rows as a booktabs table, UTF-8; columns of numbers are set flush right.

    Needs the packages booktabs and, for more than LONGEST_FLOAT rows, longtable.
    """
    is_long = len(rows) > LONGEST_FLOAT
    cells = rows.astype(object).map(_cell).rename(columns=lambda name: escaped(str(name)))
    text = cells.style.hide(axis="index").to_latex(
        column_format="".join("r" if _is_numeric(rows[name]) else "l" for name in rows),
        caption=escaped(caption),
        label=label,
        hrules=True,
        environment="longtable" if is_long else None,
        position_float=None if is_long else "centering",
    )
    return text.encode("utf-8", "replace")


def _cell(value: object) -> str:
    if is_missing(value):
        return "--"
    bold = _BOLD.fullmatch(str(value))
    return rf"\textbf{{{escaped(bold.group(1))}}}" if bold else escaped(str(value))


def _is_numeric(column: pd.Series) -> bool:
    texts = [str(value).strip("*") for value in column if not is_missing(value)]
    return bool(texts) and all(re.match(r"[-+\u2212]?[\d.,]+\b", text) for text in texts)
