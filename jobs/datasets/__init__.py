"""Data sets: where items, their texts, pictures and attributes come from, one file per kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import TypeAdapter

from ..errors import said_of
from ..settings.block import OneOf
from .block import Dataset
from .catalogue import Catalogue
from .celeba import Celeba
from .clip_retrieval import ClipRetrieval
from .fairface import FairFace
from .hand_labels import HandLabels, Labelled, labelled, read_hand_labels
from .images import Images
from .loading import catalogue_of
from .occupations import Occupations
from .reader import Reader
from .table import Table
from .utkface import UtkFace
from .webdataset import WebDataset

KINDS: dict[str, type[Dataset]] = {
    "table": Table,
    "images": Images,
    "celeba": Celeba,
    "utkface": UtkFace,
    "fairface": FairFace,
    "occupations": Occupations,
    "webdataset": WebDataset,
    "clip_retrieval": ClipRetrieval,
}
# That of a block that names none.
DEFAULT_KIND = "table"
# A data set of any kind, as a configuration describes it.
AnyDataset = Annotated[Dataset, OneOf(KINDS, default=DEFAULT_KIND)]
_ADAPTER: TypeAdapter[Dataset] = TypeAdapter(AnyDataset)


def described(settings: Any) -> Dataset:
    """The data set that the settings of a `dataset` block describe.

    Raises:  pydantic.ValidationError for settings that are none.
    """
    return _ADAPTER.validate_python(settings)


def load(block: Dataset, folder: Path, embedding_column: str | None = None) -> Catalogue:
    """The catalogue of a data set.

    Raises:  UsageError naming the data set, file and column for input that cannot be audited.
    """
    with said_of(f"dataset {block.name}"):
        by_hand = {
            name: read_hand_labels(attribute.hand_labels, folder, name)
            for name, attribute in block.attributes.items()
            if attribute.hand_labels is not None
        }
        asked = {name: given.ids for name, given in by_hand.items()}
        reader = Reader(block=block, folder=folder, embedding_column=embedding_column, looked_up=asked)
        catalogue = catalogue_of(reader)
        predicted = {name: given for name, given in by_hand.items() if block.attributes[name].probe is not None}
        others = {name: given for name, given in by_hand.items() if name not in predicted}
        return replace(
            catalogue, hand_labels=dict(_beside_predicted(catalogue, others)), hand_labels_of_probes=predicted
        )


def _beside_predicted(catalogue: Catalogue, by_hand: Mapping[str, HandLabels]) -> Iterator[tuple[str, Labelled]]:
    for name, given in by_hand.items():
        levels = [level for level in catalogue.levels[name] if level != catalogue.missing]
        yield name, labelled(given, catalogue.looked_up[name], levels)


def reader_of(settings: Mapping[str, Any]) -> Reader:
    """The reader that gave these settings."""
    return Reader(
        block=described(settings["block"]),
        folder=Path(settings["folder"]),
        embedding_column=settings["embedding_column"],
        called_unknown=tuple(settings["called_unknown"]),
        looked_up={name: tuple(ids) for name, ids in settings.get("looked_up", {}).items()},
    )
