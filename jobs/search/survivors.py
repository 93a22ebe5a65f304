"""What may still be among each query's best rows, while blocks of scores stream by."""

from __future__ import annotations

from typing import Any

import numpy as np


class Survivors:
    """Rows within two margins of the running depth-th best score of each query, ties included.

    A query's rows are cut whenever they have doubled, so about 2 x depth rows a query are held, more only
    where that many are within the margins of the cut. `limits` (q,) float32 are the scores that a row must
    reach to survive; they only rise. `seen` counts rows scored so far; positions count from the first.
    """

    def __init__(self, *, margins: np.ndarray, depth: int) -> None:
        self.depth = depth
        self.seen = 0
        # Twice the margin: the cut and the row may each be off by one.
        self.allowances = (2 * margins).astype(np.float32)
        self.limits = np.full(margins.size, -np.inf, dtype=np.float32)
        self._positions: list[list[np.ndarray]] = [[] for _ in margins]
        self._scores: list[list[np.ndarray]] = [[] for _ in margins]
        self._counts = [0] * margins.size
        self._full = [2 * depth] * margins.size

    def add(self, query: int, positions: np.ndarray, scores: np.ndarray) -> None:
        """Rows of one query that reach its limit; positions within the array being scored."""
        self._positions[query].append(positions + self.seen)
        self._scores[query].append(scores)
        self._counts[query] += positions.size
        if self._counts[query] >= self._full[query]:
            self._cut(query)

    def advance(self, rows: int) -> None:
        """Go on to the next array; the last one had that many rows."""
        self.seen += rows

    def found(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each query, positions (c,) ascending and scores (c,) float32 of its survivors."""
        for query in range(len(self._counts)):
            self._cut(query)
        return [(positions[0], scores[0]) for positions, scores in zip(self._positions, self._scores)]

    def _cut(self, query: int) -> None:
        positions = np.concatenate(self._positions[query] or [np.empty(0, dtype=np.int64)])
        scores = np.concatenate(self._scores[query] or [np.empty(0, dtype=np.float32)])
        if scores.size > self.depth:
            self.limits[query] = depth_th(scores, self.depth) - self.allowances[query]
            # Places, not a mask: half of them are kept at random, which masks are slow at.
            kept = np.flatnonzero(scores >= self.limits[query])
            positions, scores = positions.take(kept), scores.take(kept)
        self._positions[query], self._scores[query] = [positions], [scores]
        self._counts[query] = scores.size
        self._full[query] = 2 * max(self.depth, scores.size)


def depth_th(scores: np.ndarray, depth: int) -> np.floating[Any]:
    """The depth-th largest score, in the scores' own type; the smallest where there are fewer."""
    place = max(scores.size - depth, 0)
    found: np.floating[Any] = np.partition(scores, place)[place]
    return found


class NotFiniteError(ValueError):
    """A row whose products are no numbers; `row` counts from the first row scored."""

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row} holds a value that is not finite, or too large for a float32 product")
        self.row = row


def require_finite(scores: np.ndarray, seen: int) -> None:
    """Refuse rows that hold NaN or infinity: their product with any query is no number.

    scores (n,) are one query's, seen is the number of rows before them.
    Raises:  NotFiniteError for the first such row.
    """
    if not np.isfinite(scores).all():
        raise NotFiniteError(seen + int(np.flatnonzero(~np.isfinite(scores))[0]))
