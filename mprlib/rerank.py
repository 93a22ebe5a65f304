"""The k best of some hundreds of scored candidates within a bound on MPR: one call per request, for services.

Everything that depends on the reference alone is found at the first request and kept with the reference, within a
limit of memory: its cells, the groups' names, what chance shows. An answer does not depend on what is kept, on the
requests before it, or on other threads; there is no other state.

Worked example: two women and two men, of whom men score higher, beside a reference of both alike.

>>> reference = Reference.from_shares({"sex": {"woman": 0.5, "man": 0.5}})
>>> labels = {"sex": ["man", "man", "woman", "woman"]}
>>> found = rerank([0.9, 0.8, 0.7, 0.6], labels, reference, k=2, rho=0.1, ids=["a", "b", "c", "d"])
>>> found.ids.tolist(), found.status.value, found.gap
(['a', 'c'], 'optimal', 0.0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from numpy.typing import ArrayLike

from mprlib.api import swept
from mprlib.arrays import FloatArray, finite
from mprlib.assumptions import warn_of_assumption
from mprlib.coded_problem import coded_problem
from mprlib.encoding import Side
from mprlib.errors import InputError
from mprlib.frames.columns import column_called, is_frame
from mprlib.frames.matching import column_names
from mprlib.from_frames import expect_rows, warn_of_absent, widened
from mprlib.function_classes.base import FunctionClass
from mprlib.keywords import resolved
from mprlib.method import Method
from mprlib.problem import Problem
from mprlib.problem_arguments import checked_ids, checked_k
from mprlib.reference import Reference
from mprlib.selection import Selection

# Nodes of one search for a proof: about a millisecond.
NODES = 1_000


def rerank(
    scores: ArrayLike | str,
    labels: Any,
    reference: Any,
    *,
    k: int,
    rho: float | str = "chance",
    function_class: str | FunctionClass = "groups",
    ids: ArrayLike | str | None = None,
    order: str = "score",
    **settings: Any,
) -> Selection:
    """The most similar k candidates whose MPR is at most rho, best first, with `ids`, `status`, `mpr` and `gap`.

    scores (n,): of the candidates, any unit; or the name of a column of labels.
    labels: a mapping of attributes to levels, {"sex": [...], "age": [...]}, which is fastest; a data frame with such
    columns; or an array (n, l) beside a reference of the same columns.
    reference: a `mprlib.Reference` that is made once, of a frame or of shares, and serves all requests and threads;
    what else is given (a frame, shares, an array) is made into one at each call.
    rho: a number, or "chance": what 95% of lotteries of k people from the reference stay within.
    order: "score", best first, or "fair", with every prefix of 5 or more within its own rho as well (`fair_order`).
    settings: those of `mopr` and of the class. nodes limits the search for a proof, by default 1,000; where it ends the
    search, the result is the best set so far, `feasible`.

    Raises:  InputError for arguments that do not fit each other, naming them.

    >>> import mprlib
    >>> reference = mprlib.Reference.from_shares({"sex": {"woman": 0.5, "man": 0.5}}, size=1000)
    >>> labels = {"sex": ["man", "man", "man", "woman"]}
    >>> chosen = mprlib.rerank([0.9, 0.8, 0.7, 0.6], labels, reference, k=2, rho=0.1, ids=["a", "b", "c", "d"])
    >>> [str(one) for one in chosen.ids], chosen.status.value, round(chosen.mpr, 3)
    (['a', 'd'], 'optimal', 0.0)
    """
    method, measuring = _settled(function_class, {"nodes": NODES, **settings, "order": order})
    problem = _problem(scores, labels, reference, k, ids)
    if measuring.is_normalised:
        warn_of_assumption(problem, f"values under {measuring.name} depend")
    return swept(problem, method, measuring, [rho])[0]


def _settled(function_class: str | FunctionClass, settings: Mapping[str, Any]) -> tuple[Method, FunctionClass]:
    """The method and the class with their settings; those of a name are immutable, and made once."""
    if isinstance(function_class, str):
        with suppress(TypeError):  # settings that no table holds, or that are wrong
            return _made(function_class, tuple((name, value, type(value)) for name, value in settings.items()))
    return resolved("mopr", function_class, settings)


@lru_cache(maxsize=256)
def _made(function_class: str, settings: tuple[tuple[str, Any, type], ...]) -> tuple[Method, FunctionClass]:
    return resolved("mopr", function_class, {name: value for name, value, _ in settings})


def _problem(scores: Any, labels: Any, reference: Any, k: int, ids: Any) -> Problem:
    given = {name: _of_labels(name, value, labels) for name, value in (("scores", scores), ("ids", ids))}
    if not is_frame(labels) or _is_numeric(reference):
        return Problem(scores=given["scores"], labels=labels, reference=reference, k=k, item_ids=given["ids"])
    population = _population(reference, labels)
    known = population.encoding
    if known is None:
        raise InputError("reference was made of an array of labels: one of levels is expected, as from_frame makes it")
    pool = Side.known_by(known, "labels", labels)
    checked = _scores(given["scores"])
    expect_rows("labels", pool, checked.size)
    population, encoding = widened(population, pool)
    warn_of_absent(population, encoding, pool)
    return coded_problem(
        encoding,
        encoding.codes_of(pool),
        population,
        scores=checked,
        k=checked_k(k, checked.size),
        item_ids=checked_ids(given["ids"], checked.size),
    )


def _of_labels(argument: str, value: Any, labels: Any) -> Any:
    """An argument, which may be the name of a column of labels."""
    return column_called("labels", labels, value) if isinstance(value, str) and is_frame(labels) else value


def _scores(scores: Any) -> FloatArray:
    checked = finite("scores", scores, ndim=1)
    if not checked.size:
        raise InputError("scores is empty: at least one candidate is expected")
    return checked


def _is_numeric(reference: Any) -> bool:
    """Whether a reference is rows of numbers, and not of levels."""
    return not isinstance(reference, (Reference, Mapping)) and column_names(reference) is None


def _population(reference: Any, labels: Any) -> Reference:
    known = Reference.given(reference)
    if known is not None:
        return known
    attributes = _attributes(labels)
    for name in attributes:
        column_called("reference", reference, name)
    return Reference.from_frame(reference, attributes)


def _attributes(labels: Any) -> Sequence[str]:
    return list(map(str, labels)) if isinstance(labels, Mapping) else column_names(labels) or ()
