"""Units that some methods need besides a query's pool: texts embedded, columns measured, tokens put before queries."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jobs.config.audit import Audit
from jobs.config.entries import MethodEntry
from jobs.config.method_settings import MADE_FROM
from jobs.plan.inputs import Inputs
from jobs.plan.probe_units import Probing
from jobs.stages.units import Unit, unit

# Units that share the columns of one data set and attribute: enough for the cores of one machine.
INFORMATION_PARTS = 8
# Settings that only say where texts or tokens lie: these are in the keys of the units that read them.
_PLACES = {"phrases", "tokens"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Searched:
    """A data set as its methods' units need it: its catalogue's unit, its vectors, and keys of predicted labels.

    missing is what an item without a value of an attribute is called.
    """

    name: str
    catalogue: Unit
    attributes: Sequence[str]
    missing: str
    shards: Sequence[Unit]
    predicted: Mapping[str, list[str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class MethodUnits:
    """What one method reads in one data set: texts, an order in parts, the query behind tokens, labels by probes.

    probe_labels: keys of labels units, by probe.
    """

    texts: Unit | None
    information: list[Unit]
    order: Unit | None
    tokens: Unit | None
    debiased: Unit | None
    probe_labels: dict[str, list[str]]

    @property
    def keys(self) -> dict[str, Any]:
        """Entries of a solve unit's spec."""
        keys: dict[str, Any] = {}
        if self.texts is not None:
            keys["texts"] = self.texts.key
        if self.order is not None:
            keys["order"] = self.order.key
        if self.tokens is not None:
            keys["tokens"] = self.tokens.key
        if self.probe_labels:
            keys["probe_labels"] = self.probe_labels
        return keys

    @property
    def places(self) -> dict[str, str]:
        """Entries of a solve unit's spec that only say where a vector lies: other keys say what it is."""
        return {} if self.debiased is None else {"debiased": self.debiased.key}

    @property
    def needs(self) -> list[str]:
        """Keys of all units."""
        own = [self.texts, self.debiased, self.order]
        return [part.key for part in own if part is not None] + [
            key for keys in self.probe_labels.values() for key in keys
        ]


def method_units(settings: Audit, inputs: Inputs, place: int, searched: Searched, probing: Probing) -> MethodUnits:
    """The units of the configuration's method at that place, for one data set."""
    entry, texts, tokens = settings.methods[place], inputs.texts.get(place), inputs.tokens.get(place)
    information = []
    if "order" in MADE_FROM.get(entry.name, {}):
        chosen = list(entry.extras.get("attributes", searched.attributes))
        information = [_information_unit(searched, chosen, part) for part in range(INFORMATION_PARTS)]
    given = None if tokens is None else _tokens_unit(entry, tokens)
    return MethodUnits(
        texts=None if texts is None else _texts_unit(inputs, entry, texts),
        information=information,
        order=_order_unit(searched, information) if information else None,
        tokens=given,
        debiased=None if given is None else _debiased_unit(inputs, given),
        probe_labels={
            probe: probing.labels_of(probe, searched.name, searched.shards) for probe in entry.extras.get("probes", ())
        },
    )


def method_spec(entry: MethodEntry) -> dict[str, Any]:
    """A method as a solve unit's spec holds it."""
    spec = entry.model_dump(mode="json")
    spec["extras"] = {name: value for name, value in spec["extras"].items() if name not in _PLACES}
    return spec


def _texts_unit(inputs: Inputs, entry: MethodEntry, texts: Sequence[str]) -> Unit:
    spec = {"texts": list(texts), "encoder": inputs.text_encoder.key}
    return unit("texts", f"{len(texts)} texts of {entry.name}", spec)


def _tokens_unit(entry: MethodEntry, tokens: np.ndarray) -> Unit:
    """Learned tokens travel by the store, so that no worker needs the file."""
    content = hashlib.sha256(np.ascontiguousarray(tokens).tobytes()).hexdigest()
    return unit("tokens", f"{len(tokens)} tokens of {entry.name}", {"sha256": content, "shape": list(tokens.shape)})


def _debiased_unit(inputs: Inputs, tokens: Unit) -> Unit:
    prompts = [query.prompt for query in inputs.queries]
    spec = {"prompts": prompts, "tokens": tokens.key, "encoder": inputs.text_encoder.key}
    return unit("debiased", f"{len(prompts)} queries behind {tokens.title}", spec, needs=(tokens.key,))


def _information_unit(searched: Searched, attributes: Sequence[str], part: int) -> Unit:
    predicted = {name: keys for name, keys in searched.predicted.items() if name in attributes}
    spec: dict[str, Any] = {
        "catalogue": searched.catalogue.key,
        "vectors": [shard.key for shard in searched.shards],
        "attributes": list(attributes),
        "part": part,
        "parts": INFORMATION_PARTS,
        **({"predicted": predicted} if predicted else {}),
    }
    title = f"{searched.catalogue.title}: {' and '.join(attributes)}, part {part + 1} of {INFORMATION_PARTS}"
    labels = [key for keys in predicted.values() for key in keys]
    return unit("information", title, spec, needs=(searched.catalogue.key, *spec["vectors"], *labels))


def _order_unit(searched: Searched, information: Sequence[Unit]) -> Unit:
    keys = [part.key for part in information]
    return unit("order", f"{searched.catalogue.title}: columns", {"information": keys}, needs=tuple(keys))
