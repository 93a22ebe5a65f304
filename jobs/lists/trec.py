"""A run in the format of the Text REtrieval Conference: query, Q0, document, rank, score and the run's name.

White space of any kind and length is between the fields, as trec_eval reads it. trec_eval ignores the rank and orders
by score; here the rank is the engine's order, and where the scores order the documents in another way, a remark says
so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from ..datasets.encodings import lines_of
from ..errors import UsageError
from .block import ResultList
from .entries import Entries

FIELDS = ("query", "Q0", "document", "rank", "score", "run")


class TrecRun(ResultList):
    """A TREC run: lines of query, Q0, document, rank, score and the run's name."""

    kind: Literal["trec"] = "trec"

    def read(self, folder: Path) -> Entries:
        """The lines of the run.

        Raises:  UsageError for a line of another form.
        """
        path = folder / self.path
        try:
            lines = lines_of(path)
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
        found = [(number, line.split()) for number, line in enumerate(lines, start=1) if line and not line.isspace()]
        for number, fields in found:
            if len(fields) != len(FIELDS):
                raise UsageError(
                    f"line {number} of {path} has {len(fields)} fields: {len(FIELDS)} are expected, {', '.join(FIELDS)}"
                )
        if not found:
            raise UsageError(f"{path} has no lines")
        queries, _, items, ranks, scores, _ = zip(*(fields for _, fields in found))
        rows = [number for number, _ in found]
        return Entries(
            path=self.path,
            queries=pa.array(queries, pa.string()),
            items=pa.array(items, pa.string()),
            ranks=_numbers(ranks, rows, "rank", path),
            scores=_numbers(scores, rows, "score", path),
            columns={"rank": "rank", "score": "score"},
        )


def _numbers(values: tuple[str, ...], lines: list[int], name: str, path: Path) -> np.ndarray:
    """A field of all lines as finite numbers (n,)."""
    try:
        found = np.array(values, dtype=np.float64)
    except ValueError:
        found = np.array([_number(value) for value in values])
    wrong = np.flatnonzero(~np.isfinite(found))
    if wrong.size:
        first = int(wrong[0])
        raise UsageError(f"line {lines[first]} of {path} has the {name} {values[first]!r:.80}: a number is expected")
    return found


def _number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return float("nan")


def looks_like_a_run(path: Path) -> bool:
    """Whether a file's first line is one of a run."""
    try:
        with path.open("rb") as file:
            fields = file.readline().split()
    except OSError:
        return False
    return len(fields) == len(FIELDS) and all(_is_number(field) for field in fields[3:5])


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
