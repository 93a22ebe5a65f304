"""Which contents the last run of an audit had, so that the next plan can say what is gone."""

from __future__ import annotations

import numpy as np

from ..store import Store
from ..store.keys import digest
from .keys import first_of_each, from_bytes

FOLDER = "runs"


def _file(audit: str, dataset: str) -> str:
    return f"{FOLDER}/{digest([audit, dataset])}.keys"


def write_contents(store: Store, audit: str, dataset: str, keys: np.ndarray) -> None:
    """Keep the keys (n, 2) of a data set's contents."""
    store.write(_file(audit, dataset), np.ascontiguousarray(keys[first_of_each(keys)]).tobytes())


def gone(store: Store, audit: str, dataset: str, keys: np.ndarray) -> int | None:
    """How many contents of the last run are not among these; None where no run has left word, or a damaged one."""
    try:
        before = from_bytes(store.read(_file(audit, dataset)))
    except (OSError, ValueError):
        return None
    return first_of_each(np.concatenate([keys, before])).size - first_of_each(keys).size
