"""A store for units that fail, hang and are stopped."""

from __future__ import annotations

import pytest

from jobs.store import Store


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(str(tmp_path))
