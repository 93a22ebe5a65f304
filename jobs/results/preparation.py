"""What methods took before any query: orders of columns, learned tokens, texts and probes of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..stages.debiased import Debiased
from ..stages.information import Information
from ..stages.labels import Labels
from ..stages.order import Order
from ..stages.probe import Probe
from ..stages.solve import Solve
from ..stages.texts import Texts
from ..stages.tokens import Tokens
from ..stages.unit import Unit, read_keys
from ..store import Receipt

# Stages that serve one method; what these read in turn (catalogues, vectors, queries) serves them all.
OF_A_METHOD: tuple[type[Unit], ...] = (Tokens, Texts, Debiased, Probe, Labels, Information, Order)


def preparation(units: Iterable[Unit], done: Mapping[str, Receipt]) -> list[dict[str, Any]]:
    """Seconds of one core that each method's own units took, each counted once for a data set and method.

    Returns: rows of dataset, method and seconds, for methods that have units of their own.
    """
    by_key = {unit.key: unit for unit in units}
    asked: dict[tuple[str, str], dict[str, None]] = {}
    for unit in by_key.values():
        if isinstance(unit, Solve):
            own = asked.setdefault((unit.dataset, unit.method.display), {})
            own.update(dict.fromkeys(key for key in read_keys(unit.asked) if _serves_a_method(by_key, key)))
    return [
        {"dataset": dataset, "method": method, "seconds": sum(done[key].seconds for key in keys if key in done)}
        for (dataset, method), own in asked.items()
        if (keys := _with_needs(by_key, own))
    ]


def _serves_a_method(by_key: Mapping[str, Unit], key: str) -> bool:
    return isinstance(by_key.get(key), OF_A_METHOD)


def _with_needs(by_key: Mapping[str, Unit], keys: Iterable[str]) -> list[str]:
    """The keys and those of the units that they read, as far as these serve the method too."""
    found, open_keys = dict.fromkeys(keys), list(keys)
    while open_keys:
        for key in by_key[open_keys.pop()].needs:
            if key not in found and _serves_a_method(by_key, key):
                found[key] = None
                open_keys.append(key)
    return list(found)
