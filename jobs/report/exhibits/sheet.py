"""A contact sheet: one column a method, one cell an item, its image or its text."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from jobs.report.figures import DOTS_PER_INCH, shortened_title

COLUMN_INCHES, ROW_INCHES, HEAD_INCHES, MARGIN_INCHES = 2.3, 0.5, 0.75, 0.15


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Sheet:
    """A figure whose cells are written by column and row."""

    figure: Figure
    width: float
    height: float

    @classmethod
    def of(cls, columns: int, rows: int, title: str) -> Sheet:
        """An empty sheet under its title."""
        width = 2 * MARGIN_INCHES + columns * COLUMN_INCHES
        height = HEAD_INCHES + rows * ROW_INCHES + MARGIN_INCHES
        figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH)
        FigureCanvasAgg(figure)
        figure.text(
            MARGIN_INCHES / width, 1 - 0.2 / height, shortened_title(title), fontsize=11, va="center", parse_math=False
        )
        return cls(figure=figure, width=width, height=height)

    def head(self, column: int, text: str) -> None:
        """A column's name."""
        self._text(column, HEAD_INCHES - 0.2, text, fontsize=9, weight="bold", va="center")

    def write(self, column: int, row: int, text: str) -> None:
        """A cell's text, which may have lines."""
        self._text(column, HEAD_INCHES + row * ROW_INCHES, text, fontsize=7, va="top", linespacing=1.05)

    def _text(self, column: int, down: float, text: str, **style: object) -> None:
        across = (MARGIN_INCHES + column * COLUMN_INCHES) / self.width
        self.figure.text(across, 1 - down / self.height, text, parse_math=False, **style)
