"""Which tests run, and how many cases of the fuzzers.

Without a marker: every day, `make test`. `system`: clusters, kills, signals, a browser and random input;
`make test-system`, which runs those that are `alone` after the others, by themselves.
`full`: so many cases that they take hours; only with --full, which also lets the fuzzers try all their cases.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator

import pytest

from jobs.store.user_cache import VARIABLE

# Of a fuzzer's cases, how many are tried without --full: what fits into ten minutes beside all other system tests.
BRIEF_SHARE = 0.05


def pytest_addoption(parser: pytest.Parser) -> None:
    """--full."""
    parser.addoption("--full", action="store_true", help="run tests marked full, and every case of the fuzzers: hours")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays in use: looking for garbage among it takes a third of collecting, and some
    of every test's time afterwards."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only --full runs."""
    if config.getoption("--full"):
        return
    left_out = [item for item in items if "full" in item.keywords]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if "full" not in item.keywords]


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What commands remember of parts and speeds is of these tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def cases(pytestconfig: pytest.Config) -> Callable[[int], int]:
    """How many of so many cases to try."""

    def tried(count: int) -> int:
        return count if pytestconfig.getoption("--full") else max(1, round(BRIEF_SHARE * count))

    return tried
