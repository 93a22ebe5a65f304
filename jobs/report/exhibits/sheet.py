"""A contact sheet: one column per method, one cell per item, its image or its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ...words import shortened
from ..figures import LONGEST_TITLE
from .pictures import DOTS_PER_INCH

COLUMN_INCHES, HEAD_INCHES, MARGIN_INCHES = 2.3, 0.75, 0.15
# A row of texts, and one of pictures with their texts to the right.
TEXT_ROW_INCHES, PICTURE_ROW_INCHES = 0.5, 0.95


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Sheet:
    """A figure whose cells are written by column and row."""

    figure: Figure
    width: float
    height: float
    row_height: float
    picture_side: float

    @classmethod
    def of(cls, columns: int, rows: int, title: str, *, has_pictures: bool) -> Sheet:
        """An empty sheet under its title; all lengths are in inches."""
        row_height = PICTURE_ROW_INCHES if has_pictures else TEXT_ROW_INCHES
        picture_side = row_height - 0.05 if has_pictures else 0.0
        width = 2 * MARGIN_INCHES + columns * COLUMN_INCHES
        height = HEAD_INCHES + rows * row_height + MARGIN_INCHES
        figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH)
        FigureCanvasAgg(figure)
        figure.text(
            MARGIN_INCHES / width,
            1 - 0.2 / height,
            shortened(title, LONGEST_TITLE),
            fontsize=11,
            va="center",
            parse_math=False,
        )
        return cls(figure=figure, width=width, height=height, row_height=row_height, picture_side=picture_side)

    def head(self, column: int, text: str) -> None:
        """A column's name."""
        self._text(column, HEAD_INCHES - 0.2, text, fontsize=9, weight="bold", va="center")

    def write(self, column: int, row: int, text: str) -> None:
        """A cell's text, which may have lines."""
        style: dict[str, Any] = {"fontsize": 7, "va": "top", "linespacing": 1.05}
        self._text(column, HEAD_INCHES + row * self.row_height, text, right=self.picture_side * 1.05, **style)

    def draw(self, column: int, row: int, pixels: np.ndarray) -> None:
        """A cell's picture (height, width, 3), bytes."""
        across = MARGIN_INCHES + column * COLUMN_INCHES
        down = HEAD_INCHES + row * self.row_height + self.picture_side
        side = self.picture_side
        axes = self.figure.add_axes(
            (across / self.width, 1 - down / self.height, side / self.width, side / self.height), anchor="NW"
        )
        axes.imshow(pixels)
        axes.set_axis_off()

    def _text(self, column: int, down: float, text: str, right: float = 0.0, **style: Any) -> None:
        across = (MARGIN_INCHES + column * COLUMN_INCHES + right) / self.width
        self.figure.text(across, 1 - down / self.height, text, parse_math=False, **style)
