"""What the settings of every kind of result list have in common, and what a kind has to say of itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from pydantic import Field

from ..datasets.block import Attribute
from ..errors import UsageError
from ..settings.block import Block, DriverPath
from .entries import Entries


class ResultList(Block):
    """What an engine showed for each query, instead of `encoder` and `queries`: nothing is embedded."""

    kind: str = Field(description="what the list is; each kind has settings of its own beside these")
    path: DriverPath = Field(description="file or folder, relative to the configuration file")
    attributes: dict[str, Attribute] = Field(
        {},
        description="labels in columns of the list itself; without them a `dataset` holds the labels, by item id",
    )

    draws: bool = Field(
        False,
        description="the shown items are independent draws, as a generator's pictures are and a search's results are "
        "not: `mpr_low` and `mpr_high` of `as_shown` then include the items' own sampling error",
    )

    @abstractmethod
    def read(self, folder: Path) -> Entries:
        """The list's entries, in the order of the file.

        folder: where relative paths start from.
        Raises:  UsageError for what cannot be read.
        """

    def columns_of(self, folder: Path, columns: Mapping[str, str]) -> pa.Table:
        """Other columns of the entries, in the order of the file; each name with the setting that names it.

        Raises:  UsageError for a column that the list lacks.
        """
        raise UsageError(f"{self.path} has no columns of labels: give a dataset that holds them, by item id")
