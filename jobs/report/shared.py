"""What all cases of a report have in common, which whoever describes some of them must know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mprlib.arrays import FloatArray

from ..analysis.cases import CASE, function_classes
from ..analysis.load import Run, minimum_share_of
from ..analysis.parts import Survey
from ..analysis.predicted import Predicted, predicted_of
from .figures import drawn_series

PREFIX = {"dataset": "items ", "reference": "reference ", "k": "k = "}


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """Function classes and series (method, constrained class) in order of first appearance, names of groups in
    theirs, the keys of a case that tell cases apart, the share of the reference below which a group stays out of
    headlines, whose labels are predicted ones, and the p values of all queries by selection, which are those of the
    cases at hand where None."""

    classes: tuple[str, ...]
    series: tuple[tuple[str, str | None], ...]
    groups: tuple[str, ...]
    several: tuple[str, ...]
    minimum_share: float
    predicted: Predicted
    chance: Mapping[str, tuple[float, ...]] | None = None

    def label(self, case: Sequence[Any]) -> str:
        """The query, and what else it takes to tell the cases apart."""
        about = dict(zip(CASE, case))
        others = (f"{PREFIX[name]}{about[name]}" for name in self.several if name != "query")
        return ", ".join([about["query"], *others])


def shared_by_survey(survey: Survey, manifest: Mapping[str, Any], chance: Mapping[str, FloatArray]) -> Shared:
    """Of a run that is looked through."""
    return Shared(
        classes=survey.classes,
        series=survey.series,
        groups=survey.groups,
        several=_several(survey.cases),
        minimum_share=minimum_share_of(manifest),
        predicted=predicted_of(manifest),
        chance={name: tuple(values.tolist()) for name, values in chance.items()},
    )


def shared_by(run: Run) -> Shared:
    """Of a run in memory."""
    cases = run.results[CASE].drop_duplicates().itertuples(index=False, name=None)
    return Shared(
        classes=tuple(function_classes(run.results)),
        series=tuple(drawn_series(run.results)),
        groups=tuple(sorted(run.groups["group"].unique().tolist())),
        several=_several(cases),
        minimum_share=run.minimum_share,
        predicted=predicted_of(run.manifest),
    )


def _several(cases: Iterable[Sequence[Any]]) -> tuple[str, ...]:
    values: list[set[Any]] = [set() for _ in CASE]
    for case in cases:
        for seen, value in zip(values, case):
            seen.add(value)
    return tuple(name for name, seen in zip(CASE, values) if len(seen) > 1)
