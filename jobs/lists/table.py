"""A result list in a table (Parquet, CSV or JSON lines): a row per shown item."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from ..datasets import table_files
from ..datasets.source import Stretch
from ..datasets.table_folder import table_files as files_at
from ..settings.block import Label
from .block import ResultList
from .entries import Entries, numbers, texts


class ResultTable(ResultList):
    """A table of what was shown: a row per query and item."""

    kind: Literal["table"] = "table"
    query: Label = Field("query", description="column of the query")
    item: Label | None = Field(None, description="column of the item's id; without one every row is an item of its own")
    rank: Label | None = Field(
        None, description="column of the place at which the item was shown, the smallest first, from 0 or from 1"
    )
    score: Label | None = Field(
        None, description="column of the engine's score, the largest first; it is the similarity that a repair gives up"
    )
    text: str | None = Field(
        None, description="what the page shows of an item: a template over columns of the list, as in a data set"
    )

    def read(self, folder: Path) -> Entries:
        """The rows of the table.

        Raises:  UsageError for a file that is no table or lacks a column, and for a value that is missing or no number.
        """
        named = {"query": self.query, "item": self.item, "rank": self.rank, "score": self.score}
        asked = {name: setting for setting, name in named.items() if name is not None}
        table, parts, remarks = self._read(folder, asked)
        queries = texts(table, self.query, "query", parts, self.path)
        ranks, scores = (
            None if name is None else numbers(table, name, setting, parts, self.path)
            for setting, name in (("rank", self.rank), ("score", self.score))
        )
        items = (
            self._row_names(queries, ranks) if self.item is None else texts(table, self.item, "item", parts, self.path)
        )
        return Entries(
            path=self.path,
            queries=queries,
            items=items,
            ranks=ranks,
            scores=scores,
            columns={setting: name for setting, name in named.items() if name is not None},
            parts=parts,
            remarks=remarks,
        )

    def columns_of(self, folder: Path, columns: Mapping[str, str]) -> pa.Table:
        """Other columns of the table.

        Raises:  UsageError for a column that it lacks.
        """
        return self._read(folder, columns)[0]

    def _read(self, folder: Path, columns: Mapping[str, str]) -> tuple[pa.Table, tuple[Stretch, ...], tuple[str, ...]]:
        files, remarks = files_at(folder / self.path, table_files.SUFFIXES)
        table, parts = table_files.read(files, columns)
        return table, parts, remarks

    @staticmethod
    def _row_names(queries: pa.Array, ranks: np.ndarray | None) -> pa.Array:
        """Names of rows: the query and its rank, or the row where ranks are missing or repeat."""
        rows = pa.array(np.arange(1, len(queries) + 1)).cast(pa.string())
        if ranks is None:
            return pc.binary_join_element_wise(queries, rows, "/")
        named = pc.binary_join_element_wise(queries, texts_of_ranks(ranks), "/")
        is_distinct = pc.count_distinct(named).as_py() == len(named)
        return named if is_distinct else pc.binary_join_element_wise(queries, rows, "/")


def texts_of_ranks(ranks: np.ndarray) -> pa.Array:
    """Ranks as people write them: whole ones without a point."""
    return pa.array([f"{rank:.15g}" for rank in ranks.tolist()], pa.string())
