"""What measuring a selection tells: a value, how sure it is, and whom it speaks of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """One group's shares, as fractions of 1, and its part of the measured gap."""

    name: str
    share_selected: float
    share_reference: float
    contribution: float

    @property
    def gap(self) -> float:
        """Share selected minus share in the reference."""
        return self.share_selected - self.share_reference


@dataclass(frozen=True, kw_only=True, slots=True)
class Witness:
    """The groups that attain a measured gap, largest contribution first, and one sentence on it.

    groups are cells of the labels, and the contributions of all cells sum to the value; `groups`
    holds the largest. The class `groups` lists its own groups, which overlap: each contributes its
    own gap. With continuous labels they are single items, and items_above and items_below hold ids
    of the retrieved items where the witness function is highest and of other items where it is
    lowest; both are empty otherwise.
    """

    groups: tuple[Group, ...]
    sentence: str
    items_above: tuple[str, ...] = ()
    items_below: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """MPR of one selection under one function class.

    value is attained by the witness; upper_bound is proven and equals value when is_exact.
    chi = value * sqrt((n + m) / D) is free of the data's size; None for classes in share units.
    """

    value: float
    upper_bound: float
    is_exact: bool
    chi: float | None
    witness: Witness

    def __post_init__(self) -> None:
        # One name for zero and no rounding residue below it: values are compared and printed.
        object.__setattr__(self, "value", float(np.maximum(self.value, 0.0)))
        object.__setattr__(self, "upper_bound", float(np.maximum(self.upper_bound, self.value)))
