"""What inputs must be for each other, checked where they have been read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from mprlib import InputError, registry

from ..config.audit import Audit
from ..config.population import Reference
from ..datasets.catalogue import Catalogue, has_images
from ..encoders import TAKES_TOKENS
from ..encoders.block import EncoderSettings, EncoderSource
from ..errors import BadSetting, UsageError, about
from ..queries.block import Queries
from ..words import numbered


def is_embedded(reference: Reference) -> bool:
    """Whether the data set of a reference needs vectors: to be asked the query, or for attributes to be predicted."""
    attributes = {} if reference.dataset is None else reference.dataset.attributes
    return reference.query_conditioned or any(attribute.probe is not None for attribute in attributes.values())


def check_depths(settings: Audit, catalogue: Catalogue) -> None:
    """Every k has a pool that is large enough."""
    for k in settings.depths:
        pool = min(catalogue.size, settings.prefilter.top)
        if k > pool:
            limited = f"dataset {catalogue.name} has {numbered(catalogue.size, 'item')}"
            if settings.prefilter.top < catalogue.size:
                limited = f"prefilter.top is {settings.prefilter.top}"
            raise BadSetting(f"k is {k}, but {limited}: k must not be larger", "k")


def check_query_vectors(
    encoder: EncoderSettings, asking: Queries, vectors: pa.Table | None, catalogues: Iterable[Catalogue]
) -> None:
    """Given vectors of queries go with those of the items; without them something embeds the texts."""
    column = encoder.vector_column
    asked = 0 if vectors is None or column is None else len(vectors["vector"][0])
    for catalogue in catalogues if asked else ():
        width = catalogue.vector_width
        if width != asked:
            have = f"vectors have {asked} numbers, those of dataset {catalogue.name} have {width}"
            raise BadSetting(f"{asking.vectors}: {have}", "queries", "vectors")
    if vectors is None and encoder.text_encoder is None:
        raise BadSetting(
            f"encoder {encoder.kind} cannot embed query texts: give queries.vectors, or encoder.text with the model "
            "that made the vectors",
            "queries",
        )
    if column is None and vectors is not None:
        raise BadSetting(f"vectors go with encoder precomputed, not with {encoder.kind}", "queries", "vectors")


def check_values(settings: Audit, width: int | None) -> None:
    """Values of parameters that depend on how many numbers a vector has, where that is known already."""
    for place, entry in enumerate(settings.methods):
        method = registry.METHODS[entry.name]
        if entry.values is not None and method.parameter is not None:
            try:
                method.checked_values(entry.values, width)
            except InputError as error:
                raise BadSetting(str(error), "methods", place, entry.name, "values") from None


def expect_text_tower(settings: Audit, method: str) -> None:
    """Learned tokens need a text tower that reads them.

    Raises:  UsageError where there is none.
    """
    reading = settings.searching[0].text_encoder
    if reading is None or not reading.takes_tokens:
        has = "has no text tower" if reading is None else f"is {reading.kind}, whose text tower takes none"
        raise UsageError(
            f"method {method} puts learned tokens before the query: that needs encoder {' or '.join(TAKES_TOKENS)}, "
            f"or precomputed with such a text encoder, and this one {has}"
        )


def check_references(settings: Audit, references: Mapping[str, Catalogue], encoder: EncoderSource | None) -> None:
    sees_vectors = any(entry.over == "embedding" for entry in settings.function_classes)
    for place, block in enumerate(settings.reference):
        with about("reference", place):
            if sees_vectors and (block.kind != "population" or block.query_conditioned):
                raise UsageError(
                    f"reference {block.name}: function classes over embedding need kind population, unconditioned"
                )
            if block.dataset and is_embedded(block):
                why = "query_conditioned needs" if block.query_conditioned else "predicted attributes need"
                expect_content(encoder, references[block.name], f"reference {block.name}: {why}", " in its dataset")


def expect_content(encoder: EncoderSource | None, catalogue: Catalogue, who_needs: str, where: str = "") -> None:
    """Every item needs what its encoder embeds; an item without a picture is skipped, one without a text is not.

    Raises:  UsageError beginning with `who_needs`.
    """
    if encoder is None or (encoder.reads_images and has_images(catalogue)) or catalogue.has_texts():
        return
    wanted = "image, a column of paths, or text" if encoder.reads_images else "text"
    raise UsageError(f"{who_needs} {wanted}{where}, a template over columns")


def check_reference_attributes(
    settings: Audit, catalogues: Mapping[str, Catalogue], references: Mapping[str, Catalogue]
) -> None:
    for catalogue in catalogues.values():
        for place, block in enumerate(settings.reference):
            if block.name in references:
                with about("reference", place):
                    _expect_attributes(catalogue, block.name, references[block.name])


def _expect_attributes(catalogue: Catalogue, name: str, reference: Catalogue) -> None:
    missing = sorted(set(catalogue.levels) - set(reference.levels))
    if missing:
        raise UsageError(
            f"reference {name}: its dataset lacks the attribute {missing[0]!r} of dataset {catalogue.name}; "
            f"it has {', '.join(reference.levels)}"
        )
