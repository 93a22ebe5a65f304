"""Units that some methods need besides a query's pool: texts embedded, columns measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.entries import MethodEntry
from jobs.inputs import Inputs
from jobs.method_settings import MADE_FROM
from jobs.units import Unit, unit

# Units that share the columns of one data set and attribute: enough for the cores of one machine.
INFORMATION_PARTS = 8
# Settings that only say where texts lie: the texts are in the key of the unit that embeds them.
_PLACES = {"phrases"}


@dataclass(frozen=True, kw_only=True, slots=True)
class MethodUnits:
    """What one method reads in one data set: one unit of texts at most, and parts of an order."""

    texts: Unit | None
    information: list[Unit]

    @property
    def keys(self) -> dict[str, Any]:
        """Entries of a solve unit's spec."""
        keys: dict[str, Any] = {}
        if self.texts is not None:
            keys["texts"] = self.texts.key
        if self.information:
            keys["information"] = [part.key for part in self.information]
        return keys

    @property
    def needs(self) -> list[str]:
        """Keys of all units."""
        return [part.key for part in ([self.texts] if self.texts else []) + self.information]


def method_units(
    inputs: Inputs,
    place: int,
    entry: MethodEntry,
    catalogue: Unit,
    attributes: Sequence[str],
    shards: Sequence[Unit],
) -> MethodUnits:
    """The units of one method, at its place in the configuration; attributes are those of the data set."""
    information = []
    if "order" in MADE_FROM.get(entry.name, {}):
        chosen = list(entry.extras.get("attributes", attributes))
        information = [_information_unit(catalogue, chosen, shards, part) for part in range(INFORMATION_PARTS)]
    embedded = _texts_unit(inputs, entry, inputs.texts[place]) if place in inputs.texts else None
    return MethodUnits(texts=embedded, information=information)


def method_spec(entry: MethodEntry) -> dict[str, Any]:
    """A method as a solve unit's spec holds it."""
    spec = entry.model_dump(mode="json")
    spec["extras"] = {name: value for name, value in spec["extras"].items() if name not in _PLACES}
    return spec


def _texts_unit(inputs: Inputs, entry: MethodEntry, texts: Sequence[str]) -> Unit:
    spec = {"texts": list(texts), "encoder": inputs.text_encoder.key}
    return unit("texts", f"{len(texts)} texts of {entry.name}", spec)


def _information_unit(catalogue: Unit, attributes: Sequence[str], shards: Sequence[Unit], part: int) -> Unit:
    spec: Mapping[str, Any] = {
        "catalogue": catalogue.key,
        "vectors": [shard.key for shard in shards],
        "attributes": list(attributes),
        "part": part,
        "parts": INFORMATION_PARTS,
    }
    title = f"{catalogue.title}: {' and '.join(attributes)}, part {part + 1} of {INFORMATION_PARTS}"
    return unit("information", title, spec, needs=(catalogue.key, *spec["vectors"]))
