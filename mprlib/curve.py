"""Trade-off curves: what each method gives up in similarity for each value of its parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from mprlib import registry
from mprlib.api import swept
from mprlib.assumptions import warn_of_assumption
from mprlib.declarations import strict
from mprlib.errors import InputError
from mprlib.frames import output
from mprlib.function_classes.base import FunctionClass
from mprlib.html import table
from mprlib.method import DEFAULT_POINTS, Method
from mprlib.problem import KIND, Problem
from mprlib.selection import Selection, Status
from mprlib.settings import Whole

# Columns of `Curve.to_frame`, each an attribute of a Selection.
COLUMNS = ("similarity", "mpr", "mpr_upper_bound", "rho", "rho_min", "similarity_bound", "gap", "solve_seconds")
# Shapes of marks, one method after the other.
MARKERS = "osD^vPX*<>hp"


@dataclass(frozen=True, kw_only=True, eq=False, slots=True, repr=False)
class Curve:
    """Selections of some methods on one problem, by method and in the order of their values.

    function_class: the name of the class under which all were measured. kind: of the frames the problem was made of.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> curve = mprlib.curve(problem, methods=["top_k", "mopr"], points=3, function_class="groups")
    >>> curve
    Curve(4 selections by top_k, mopr, measured under groups)
    >>> curve.to_frame().columns.tolist()[:3]
    ['method', 'value', 'status']
    """

    selections: tuple[Selection, ...]
    function_class: str
    kind: str | None = None

    def to_frame(self, kind: str | None = None) -> Any:
        """One row a selection: method, value of the parameter, status, similarity, mpr, bounds and seconds.

        kind: pandas, polars or pyarrow; by default that of the problem's frames, else pandas where it is installed.
        """
        return output.made(self._columns(), kind or self.kind)

    def plot(self, ax: Any = None) -> Any:
        """The curves on matplotlib axes, by default new ones, which are returned.

        Hollow marks are sets that do not meet the rho that was asked of them.
        Raises:  InputError where matplotlib is not installed.
        """
        if ax is None:
            ax = _new_axes()
        methods = list(dict.fromkeys(one.method for one in self.selections))
        for place, method in enumerate(methods):
            own = sorted(
                (one for one in self.selections if one.method == method and one.mpr is not None),
                key=lambda one: (one.mpr, one.similarity),
            )
            inside = [one for one in own if one.rho is None or one.mpr is None or one.mpr <= one.rho]
            outside = [one for one in own if one not in inside]
            marker, colour = MARKERS[place % len(MARKERS)], f"C{place % 10}"
            ax.plot(*_points(inside), marker=marker, color=colour, label=method, linewidth=1.2, markersize=4)
            if outside:
                ax.plot(*_points(outside), marker=marker, color=colour, markerfacecolor="none", linestyle="none")
        ax.set_xlabel(f"MPR ({self.function_class})")
        ax.set_ylabel("mean similarity")
        ax.legend(frameon=False)
        return ax

    def __repr__(self) -> str:
        methods = ", ".join(dict.fromkeys(one.method for one in self.selections))
        return f"Curve({len(self.selections)} selections by {methods}, measured under {self.function_class})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        shown = ("method", "value", "status", "similarity", "mpr", "gap")
        columns = self._columns()
        return table(repr(self), {name: columns[name] for name in shown})

    def _columns(self) -> dict[str, list[Any]]:
        numbers = {name: [_number(getattr(one, name)) for one in self.selections] for name in COLUMNS}
        return {
            "method": [one.method for one in self.selections],
            "value": [_number(one.value) for one in self.selections],
            "status": [one.status.value for one in self.selections],
            **numbers,
            "message": [one.message for one in self.selections],
        }


@strict
def curve(
    problem: Problem,
    methods: Sequence[str | Method] = ("top_k", "mopr"),
    function_class: str | FunctionClass = "linear",
    *,
    points: Annotated[int, Whole(least=1)] = DEFAULT_POINTS,
) -> Curve:
    """Each method's selections at up to `points` values of its parameter, all measured under one class.

    methods: names or instances; the values are the method's own, for mopr* evenly spaced rho from 0.005 to top-k's MPR.

    >>> candidates = {"sex": ["man", "man", "woman", "woman"], "score": [0.9, 0.8, 0.7, 0.6]}
    >>> people = {"sex": ["woman", "man"]}
    >>> problem = Problem.from_frames(candidates, people, score="score", attributes=["sex"], k=2)
    >>> found = curve(problem, methods=["top_k", "mopr"], function_class="groups", points=2)
    >>> found.to_frame()[["method", "status", "similarity", "mpr"]]
      method   status  similarity  mpr
    0  top_k     done        0.85  0.5
    1   mopr  optimal        0.80  0.0
    2   mopr  optimal        0.85  0.5

    Raises:  InputError for a name that is none, and as `sweep` does.
    """
    if isinstance(methods, (str, Method)) or not isinstance(methods, Sequence) or not methods:
        raise InputError(f"methods is {methods!r}: a list of names or instances is expected, as in ['top_k', 'mopr']")
    measuring = registry.function_class(function_class)
    chosen = [registry.method(one) for one in methods]
    if measuring.is_normalised:
        warn_of_assumption(problem, f"values under {measuring.name} depend")
    selections = [one for method in chosen for one in swept(problem, method, measuring, None, points)]
    return Curve(
        selections=tuple(one for one in selections if one.status != Status.FAILED),
        function_class=registry.display_name(measuring),
        kind=problem.cached(KIND, lambda: None),
    )


def _points(selections: Sequence[Selection]) -> tuple[list[Any], list[Any]]:
    return [one.mpr for one in selections], [one.similarity for one in selections]


def _number(value: Any) -> float | None:
    """Whole numbers and missing ones among others, as every library of frames reads them."""
    return None if value is None else float(value)


def _new_axes() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise InputError("matplotlib is not installed: pip install mprlib[plot]") from None
    return pyplot.subplots()[1]
