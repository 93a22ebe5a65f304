"""What an exhibit is: a table, drawings, and where it deviates from the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd
from matplotlib.figure import Figure


class Missing(Exception):
    """One sentence: what a run lacks for an exhibit, and what would bring it."""


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Exhibit:
    """One table or figure of the paper, made from runs.

    table: every number, unrounded, for CSV. summary: what a printed page holds, its cells texts as
    they are to be read; a value in bold is between two asterisks. figures: drawings by the end
    of their file's name, "" for the only one.
    """

    title: str
    table: pd.DataFrame
    summary: pd.DataFrame
    figures: Mapping[str, Figure] = field(default_factory=dict)
