"""A sample of a run's items whose hand labels narrow the intervals of its headlines most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.hand_labels import Selections, assumed_truth, drawn, inclusion_probabilities, spread_of, truth_of

from ..datasets.part import ATTRIBUTE
from ..errors import UsageError
from ..stages.label_errors import ConfusionTable
from ..stages.prior_shift import shifted_confusion
from ..stages.solve import Solve
from ..store import Store
from .frame import Frame, described, frame_of
from .shown import chosen_dataset, own_references, shown_selections, solve_unit


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleRequest:
    """Which sample to draw. count: items; dataset: whose, where the run audits several; attributes: to label, all for
    none; error: the assumed share of wrong labels of attributes of whose errors the run knows nothing."""

    count: int
    dataset: str | None = None
    attributes: tuple[str, ...] = ()
    error: float = 0.1
    seed: int = 0


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Sample:
    """Items to label, in an order that says nothing of them.

    items: columns item_id, text and image, and `attribute:NAME` with the predicted level; levels: those that an item
    may have, by attribute; probabilities (items,) with which each was drawn; times (items,): of how many audited
    selections it is; of: the number of items that it was drawn of; ratio: what uniform draws of as many items would
    leave of the variance, over what these leave.
    """

    dataset: str
    items: pa.Table
    levels: dict[str, tuple[str, ...]]
    probabilities: FloatArray
    times: IntArray
    of: int
    selections: int
    ratio: float


def sample_of(store: Store, manifest: Mapping[str, Any], asked: SampleRequest) -> Sample:
    """The sample of a run.

    Raises:  UsageError for a folder without results, and for a data set or an attribute that the run lacks.
    """
    shown = shown_selections(store)
    dataset = chosen_dataset(shown, asked.dataset)
    unit = solve_unit(store, dataset)
    frame = frame_of(store, unit, shown[dataset])
    attributes, own = _attributes(frame, asked), own_references(manifest["settings"])
    is_own = np.array([one.reference in own for one in shown[dataset]])
    truths = truths_of(frame, attributes, known_errors(store, unit), asked.error)
    estimation, noise = contributions(frame, truths, is_own)
    probabilities = inclusion_probabilities(estimation, noise, asked.count)
    generator = np.random.default_rng([asked.seed, 0])
    rows = drawn_rows(frame, attributes, probabilities, generator)
    # Whoever labels must not learn from the order what was predicted.
    order = generator.permutation(rows.size)
    return Sample(
        dataset=dataset,
        items=described(store, unit, rows, attributes).take(pa.array(order)),
        levels={name: frame.levels[name] for name in attributes},
        probabilities=probabilities[rows][order],
        times=frame.times[rows][order],
        of=frame.size,
        selections=len(shown[dataset]),
        ratio=variance_ratio(estimation, noise, probabilities),
    )


def _attributes(frame: Frame, asked: SampleRequest) -> list[str]:
    """The attributes to label: those asked for, or all."""
    for name in asked.attributes:
        if name not in frame.levels:
            raise UsageError(f"--attribute {name}: the run has {', '.join(frame.levels)}")
    return list(asked.attributes or frame.levels)


def known_errors(store: Store, unit: Solve) -> dict[str, ConfusionTable]:
    """How often labels are wrong, by attribute, as far as the run knows: given, by hand, or by a probe."""
    errors = unit.label_errors.read(store, unit.levels)
    by_probabilities = {
        name: ConfusionTable.of(shifted_confusion(store, key, unit.levels[name]), unit.levels[name])
        for name, key in errors.shifts.items()
    }
    return {**errors.items, **by_probabilities}


def truths_of(
    frame: Frame, attributes: Sequence[str], errors: Mapping[str, ConfusionTable], error: float
) -> dict[str, FloatArray]:
    """Shares of true levels (levels, levels) among items of each predicted level, by attribute: as far as the run knows
    how often labels are wrong, and else by the share of errors that is assumed."""
    return {
        name: truth_of(frame.predicted_shares(name), _known_levels(errors[name], frame.levels[name]))
        if name in errors
        else assumed_truth(frame.predicted_shares(name), error)
        for name in attributes
    }


def _known_levels(table: ConfusionTable, levels: Sequence[str]) -> FloatArray:
    """A confusion of levels that items may have: that of items without a value is left out."""
    places = [table.levels.index(level) for level in levels]
    shares = np.array(table.shares)[np.ix_(places, places)]
    known: FloatArray = shares / shares.sum(axis=1, keepdims=True)
    return known


def contributions(frame: Frame, truths: Mapping[str, FloatArray], is_own: BoolArray) -> tuple[FloatArray, FloatArray]:
    """What each item (items,) adds to the mean variance of the selections' gaps, summed over attributes: through what
    is estimated, and through itself (`mprlib.hand_labels.variance`)."""
    estimation, own = np.zeros(frame.size), np.zeros(frame.size)
    for name, truth in truths.items():
        asked = Selections(shares=frame.shares[name], has_predicted_reference=is_own)
        spread = spread_of(frame.predicted_shares(name), truth, asked)
        # An item without a level, at the last place, is taken as it is.
        estimation += np.append(spread.estimation, 0.0)[frame.codes[name]] / frame.size**2
        own += np.append(spread.own, 0.0)[frame.codes[name]] * frame.own
    return estimation, own


def drawn_rows(
    frame: Frame, attributes: Sequence[str], probabilities: FloatArray, generator: np.random.Generator
) -> IntArray:
    """Rows of the frame, ascending: items that are alike by predicted levels and selections are drawn in proportion."""
    keys = [generator.permutation(frame.size), frame.times, *(frame.codes[name] for name in reversed(attributes))]
    alike = np.lexsort(keys)
    return np.sort(alike[drawn(probabilities[alike], generator)])


def variance_ratio(estimation: FloatArray, own: FloatArray, probabilities: FloatArray) -> float:
    """What uniform draws leave of the variance over what these leave."""
    uniform = probabilities.sum() / probabilities.size

    def left(drawn_with: Any) -> float:
        return float(np.sum(estimation / drawn_with) + np.sum(own * (1.0 - drawn_with)))

    return left(uniform) / left(probabilities) if left(probabilities) > 0 else 1.0


def predicted(sample: Sample, attribute: str) -> list[str]:
    """The predicted level of each item."""
    return [str(level) for level in sample.items[ATTRIBUTE + attribute].to_pylist()]
