"""What all cases of a report have in common, and a task that describes some of them must know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..analysis.cases import function_classes
from ..analysis.load import Run, minimum_share_of
from ..analysis.parts import Survey
from ..analysis.predicted import Predicted, predicted_of
from .figures import drawn_series


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """Function classes and series (method, constrained class) in order of first appearance, the share of the reference
    below which a group stays out of headlines, and whose labels are predicted ones."""

    classes: tuple[str, ...]
    series: tuple[tuple[str, str | None], ...]
    minimum_share: float
    predicted: Predicted


def shared_by_survey(survey: Survey, manifest: Mapping[str, Any]) -> Shared:
    """Of a run that is looked through."""
    return Shared(
        classes=survey.classes,
        series=survey.series,
        minimum_share=minimum_share_of(manifest),
        predicted=predicted_of(manifest),
    )


def shared_by(run: Run) -> Shared:
    """Of a run in memory."""
    return Shared(
        classes=tuple(function_classes(run.results)),
        series=tuple(drawn_series(run.results)),
        minimum_share=run.minimum_share,
        predicted=predicted_of(run.manifest),
    )
