"""The formats of exports, each with what writes it; a format's code is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...store import Store


def _trec(store: Store, output: str) -> list[str]:
    from .trec import export_trec

    return export_trec(store, output)


def _long(store: Store, output: str) -> list[str]:
    from .long import export_long

    return export_long(store, output)


# Format -> what writes it to an output, returning names of the files written.
FORMATS: dict[str, Callable[[Store, str], list[str]]] = {"trec": _trec, "long": _long}
