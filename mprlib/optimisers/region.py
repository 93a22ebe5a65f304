"""MPR <= rho in terms of whole counts, fast enough to be evaluated for every move of a local search.

A region gives a value to counts x (G,) and to what they become by moves; a move exchanges one item of a
giving cell for one of a taking cell. A ball's values are MPR itself. Values over cuts are lower bounds:
separation adds the function that the measuring code names whenever it sees more. A region alone never
accepts a set; the measuring code does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mprlib.arrays import FloatArray, IntArray
from mprlib.function_classes.base import WorstCase

if TYPE_CHECKING:
    from mprlib.optimisers.ball_region import BallRegion


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbourhood:
    """Which moves a local search evaluates in one step.

    cells: cells between which items are exchanged. moves_in_pairs: moves of which all pairs are evaluated
    where no single move improves. pair_steps: how often in one ascent.
    """

    cells: int
    moves_in_pairs: int
    pair_steps: int


class Region(Protocol):
    """Values of counts, and of counts after moves. `unit` is the size of the class's values."""

    unit: float

    @property
    def neighbourhood(self) -> Neighbourhood:
        """The size of the local search, by what a value costs."""
        ...

    @property
    def is_exact(self) -> bool:
        """Whether a value is MPR itself, so that counts with a value of at most rho meet rho."""
        ...

    @property
    def cut_count(self) -> int:
        """Number of functions held as cuts."""
        ...

    @property
    def directions(self) -> FloatArray:
        """Directions (G, d) with |directions' x| <= rho in every coordinate for all counts x that meet rho."""
        ...

    @property
    def ball(self) -> BallRegion | None:
        """The region itself where the class is a unit ball, so that products of items are at hand."""
        ...

    def value(self, counts: IntArray) -> float:
        """The value of counts (G,)."""
        ...

    def values(self, gaps: FloatArray) -> FloatArray:
        """The values (s,) of gaps (s, d) = directions' x."""
        ...

    def swap_values(self, counts: IntArray, cells: IntArray) -> FloatArray:
        """Values (c, c) after one item of the row's cell is exchanged for one of the column's."""
        ...

    def pair_values(self, counts: IntArray, giving: IntArray, taking: IntArray) -> FloatArray:
        """Values (w, w) after two of the w moves, from giving (w,) to taking (w,)."""
        ...

    def separate(self, counts: IntArray, worst: WorstCase) -> bool:
        """Add the function that the measuring code named where it sees more than the region; whether it did."""
        ...

    def first_cuts(self, counts: FloatArray) -> FloatArray:
        """Cuts (J, G) for an integer programme to start from, near fractional counts (G,)."""
        ...
