"""Pages for tests in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.analysis.load import from_tables
from jobs.report.build import build
from tests.jobs.report import hostile, synthetic


@pytest.fixture(scope="session")
def pages(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    runs = {
        "plain": from_tables(**synthetic.tables(queries=4, points=6), manifest=synthetic.manifest()),
        "mixed": from_tables(**synthetic.tables(queries=20, points=2), manifest=synthetic.manifest()),
        "hostile": from_tables(**hostile.tables(), manifest=hostile.manifest()),
        "broken": from_tables(**hostile.broken_tables()),
        "long": from_tables(**hostile.long_tables(), manifest=hostile.long_manifest()),
    }
    for name, run in runs.items():
        (folder / f"{name}.html").write_bytes(build(run, has_pictures=False)["index.html"])
    return folder
