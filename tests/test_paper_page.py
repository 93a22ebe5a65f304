"""The page of the paper: all rows, honest states, and what it says of methods is what they are."""

import re

from jobs.config.file import read_config
from jobs.report.exhibits import EXHIBITS, NUMBERED
from jobs.report.exhibits.numbered import IN_DOCUMENTS
from mprlib import METHODS
from tests.pages import ROOT, commands, text_of

PAGE = "docs/paper.md"
ROWS = 84
STATES = ("here", "here, and more", "here, differently", "not confirmed")
# What cannot be shipped; everything else is here.
NEEDED = ("needs weights", "needs data", "needs hardware")


def table(heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    section = text_of(PAGE).partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def rows() -> list[list[str]]:
    headings = re.findall(r"^## (.*)$", text_of(PAGE), flags=re.MULTILINE)
    return [row for heading in headings if heading != "What the methods can do" for row in table(heading)]


def test_every_row_is_there_and_says_how_it_stands():
    found = rows()
    assert [row[0] for row in found] == [str(number + 1) for number in range(ROWS)]
    for number, what, state, where in found:
        assert what and where and state in (*STATES, *NEEDED), number
        if state in ("here, differently", *NEEDED):
            assert len(where.split()) > 4, f"row {number} says why"


def test_names_that_the_rows_give_exist():
    text = " ".join(row[3] for row in rows())
    known = {one.number for one in NUMBERED} | set(IN_DOCUMENTS)
    named = set(re.findall(r"number `([^`]+)`", text))
    assert named <= known and known - named <= {"Table 2"}
    assert set(re.findall(r"exhibit `([^`]+)`", text)) <= set(EXHIBITS)


def test_methods_can_do_what_the_table_says():
    found = {row[0].strip("`"): row[1:] for row in table("What the methods can do")}
    assert list(found) and set(found) == set(METHODS)
    for name, (bounds, _, _, _, vectors, parameter, _) in found.items():
        method = METHODS[name]
        assert (bounds != "no") == method.is_constrained, name
        assert vectors.startswith("yes") == method.needs_embeddings, name
        assert parameter == (method.parameter or ""), name


def test_its_configurations_ship():
    runs = [line.split()[2] for line in commands(PAGE) if line.startswith("mpr-audit run ")]
    assert runs == ["paper.yaml", "debias_clip.yaml", "occupations.yaml"]
    outputs = [read_config(ROOT / "jobs" / "configs" / name).settings.output for name in runs]
    [last] = [line for line in commands(PAGE) if line.startswith("mpr-audit exhibits") and "--against" not in line]
    assert last.split()[2:-2] == outputs
