"""Every block of code on every page runs, or says why not.

Python    runs, in the order of the page, as the page's notebook does; comments below a line of code are what it prints
yaml      is a valid configuration, or a part of one
sh        is checked by test_docs, and run by tests/jobs/test_readme_commands and test_analysis_docs
sql       is run by test_analysis_docs
text, csv and the like are what programs print or read

A block that cannot run has `<!-- not run: WHY -->` before it. A page whose blocks need more than an empty folder has
tests of its own.
"""

import contextlib
import io
import json
import re
from typing import Any

import pytest

from docs.site import notebook
from jobs.config.audit import Audit
from jobs.config.prompts import PromptTraining
from jobs.settings.document import parse
from tests.pages import PAGES, ROOT, every_block, name_of, text_of

OWN_TESTS = {"docs/analysis.md": "tests/test_analysis_docs.py", "docs/extending.md": "tests/test_extending_docs.py"}
RUN, SHOWN = {"python", "yaml", "sh", "sql"}, {"text", "csv", "json", "mermaid"}
# What a part of a configuration stands in.
WHOLE = {
    "dataset": {"kind": "table", "path": "people.parquet", "text": "{name}", "attributes": {"gender": {}}},
    "encoder": {"kind": "sentence"},
    "queries": {"list": ["nurse"]},
}
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=name_of)
WITH_CODE = [page for page in PAGES if notebook.has_code(page) and name_of(page) not in OWN_TESTS]


@EACH_PAGE
def test_every_block_is_of_a_kind_that_runs_or_of_one_that_is_shown(page):
    for block in every_block(page):
        known = block.language in RUN | SHOWN or block.reason
        assert known, f"{name_of(page)}: a block of {block.language or 'no language'} neither runs nor says why not"


def printed_by(source: str) -> list[str]:
    """Comments below a line of code: what it prints."""
    lines = source.splitlines()
    return [
        line.removeprefix("# ")
        for number, line in enumerate(lines)
        if line.startswith("# ") and "".join(lines[:number]).strip() and lines[number - 1].strip()
    ]


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_code_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = notebook.of_page(page)
    assert written is not None
    namespace = {"__name__": "__main__"}
    for cell in json.loads(written)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            assert "```python" not in source, f"{name_of(page)}: {source}"
            continue
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(source, name_of(page), "exec"), namespace)
        for expected in printed_by(source):
            assert expected in printed.getvalue(), f"{name_of(page)}: {expected}"


def completed(part: dict[str, Any]) -> dict[str, Any]:
    """A whole configuration around a part of one: some of its keys, or those of its data set."""
    if not part.keys() <= Audit.model_fields.keys():
        part = {"dataset": part}
    if isinstance(part.get("dataset"), dict) and "path" not in part["dataset"]:
        part = {**part, "dataset": {**WHOLE["dataset"], **part["dataset"]}}
    return {name: WHOLE[name] for name in WHOLE if name == "dataset" or "results" not in part} | part


@EACH_PAGE
def test_configurations_and_parts_of_them_are_valid(page):
    for block in every_block(page):
        if block.language != "yaml" or block.reason:
            continue
        settings = parse(block.text).value()
        if "training" in settings:
            PromptTraining.model_validate(settings)
            continue
        Audit.model_validate(completed(settings))


@pytest.mark.parametrize("page", OWN_TESTS)
def test_pages_with_tests_of_their_own_have_them(page):
    assert f'"{page}"' in text_of(OWN_TESTS[page]) and (ROOT / page).exists()


def test_a_block_says_why_it_is_not_run():
    text = "<!-- not run: needs a GPU -->\n\n```python\nx = 1\n```\n\n```python\ny = 2\n```\n"
    [cell] = [cell for cell in notebook.notebook(text)["cells"] if cell["cell_type"] == "code"]
    assert cell["source"] == ["y = 2"]
    assert re.search("needs a GPU", "".join(notebook.notebook(text)["cells"][0]["source"]))


def test_what_a_block_prints_is_told_from_remarks():
    source = "# A remark.\nprint(1)\n# 1\n\n# Another.\nprint(2)\n# 2\n# 3"
    assert printed_by(source) == ["1", "2", "3"]
