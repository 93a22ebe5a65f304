"""Pictures that a generator made, or an engine returned, in a folder per prompt.

The query is the name of the picture's first folder below the path, and the item's id is the picture's path there, as in
a data set of pictures, which has the labels. A generator ranks nothing: its pictures are independent draws, all alike,
so that every one has the same similarity. Their own sampling error is in mpr_low and mpr_high of what was shown; how
far their shares are from the target by chance alone is what p_chance and mpr_chance say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from ..datasets.pictures import folder_of, pictures_below
from ..errors import UsageError
from ..words import numbered
from .block import ResultList
from .entries import Entries


class PictureFolders(ResultList):
    """A folder of pictures per query, such as a generator's for each prompt."""

    kind: Literal["images"] = "images"
    draws: bool = Field(
        True,
        description="the pictures are independent draws, as a generator's are: `mpr_low` and `mpr_high` of `as_shown` "
        "hold their own sampling error; false for pictures that an engine found",
    )

    def read(self, folder: Path) -> Entries:
        """The pictures, by path.

        Raises:  UsageError for a folder that is not there or has no pictures in folders of their own.
        """
        root = folder_of(folder / self.path)
        paths = [one for one in pictures_below(root) if isinstance(one, str)]
        within = [path for path in paths if "/" in path]
        if not within:
            raise UsageError(f"{root} has no pictures in folders: one folder per query is expected")
        outside = len(paths) - len(within)
        remark = f"{numbered(outside, 'picture')} in no folder of a query, passed over"
        return Entries(
            path=self.path,
            queries=pa.array([path.partition("/")[0] for path in within], pa.string()),
            items=pa.array(within, pa.string()),
            ranks=None,
            # All alike.
            scores=np.ones(len(within)),
            remarks=(remark,) if outside else (),
        )
