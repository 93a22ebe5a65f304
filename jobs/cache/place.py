"""Where the cache is: what a configuration or the environment names, and what units carry of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from ..store import Store

# Names the cache where the configuration does not.
VARIABLE = "MPR_AUDIT_CACHE"
# What messages call it.
NAMED = "cache"


@dataclass(frozen=True, kw_only=True, slots=True)
class CachePlace:
    """A folder or an fsspec URL, with the options of its file system that other machines need."""

    address: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def store(self) -> Store:
        """Its files.

        Raises:  UsageError for one that cannot be reached.
        """
        return Store(self.address, options=dict(self.options) or None, named=NAMED)


def expect_apart(cache: CachePlace | None, output: Store) -> None:
    """Raises:  UsageError for a cache in a run's folder, or the other way round: each is looked after as a whole."""
    if cache is None:
        return
    places = [_comparable_path(cache.store()), _comparable_path(output)]
    if places[0].startswith(places[1]) or places[1].startswith(places[0]):
        raise UsageError(
            f"cache {cache.address} and output {output.root} are the same folder, or one is within the other: the "
            "cache is beside the folders of runs, and is no part of them"
        )


def _comparable_path(store: Store) -> str:
    return f"{os.path.realpath(store.root) if store.is_local else store.root}/"


def cache_place(setting: str | None) -> CachePlace | None:
    """The cache that a configuration names, else the one of the environment; None where there is none.

    Raises:  UsageError for one that cannot be reached.
    """
    address = setting or os.environ.get(VARIABLE)
    if not address:
        return None
    store = Store(address, named=NAMED)
    return CachePlace(address=store.root, options=store.options)
