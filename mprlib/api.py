"""The verbs: measure a selection, select one, sweep a parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from numpy.typing import ArrayLike

from mprlib import registry
from mprlib.assumptions import warn_of_assumption
from mprlib.attention import FIRST, UNIFORM, AnyAttention, Attention, attended, attention_of
from mprlib.declarations import declarations
from mprlib.errors import InputError
from mprlib.function_classes.base import FunctionClass
from mprlib.keywords import resolved
from mprlib.label_errors import ChosenBy, Corrected
from mprlib.label_errors import corrected as corrected_by
from mprlib.measurement import Measurement, measure_with
from mprlib.method import DEFAULT_POINTS, Method
from mprlib.optimisers.request import checked_rhos
from mprlib.problem import Problem
from mprlib.selection import Selection
from mprlib.settings import Whole, checked

if TYPE_CHECKING:
    from mprlib.optimisers.order import FairOrder


def measure(
    problem: Problem,
    items: ArrayLike | Selection,
    function_class: str | FunctionClass = "linear",
    *,
    attention: AnyAttention = UNIFORM,
    **settings: Any,
) -> Measurement:
    """Largest gap any function in the class sees between a selection and the reference.

    function_class is a registered name, with the class's settings as keywords, or an instance of a
    class, or an unfitted scikit-learn model: a regressor's functions are normalised as C', a
    classifier's have values {-1, +1}.
    attention says how much each place counts: uniform (a set), log2, geometric(p), or one weight for each item.

    Shapes:  items (any number,), positions in the pool, distinct; in their order unless attention is uniform. A
             Selection stands for its items.
    Returns: the value with its upper bound, chi, and the witness that attains it.
    Raises:  InputError for items that are empty, repeated or out of range, and for an unknown
             class, setting or attention.
    Source:  MPR paper, Definition 1 and Propositions 3, 4.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.measure(problem, [0, 1], "groups").value
    0.5
    >>> round(mprlib.measure(problem, [0, 1], "tree", depth=1).value, 4)
    0.4082
    """
    chosen, instance = problem.checked_items(items), registry.function_class(function_class, **settings)
    if instance.is_normalised:
        warn_of_assumption(problem, f"values under {instance.name} depend")
    return measure_with(problem, chosen, instance, attention_of(attention))


def fair_order(
    problem: Problem,
    items: ArrayLike,
    rho: float,
    function_class: str | FunctionClass = "linear",
    *,
    first: int = FIRST,
    attention: AnyAttention = UNIFORM,
    **settings: Any,
) -> FairOrder:
    """The order of a selection with every prefix of `first` or more within its rho, by discounted similarity.

    A prefix of j of k items may be sqrt(k / j) times as far from the reference as all of them (each function scaled
    as for k), since chance is: see `mprlib.optimisers.order_course`. An example is in `mprlib.optimisers.order`.
    With an attention that falls from place to place, its weights are those of similarity, and MPR under it is bounded
    in the place of prefixes.

    Shapes:  items (any number,), positions in the pool, distinct.
    Returns: the order, with what is proven of it.
    Raises:  InputError for items as `measure` does, a rho or `first` that is no such number, and as `measure`.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> found = mprlib.fair_order(problem, [0, 1, 2, 3], 0.3, "groups", first=2)
    >>> found.items.tolist()
    [0, 2, 1, 3]
    """
    from mprlib.optimisers.order import ordered, ordered_by_attention

    chosen, instance = problem.checked_items(items), registry.function_class(function_class, **settings)
    [rho] = checked_rhos([rho], "fair_order")
    sized = attended(problem, attention, chosen.size)
    if sized.place_weights is not None:
        return ordered_by_attention(sized, instance.bind(sized), chosen, rho)
    return ordered(sized, instance.bind(sized), chosen, rho, chosen.size, checked(Whole(), "first", first))


def corrected(
    problem: Problem,
    items: ArrayLike | Selection,
    function_class: str | FunctionClass = "linear",
    *,
    chosen_by: ChosenBy | None = None,
    **settings: Any,
) -> Corrected:
    """MPR by the true labels of a selection, where a problem's `label_error` says how often labels are wrong.

    chosen_by: `expected` for items that `mopr` chose of this problem, by expected true labels; `labels` for those that
    were chosen by scores and labels as they are; `other` for those that were not, such as the most similar items, or
    what somebody else showed. By default a Selection's method says which, and items alone are `labels`.

    Returns: the estimate with the ends of its 95% interval; None for each, and a remark, where the confusion is too
             weak to say anything.
    Raises:  InputError for a problem without a label_error, and as `measure` does.

    >>> import mprlib
    >>> women, men = [1, 0], [0, 1]
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[men, men, men, women], reference=[women, men], k=3,
    ...     reference_size=1000, attributes={"gender": [0, 1]}, label_error={"gender": [[0.9, 0.1], [0.1, 0.9]]})
    >>> found = mprlib.corrected(problem, [0, 1, 2], "groups", chosen_by="other")
    >>> found.low < mprlib.measure(problem, [0, 1, 2], "groups").value < found.high
    True
    """
    if problem.label_error is None:
        raise InputError("problem has no label_error: how often its labels are wrong is not known")
    if chosen_by is None:
        chosen_by = registry.METHODS[items.method].chooses_by() if isinstance(items, Selection) else "labels"
    if chosen_by not in get_args(ChosenBy):
        raise InputError(f"chosen_by is {chosen_by!r}: one of {', '.join(get_args(ChosenBy))} is expected")
    chosen = problem.checked_items(items)
    return corrected_by(problem, chosen, registry.function_class(function_class, **settings), chosen_by=chosen_by)


def select(
    problem: Problem,
    method: str | Method,
    value: Any = None,
    function_class: str | FunctionClass = "linear",
    **settings: Any,
) -> Selection:
    """One selection of k items by a method, measured under a function class.

    method and function_class are instances, Mmr(spread="nearest") and Forest(seed=3), or registered names.
    value is the method's parameter (rho for mopr*, lambda for mmr, None where there is none). A rho of "chance" is
    the 95% point of the MPR of k independent draws from the reference.
    settings are those of what is given by name; one that both have needs an instance. attention is one of them for
    every method: that under which its items are measured, and for `mopr` the one under which it bounds MPR.
    Raises:  InputError for an unknown method, class or setting, and for a value that the method refuses.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.select(problem, "top_k").items.tolist()
    [0, 1]
    >>> mprlib.select(problem, "mopr", 0.1, "groups").items.tolist()
    [0, 2]
    >>> mprlib.select(problem, mprlib.MoprPaper(rounds=10), 0.1, mprlib.Groups()).items.tolist()
    [0, 2]
    """
    return _swept(problem, method, [value], function_class, settings)[0]


def sweep(
    problem: Problem,
    method: str | Method,
    values: Sequence[Any] | None = None,
    function_class: str | FunctionClass = "linear",
    **settings: Any,
) -> list[Selection]:
    """One Selection per value, in the order given; shared work is done once.

    values: by default 20 of the method's own, for mopr* evenly spaced rho from 0.005 to top-k's MPR as in the paper.
    Raises:  InputError as for `select`.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> for row in mprlib.sweep(problem, "mopr", [0.5, 0.1], "groups"):
    ...     print(row.value, row.items.tolist(), row.status)
    0.5 [0, 1] optimal
    0.1 [0, 2] optimal
    """
    return _swept(problem, method, values, function_class, settings)


def _swept(
    problem: Problem,
    method: str | Method,
    values: Sequence[Any] | None,
    function_class: str | FunctionClass,
    settings: Mapping[str, Any],
) -> list[Selection]:
    attention, settings = _measuring_attention(registry.method_type(method), settings)
    chosen, measuring = resolved(method, function_class, settings)
    if values is not None and (isinstance(values, (str, bytes)) or not isinstance(values, Iterable)):
        raise InputError(f"values is {values!r}: a list of the parameter's values is expected")
    values = None if values is None else list(values)
    if values == []:
        raise InputError("values is empty: at least one value of the parameter is expected")
    if measuring.is_normalised:
        warn_of_assumption(problem, f"values under {measuring.name} depend")
    found = swept(problem, chosen, measuring, values)
    return found if attention is None else [_measured_again(problem, one, measuring, attention) for one in found]


def swept(
    problem: Problem,
    method: Method,
    measuring: FunctionClass,
    values: Sequence[Any] | None,
    points: int = DEFAULT_POINTS,
) -> list[Selection]:
    """One Selection per value, by default of up to `points` values of the method's own grid."""
    method.expect_inputs(problem)
    if values is None:
        # A grid whose ends are one has the same value at every point.
        values = list(dict.fromkeys(method.grid(problem, measuring.bind(problem), points)))
    width = None if problem.embeddings is None else problem.embeddings.shape[1]
    return method.swept(problem, measuring, method.checked_values(values, width))


def _measuring_attention(
    method: type[Method], settings: Mapping[str, Any]
) -> tuple[Attention | None, Mapping[str, Any]]:
    """The attention under which a method's items are measured, and the other settings.

    None where it is the method's own setting, or is not given.
    """
    if "attention" not in settings or "attention" in declarations(method):
        return None, settings
    if method.is_constrained:
        raise InputError(f"{method.name} bounds MPR of sets: attention goes with mopr, or with measure")
    return attention_of(settings["attention"]), {key: one for key, one in settings.items() if key != "attention"}


def _measured_again(problem: Problem, row: Selection, measuring: FunctionClass, attention: Attention) -> Selection:
    if not row.items.size:
        return row
    found = measure_with(problem, row.items, measuring, attention)
    return replace(row, mpr=found.value, mpr_upper_bound=found.upper_bound)
