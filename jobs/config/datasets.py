"""Settings of a data set: where its items and labels come from.

Field descriptions are the documentation of the configuration file.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, FiniteFloat, field_validator, model_validator

from jobs.config.block import Block, Label, Many
from jobs.images.limits import ImageLimits


class Attribute(Block):
    """One attribute of the items; it becomes one one-hot column a level."""

    column: Label | None = Field(None, description="column that holds it; default: the attribute's name")
    bins: Many[FiniteFloat] | None = Field(
        None, description="ascending cuts of a numeric column: [a, b] gives (-inf, a), [a, b), [b, inf)"
    )
    order: Many[Label] = Field(
        (), description="levels in reading order; those not named follow by name. Data sets that have an order bring it"
    )
    map: dict[str, Label] = Field(
        {},
        description="values to rename, {found: name}, so that two data sets agree; an empty name, or `unknown`, makes "
        "the value a missing one",
    )
    probe: str | None = Field(
        None,
        description="name of an entry of `probes` that predicts it from the items' vectors, where no column has it",
    )

    @field_validator("bins")
    @classmethod
    def _ascending(cls, bins: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if bins is not None and (not bins or any(low >= high for low, high in zip(bins, bins[1:]))):
            raise ValueError(f"bins are {list(bins)}: at least one cut, in ascending order, is expected")
        return bins

    @model_validator(mode="after")
    def _one_kind(self) -> Attribute:
        given = self.model_fields_set - {"probe"}
        if self.probe is not None and given:
            raise ValueError(f"probe goes alone, not with {min(given)}: a predicted attribute has no column")
        if self.bins is not None and self.map:
            raise ValueError("bins are for numbers and map is for names: one of them is expected")
        if self.bins is not None and self.order:
            raise ValueError("bins have an order already: order is for names")
        return self


Kind = Literal["table", "images", "celeba", "utkface", "fairface", "occupations", "webdataset", "clip_retrieval"]
# Attributes of kinds that say by themselves what their labels are.
OWN_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "images": {"folder": {}},
    "celeba": {"gender": {}, "age": {}},
    "utkface": {"gender": {}, "race": {}, "age": {"bins": [20, 40, 60]}},
    "fairface": {"gender": {}, "race": {}, "age": {}},
    "occupations": {"gender": {}},
}
# Settings that mean something for some kinds only.
SETTING_OF_KINDS = {
    "id": ("table", "clip_retrieval"),
    "image": ("table", "images", "clip_retrieval"),
    "root": ("table", "fairface", "occupations", "clip_retrieval"),
    "labels": ("images",),
    "partition": ("celeba", "fairface"),
}
PARTITIONS = {"celeba": ("train", "val", "test"), "fairface": ("train", "val")}


class Dataset(Block):
    """Items that can be retrieved, or people to compare with."""

    name: str = Field("items", description="how rows of the results name it")
    kind: Kind = Field(
        "table",
        description="table: parquet, csv or json lines, a file or a folder of them; images: a folder of pictures, "
        "whose ids are their paths, with labels from a table or from the folders' names; webdataset: tar"
        " shards; clip_retrieval: vectors that it wrote, for encoder precomputed; celeba, utkface, "
        "fairface, occupations: these data sets as they are handed out",
    )
    path: str = Field(description="file or folder, relative to the configuration file")
    id: Label = Field("item_id", description="kinds table and clip_retrieval: column of distinct ids")
    text: str | None = Field(
        None,
        description='template over columns: "{name}, {occupation}"; between braces stands the name of a column, dots '
        "and digits too, and doubled braces are braces",
    )
    image: Label | None = Field(
        None,
        description="column of image paths, relative to `root`, or `shard.tar::member`; kind images: the labels' "
        "column that names the picture, by default file_name, file or path",
    )
    root: str | None = Field(
        None,
        description="folder that image paths start from, relative to the configuration file; default: the table's",
    )
    labels: str | None = Field(
        None,
        description="kind images: the table of labels, relative to `path`; default: metadata or labels, parquet, "
        "csv or jsonl, in that folder",
    )
    partition: Literal["train", "val", "test"] | None = Field(
        None, description="kinds celeba and fairface: one of their parts; default: all"
    )
    image_limits: ImageLimits = Field(ImageLimits(), description="what a picture may cost before it is skipped")
    image_fingerprint: Literal["names", "listing", "content"] = Field(
        "listing",
        description="how changed pictures, or files of clip_retrieval, are noticed: by names alone, also by sizes and "
        "times of change, or by all bytes",
    )
    max_skipped_share: float = Field(
        0.1, ge=0, le=1, description="share of the items that may be skipped; above it the run fails"
    )
    relevance: Label | None = Field(None, description="column of true query terms; gives precision")
    weight: Label | None = Field(None, description="column of sampling weights, used where the data set is a reference")
    missing: Literal["level", "drop"] = Field(
        "level",
        description="a missing attribute value: a level of its own, called `unknown` (or `missing`, where the data "
        "have a level `unknown`), or drop and count the item",
    )
    attributes: dict[str, Attribute] = Field(
        description="the labels that an audit speaks of; data sets that are known have some of their own", min_length=1
    )

    @field_validator("attributes", mode="before")
    @classmethod
    def _empty_blocks(cls, attributes: Any) -> Any:
        if isinstance(attributes, dict):
            return {name: {} if block is None else block for name, block in attributes.items()}
        return attributes

    @model_validator(mode="before")
    @classmethod
    def _own_attributes(cls, raw: Any) -> Any:
        """Attributes of kinds that bring some; a table of labels says nothing of which of its columns matter."""
        if not isinstance(raw, dict) or "attributes" in raw:
            return raw
        kind = raw.get("kind")
        own = OWN_ATTRIBUTES.get(kind) if isinstance(kind, str) else None
        is_labelled = kind == "images" and (raw.get("labels") or raw.get("image"))
        return raw if own is None or is_labelled else raw | {"attributes": own}

    @model_validator(mode="after")
    def _goes_with_kind(self) -> Dataset:
        for name, kinds in SETTING_OF_KINDS.items():
            if name in self.model_fields_set and getattr(self, name) is not None and self.kind not in kinds:
                raise ValueError(f"{name} goes with kind {' or '.join(kinds)}, not with {self.kind}")
        if self.partition is not None and self.partition not in PARTITIONS[self.kind]:
            raise ValueError(f"partition is {self.partition}: {self.kind} has {' and '.join(PARTITIONS[self.kind])}")
        return self
