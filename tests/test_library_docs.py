"""The pages on the library and on services: their code runs, block after block, and prints what it says."""

import re

import pytest

from tests.pages import blocks


@pytest.mark.parametrize("page", ["docs/library.md", "docs/service.md"])
def test_code_runs_and_prints_what_it_says(page, capsys, tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        if "warm_up()" in block:
            continue
        exec(compile(block, page, "exec"), namespace)
        printed = capsys.readouterr().out
        for expected in re.findall(r"^(?:print\(.*\)|.*\n)\n# (.*)$", block, flags=re.MULTILINE):
            assert expected in printed
