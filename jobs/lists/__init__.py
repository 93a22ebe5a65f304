"""Result lists: what an engine showed for each query, one file a kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..settings.block import OneOf
from .block import ResultList
from .images import PictureFolders
from .ranking import Shown, ranked
from .table import ResultTable
from .trec import TrecRun

KINDS: dict[str, type[ResultList]] = {"table": ResultTable, "trec": TrecRun, "images": PictureFolders}
# That of a block that names none.
DEFAULT_KIND = "table"
# A result list of any kind, as a configuration describes it.
AnyResults = Annotated[ResultList, OneOf(KINDS, default=DEFAULT_KIND)]


def load(block: ResultList, folder: Path) -> Shown:
    """Every query's list in the engine's order.

    Raises:  UsageError naming the file, row and column for what is no result list.
    """
    return ranked(block.read(folder))
