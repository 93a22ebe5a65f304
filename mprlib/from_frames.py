"""A problem of two frames: their columns matched by name, and encoded together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mprlib.arrays import finite
from mprlib.caller import frames_of_the_library
from mprlib.coded_problem import coded_problem
from mprlib.confusion import Confusion
from mprlib.encoding import Encoding, Side
from mprlib.errors import AssumptionWarning, InputError
from mprlib.frames.columns import column_called, is_frame
from mprlib.frames.levels import checked_bins
from mprlib.frames.output import kind_of
from mprlib.label_error import LabelError
from mprlib.level_names import level_name
from mprlib.problem import KIND, Problem
from mprlib.problem_arguments import checked_ids, checked_k
from mprlib.reference import Reference
from mprlib.reference_arguments import checked_attributes
from mprlib.spelling import numbered

# An attribute with more levels than this, and half as many as rows, holds names of people and no groups.
MOST_SINGLE_LEVELS = 20
# Levels that one warning names.
SHOWN_LEVELS = 5


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Frames:
    """Two frames and the columns of theirs that are no attributes."""

    candidates: Any
    reference: Any
    score: str
    weight: str | None = None
    id: str | None = None
    label_error: LabelError | Mapping[str, Any] | None = None


def problem_of(
    frames: Frames, attributes: Sequence[str], bins: Mapping[str, Sequence[float]] | None, k: int
) -> Problem:
    """The problem of two frames.

    Raises:  InputError as `Problem.from_frames`.
    """
    names = checked_attributes(attributes)
    scores = _scores(frames)
    population, pool, encoding = _encoded(frames, names, checked_bins(bins, names))
    expect_rows("candidates", pool, scores.size)
    warn_of_absent(population, encoding, pool)
    ids = None if frames.id is None else _ids(frames)
    error = None if frames.label_error is None else _label_error(frames.label_error, encoding, scores.size)
    problem = coded_problem(
        encoding,
        encoding.codes_of(pool),
        population,
        scores=scores,
        k=checked_k(k, scores.size),
        item_ids=ids,
        label_error=error,
    )
    problem.cached(KIND, lambda: kind_of(frames.candidates))
    return problem


def expect_rows(argument: str, pool: Side, scores: int) -> None:
    """Raises:  InputError where there are more or fewer rows of levels than scores."""
    if pool.rows != scores:
        raise InputError(
            f"{argument} has {numbered(pool.rows, 'row')} of levels, and scores has {scores}: one each is expected"
        )


def widened(population: Reference, pool: Side) -> tuple[Reference, Encoding]:
    """A reference over the levels of a pool as well, and their encoding; kept with the reference."""
    known = population.encoding
    assert known is not None
    if pool.encoding is known:
        return population, known
    encoding = Encoding.of_sides(pool, known=known, is_stated=population.size is not None)
    if encoding is known:
        return population, known
    key = ("levels", encoding.missing, tuple(encoding.levels.items()))
    wider = population.kept.get(key, lambda: population.of_levels(encoding))
    assert wider.encoding is not None
    return wider, wider.encoding


def _encoded(
    frames: Frames, names: tuple[str, ...], bins: Mapping[str, tuple[float, ...]]
) -> tuple[Reference, Side, Encoding]:
    """The reference, the candidates' attributes, and the encoding of both."""
    given = frames.reference
    known = Reference.given(given, bins)
    if known is None:
        pool = Side.of("candidates", frames.candidates, names, bins)
        people = Side.of("reference", given, names, bins)
        if not people.rows:
            raise InputError("reference is empty: it needs at least one row")
        encoding = Encoding.of_sides(people, pool, bins=bins)
        _expect_groups(encoding, people.rows + pool.rows)
        weights = None if frames.weight is None else column_called("reference", given, frames.weight)
        return Reference.of_codes(encoding, encoding.codes_of(people), weights), pool, encoding
    if frames.weight is not None:
        raise InputError("weight goes with a frame: a Reference holds its weights already")
    population = _of_attributes(known, names, bins)
    assert population.encoding is not None
    pool = Side.of("candidates", frames.candidates, names, {**bins, **population.encoding.bins})
    wider, encoding = widened(population, pool)
    return wider, pool, encoding


def _of_attributes(population: Reference, names: tuple[str, ...], bins: Mapping[str, tuple[float, ...]]) -> Reference:
    """The reference seen by these attributes alone."""
    known = population.encoding
    if known is None:
        raise InputError("reference was made of an array of labels: one of levels is expected, as from_frame makes it")
    absent = [name for name in names if name not in known.levels]
    if absent:
        raise InputError(f"reference has no attribute {absent[0]!r}: it has {', '.join(known.levels)}")
    for name, cuts in bins.items():
        if name in known.bins and known.bins[name] != cuts:
            raise InputError(f"bins[{name!r}] is {list(cuts)}: reference was made with {list(known.bins[name])}")
    if names == tuple(known.levels):
        return population
    own = Encoding(
        levels={name: known.levels[name] for name in names},
        bins={name: cuts for name, cuts in known.bins.items() if name in names},
        missing=known.missing,
    )
    return population.kept.get(("attributes", names), lambda: population.of_levels(own))


def _scores(frames: Frames) -> Any:
    if not is_frame(frames.candidates):
        raise InputError(f"candidates is a {type(frames.candidates).__name__}: a data frame is expected")
    column = _column(frames.candidates, frames.score)
    scores = finite(f"candidates, column {frames.score!r},", column, ndim=1)
    if not scores.size:
        raise InputError("candidates is empty: the pool needs at least one item")
    return scores


def _column(frame: Any, name: Any) -> Any:
    return column_called("candidates", frame, name)


def _label_error(given: Any, encoding: Encoding, rows: int) -> LabelError:
    """What is known of the errors of the frames' levels, matched by their names; who has no level keeps having none."""
    error = LabelError.of(given)
    items, reference = (
        {name: _of_levels(name, one, encoding) for name, one in own.items()} for own in (error.items, error.reference)
    )
    named = replace(error, items=items, reference=reference)
    return named.checked(encoding.names, encoding.attributes, rows)


def _of_levels(name: str, confusion: Confusion, encoding: Encoding) -> Confusion:
    if confusion.levels is None:
        raise InputError(
            f"label_error: the confusion of {name!r} has no names of levels, by which it is matched with frames: "
            "Confusion.from_table takes them, and Confusion.of as levels"
        )
    is_lacking = encoding.missing in encoding.levels.get(name, ()) and encoding.missing not in confusion.levels
    return confusion.with_right_levels([encoding.missing]) if is_lacking else confusion


def _ids(frames: Frames) -> Any:
    ids = _column(frames.candidates, frames.id)
    try:
        return checked_ids(ids, len(ids))
    except InputError as error:
        raise InputError(f"candidates, column {frames.id!r}: {error}") from None


def _expect_groups(encoding: Encoding, rows: int) -> None:
    for name, levels in encoding.levels.items():
        if len(levels) > max(MOST_SINGLE_LEVELS, rows / 2):
            raise InputError(
                f"attributes names {name!r}, which has {len(levels):,} different values in {rows:,} rows: groups need "
                "levels that rows share, as in a column of a few names"
            )


def warn_of_absent(population: Reference, encoding: Encoding, pool: Side) -> None:
    """Warn of levels that candidates have and nobody in the reference."""
    without = population.kept.get(
        ("levels without a share", encoding.missing), lambda: _without_share(population, encoding)
    )
    absent = []
    for name, levels in without.items():
        own = pool.columns[name]
        counts = np.bincount(own.codes + 1, minlength=len(own.levels) + 1)
        for level, count in zip((encoding.missing, *own.levels), counts.tolist()):
            if count and level in levels:
                absent.append(f"{level_name(name, level)} ({count:,} of {pool.rows:,} candidates)")
    if absent:
        shown = ", ".join(absent[:SHOWN_LEVELS]) + (", ..." if len(absent) > SHOWN_LEVELS else "")
        warnings.warn(
            f"no one in the reference has {shown}: showing them counts as too many; map the level to one that the "
            "reference has, or leave such candidates out, where that is not meant",
            AssumptionWarning,
            stacklevel=frames_of_the_library() + 1,
        )


def _without_share(population: Reference, encoding: Encoding) -> dict[str, set[str]]:
    """By attribute, levels that nobody has."""
    shares = dict(zip(encoding.names, population.shares @ population.labels))
    absent = {
        name: {level for level in levels if not shares[level_name(name, level)]}
        for name, levels in encoding.levels.items()
    }
    return {name: levels for name, levels in absent.items() if levels}
