"""The population that retrieval should represent, as a configuration names it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, FiniteFloat, ValidationInfo, field_validator, model_validator

from mprlib.reference import STATED_SIZE

from ..datasets import AnyDataset
from ..datasets.block import Dataset
from ..lists import AnyResults
from ..lists.items import ListedItems
from ..settings.block import Block, DriverPath


class Reference(Block):
    """The population that retrieval should represent."""

    name: str = Field("population", description="its name in the result rows")
    kind: Literal["population", "balanced", "shares", "dataset", "results"] = Field(
        "population",
        description="population: the data set itself by its weights; balanced: every combination of levels has the "
        "same share, and people without a value none; shares: stated target shares; dataset: another data set; "
        "results: what another engine showed for the query, each item once",
    )
    query_conditioned: bool = Field(
        False, description="population and dataset: only its most similar people for the query"
    )
    shares: dict[str, dict[str, float]] | None = Field(
        None,
        description='kind shares: {attribute: {level: share}}, joint ones as {"a & b": {"x & y": share}}, where a name '
        "that holds & itself is written in double quotes within the key",
    )
    path: DriverPath | None = Field(
        None,
        description="kind shares: a table of each query's own target, instead of `shares`, with the columns query, "
        "attribute, level and share (attribute and level as in `shares`), and optionally size, the number of people "
        "among whom the query's shares were counted; queries without a target are listed and not compared",
    )
    size: FiniteFloat | None = Field(
        None,
        gt=0,
        description="balanced and shares: the number of reference rows that the shares count as, on which MPR "
        f"depends; by default {STATED_SIZE:,} for shares, and one per combination of levels for balanced, as in the "
        "paper",
    )
    results: AnyResults | None = Field(
        None,
        description="kind results: the block of the other engine's list, whose items have the labels of the audited "
        "data set, by item id, or attributes of their own; queries that it lacks are listed and not compared",
    )
    dataset: AnyDataset | None = Field(
        None,
        validate_default=True,
        description="kind dataset: its block; its default name is the reference's",
    )

    @model_validator(mode="before")
    @classmethod
    def _named_dataset(cls, raw: Any) -> Any:
        """Name the data set after its reference, so that messages do not confuse it with the audited one."""
        if isinstance(raw, dict) and isinstance(raw.get("dataset"), dict):
            return raw | {"dataset": {"name": raw.get("name", "population")} | raw["dataset"]}
        return raw

    @field_validator("dataset")
    @classmethod
    def _items_of_the_list(cls, block: Dataset | None, info: ValidationInfo) -> Dataset | None:
        results = info.data.get("results")
        if block is None and results is not None and results.attributes:
            return ListedItems.of(results, info.data["name"])
        return block

    @model_validator(mode="after")
    def _complete(self) -> Reference:
        if (self.kind == "results") != (self.results is not None):
            raise ValueError("a results block goes with kind: results, and only with it")
        if (self.kind == "dataset") != (self.dataset is not None) and not isinstance(self.dataset, ListedItems):
            raise ValueError("a dataset block goes with kind: dataset, and only with it")
        if (self.kind == "shares") != (self.shares is not None or self.path is not None):
            raise ValueError("shares go with kind: shares, and only with it, or a path to each query's own")
        if self.shares is not None and self.path is not None:
            raise ValueError(
                "shares are stated, or those of each query are in a file: one of shares and path is expected"
            )
        if self.query_conditioned and self.kind in ("balanced", "shares", "results"):
            raise ValueError(f"query_conditioned needs a reference of people: kind {self.kind} has none")
        return self
