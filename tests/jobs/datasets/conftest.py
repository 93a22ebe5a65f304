"""Small tables in many parts."""

import pytest

from jobs import datasets
from jobs.datasets import known_parts, loading, scan, table_files
from jobs.store.user_cache import VARIABLE


@pytest.fixture
def small_parts(monkeypatch, tmp_path):
    """Parts of 30 rows, read in this process, and a cache of their own; the list names the places that were read."""
    read = []

    def scanned(reader, asked):
        for place, file in asked:
            read.append(place)
            question = {"pieces": place.to_json(), "hashes": str(file)}
            answer = scan.answer_of(datasets.reader_of(reader.settings()), question)
            yield scan.summary_of(answer)

    monkeypatch.setattr(table_files, "PART_ROWS", 30)
    monkeypatch.setattr(loading, "scanned", scanned)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(known_parts, "CLOCK_STEP_SECONDS", 0.0)
    return read
