"""What the settings of every kind of data set have in common, and what a kind has to say of itself.

Field descriptions are the documentation of the configuration file.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, FiniteFloat, GetCoreSchemaHandler, field_validator, model_validator
from pydantic_core import CoreSchema, core_schema

from ..images.limits import ImageLimits
from ..settings.block import Block, Distinct, DriverPath, FilePath, Label, Many
from .source import Listing, Place, Source

# What is said of a data set's labels, and read by nobody who reads the data set: its units stay as they are.
NOT_READ: Mapping[str, Any] = {"attributes": {"__all__": {"confusion", "errors", "hand_labels"}}}


class _TableOrFile:
    """Annotates what a file may hold in the place of a block; a wrong value is one of the block."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        table = handler.generate_schema(dict[str, dict[str, FiniteFloat]])
        return core_schema.no_info_wrap_validator_function(
            lambda value, validated: value if isinstance(value, str) else validated(value),
            table,
            serialization=core_schema.plain_serializer_function_ser_schema(lambda value: value),
        )


# Counts or shares by true and predicted level, or a table of them.
TableOrFile = Annotated[dict[str, dict[str, float]] | str, FilePath(), _TableOrFile()]


class Attribute(Block):
    """One attribute of the items; it becomes one one-hot column per level."""

    column: Label | None = Field(None, description="column that holds it; default: the attribute's name")
    bins: Many[FiniteFloat] | None = Field(
        None, description="ascending cuts of a numeric column: [a, b] gives (-inf, a), [a, b), [b, inf)"
    )
    order: Distinct[Label] = Field(
        (), description="levels in reading order; others follow by name. Some kinds of data sets have an order already"
    )
    map: dict[str, Label] = Field(
        {},
        description="values to rename, {found: name}, so that two data sets agree; an empty name, or `unknown`, makes "
        "the value a missing one",
    )
    probe: str | None = Field(
        None,
        description="name of an entry of `probes` that predicts the attribute from the items' vectors, where no column "
        "holds it",
    )
    confusion: TableOrFile | None = Field(
        None,
        description="how often the labels are wrong, {true level: {predicted level: share}}, or counts of labelled "
        "items instead of shares; or a table with the columns true, predicted, and share or count. Levels have the "
        "names that `map` gives them",
    )
    errors: Literal["held_out", "probabilities"] | None = Field(
        None,
        description="how often a probe is wrong, estimated on items that were held out of its training. `held_out`: "
        "its errors there are the confusion of its labels. `probabilities`: each item's probabilities by the probe are "
        "used, after calibration and tests on the held-out items, and re-weighted to the data set's shares of levels",
    )
    probabilities: dict[str, Label] | None = Field(
        None,
        description="columns with the probability of each level, {level: column}, instead of a confusion; the "
        "probabilities must be calibrated and sum to 1",
    )
    hand_labels: DriverPath | None = Field(
        None,
        description="a CSV of some items' true levels, as the page of `label-sample` saves it, from which the "
        "confusion is estimated: a column item_id, one with the attribute's name, optionally inclusion_probability. "
        "With a probe the labels tell how often it is wrong about the audited items; beside its `errors: "
        "probabilities` they only replace these items' probabilities",
    )

    @property
    def may_be_wrong(self) -> bool:
        """Whether something is said of how often its labels are wrong."""
        said = (self.confusion, self.errors, self.probabilities, self.hand_labels)
        return any(one is not None for one in said)

    @field_validator("bins")
    @classmethod
    def _ascending(cls, bins: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if bins is not None and (not bins or any(low >= high for low, high in itertools.pairwise(bins))):
            raise ValueError(f"bins are {list(bins)}: at least one cut, in ascending order, is expected")
        return bins

    @model_validator(mode="after")
    def _one_kind(self) -> Attribute:
        given = self.model_fields_set - {"probe", "confusion", "errors", "hand_labels"}
        if self.probe is not None and given:
            raise ValueError(f"probe goes alone, not with {min(given)}: a predicted attribute has no column")
        if self.errors is not None and self.probe is None:
            raise ValueError("errors are those of a probe on held-out items: give the probe, or a confusion")
        if self.errors is not None and self.confusion is not None:
            raise ValueError("errors and confusion both say how often labels are wrong: one of them")
        if self.errors == "held_out" and self.hand_labels is not None:
            raise ValueError("errors held_out and hand_labels both say how often labels are wrong: one of them")
        if self.bins is not None and self.map:
            raise ValueError("bins are for numbers and map is for names: one of them is expected")
        if self.bins is not None and self.order:
            raise ValueError("bins have an order already: order is for names")
        if self.hand_labels is not None and (self.confusion is not None or self.probabilities is not None):
            other = "confusion" if self.confusion is not None else "probabilities"
            raise ValueError(f"hand_labels and {other} both say how often labels are wrong: one of them")
        if self.confusion is not None and self.probabilities is not None:
            raise ValueError("confusion says how often labels are wrong, probabilities say it of each: one of them")
        return self


class Dataset(Block):
    """Items that can be retrieved, or people to compare with: the settings of every kind of data set."""

    # A kind is a subclass with `kind`, settings of its own, the attributes that it has by itself, and `read`.
    own_attributes: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    # For the documentation: what its items are, and on which terms they may be used.
    items: ClassVar[str]
    terms: ClassVar[str]

    name: str = Field("items", description="how rows of the results name it")
    kind: str = Field(description="what the data set is; each kind has settings of its own beside these")
    path: DriverPath = Field(description="file or folder, relative to the configuration file")
    text: str | None = Field(
        None,
        description='template over columns: "{name}, {occupation}"; between braces is the name of a column, dots and '
        "digits too, and doubled braces are braces",
    )
    image_limits: ImageLimits = Field(ImageLimits(), description="what a picture may cost before it is skipped")
    image_fingerprint: Literal["names", "listing", "content"] = Field(
        "listing",
        description="how changed pictures, or files of vectors, are noticed: `names` compares names, `listing` also "
        "sizes and times of change, `content` all bytes; with `content` large tables are read at every start, too",
    )
    max_skipped_share: float = Field(
        0.1, ge=0, le=1, description="share of the items that may be skipped; above it the run fails"
    )
    relevance: Label | None = Field(None, description="column of true query terms; gives precision and nDCG")
    weight: Label | None = Field(None, description="column of sampling weights, used where the data set is a reference")
    missing: Literal["level", "drop"] = Field(
        "level",
        description="a missing attribute value: a level of its own, called `unknown` (or `missing`, where the data "
        "have a level `unknown`), or drop and count the item",
    )
    attributes: dict[str, Attribute] = Field(
        description="the labels that an audit is about; known data sets have some of their own", min_length=1
    )

    @field_validator("attributes", mode="before")
    @classmethod
    def _empty_blocks(cls, attributes: Any) -> Any:
        if isinstance(attributes, dict):
            return {name: {} if block is None else block for name, block in attributes.items()}
        return attributes

    @model_validator(mode="before")
    @classmethod
    def _with_own_attributes(cls, raw: Any) -> Any:
        if not isinstance(raw, dict) or "attributes" in raw:
            return raw
        own = cls.attributes_of(raw)
        return raw | {"attributes": dict(own)} if own else raw

    @classmethod
    def attributes_of(cls, raw: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
        """The attributes of a data set whose settings name none."""
        return cls.own_attributes

    def item_columns(self) -> dict[str, str]:
        """Columns beside the id that the kind's own settings name, each with that setting."""
        return {}

    def read_by_workers(self) -> str | None:
        """The folder or file that workers read on every node, None where the driver alone reads the data set."""
        return self.path

    def listing(self, folder: Path, columns: Mapping[str, str]) -> Listing | None:
        """The parts that the data set may be read in, by `read_place`; None where only `read` reads it, whole.

        Raises:  UsageError for what is not there, as `read` does.
        """
        return None

    def read_place(self, folder: Path, columns: Mapping[str, str], place: Place) -> Source:
        """The rows of one part of `listing`, as `read` gives those of all."""
        raise NotImplementedError(f"{self.kind} is read whole")

    @abstractmethod
    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """The data set's rows.

        folder: where relative paths start from. columns: those that the audit reads beside the ids, each with the
        setting that names it; a kind need look at no others.
        Raises:  UsageError for what cannot be read; who asked puts the data set's name before it.
        """
