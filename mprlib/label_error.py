"""What is known of the errors of a problem's labels, of its items and of its reference apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from mprlib.arrays import FloatArray, IntArray, expect_length, finite, numeric
from mprlib.confusion import Confusion
from mprlib.errors import InputError
from mprlib.level_names import level_name

# What a selection was chosen by: scores and labels as they are, expected true labels, or neither.
ChosenBy = Literal["labels", "expected", "other"]
# Probability with which a claimed bound on the true MPR holds, where nothing else is asked for.
CONFIDENCE = 0.9
# Probabilities of a row are written with a few digits.
SUM_TOLERANCE = 1e-2


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class LabelError:
    """How often labels are wrong, by attribute; labels of an attribute that is not named are taken as right.

    items: confusions of the pool's labels; reference: those of the reference's, which may be other ones, or none where
    it is stated or labelled by hand. Levels that are named as columns are may come in any order; else they have that of
    the columns, and of one column of 0 and 1 the level 1 comes first.
    probabilities: of each level for each item (n, L), calibrated, in the place of a confusion of the items.
    known: positions (n,) of true levels of items that were labelled by hand, -1 for the others, whose labels are taken
    to be right where the attribute has neither a confusion of the items nor probabilities.
    Errors of several attributes are taken to be independent given the true levels.

    >>> import mprlib
    >>> error = mprlib.LabelError.of({"gender": [[0.9, 0.1], [0.2, 0.8]]})
    >>> error.items["gender"].shares.tolist()
    [[0.9, 0.1], [0.2, 0.8]]
    """

    items: Mapping[str, Confusion] = field(default_factory=dict)
    reference: Mapping[str, Confusion] = field(default_factory=dict)
    probabilities: Mapping[str, FloatArray] = field(default_factory=dict)
    known: Mapping[str, IntArray] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any) -> LabelError:
        """A LabelError, or {attribute: confusion} of the items alone, each confusion as a table of a matrix."""
        if isinstance(given, LabelError):
            return given
        if not isinstance(given, Mapping):
            raise InputError(
                f"label_error is a {type(given).__name__}: a LabelError, or a mapping of attributes to confusions"
            )
        return cls(items=_confusions(given))

    def checked(self, names: Sequence[str], attributes: Mapping[str, Sequence[int]], rows: int) -> LabelError:
        """The same in the order of a problem's columns.

        Raises:  InputError for an attribute that labels lack, and for levels or shapes that do not fit its columns.
        """
        for said, of_attribute in self._parts().items():
            if not isinstance(of_attribute, Mapping):
                raise InputError(
                    f"label_error, {said}, is a {type(of_attribute).__name__}: a mapping of attributes is expected, as "
                    f"in LabelError({said}={{'gender': ...}})"
                )
            for name in of_attribute:
                if name not in attributes:
                    raise InputError(
                        f"label_error, {said}: labels have no attribute {name!r}, but {_list_text(attributes)}"
                    )
        columns = {name: [names[column] for column in own] for name, own in attributes.items()}
        sizes = {name: max(len(own), 2) for name, own in attributes.items()}
        # What is drawn and said later must not depend on the order in which a caller wrote attributes down.
        order = sorted(attributes, key=lambda name: tuple(attributes[name]))
        items, reference, probabilities, known = (
            {name: own[name] for name in order if name in own} for own in self._parts().values()
        )
        return LabelError(
            items={name: _fitted_to_columns("items", name, one, columns[name]) for name, one in items.items()},
            reference={
                name: _fitted_to_columns("reference", name, one, columns[name]) for name, one in reference.items()
            },
            probabilities={name: _probabilities(name, one, rows, sizes[name]) for name, one in probabilities.items()},
            known={name: _known_levels(name, one, rows, sizes[name]) for name, one in known.items()},
        )

    def of_attributes(self, attributes: Mapping[str, Any]) -> LabelError | None:
        """What concerns some attributes; None where nothing does."""
        parts = {
            said: {name: one for name, one in own.items() if name in attributes} for said, own in self._parts().items()
        }
        return replace(self, **parts) if any(parts.values()) else None

    def _parts(self) -> dict[str, Mapping[str, Any]]:
        return {
            "items": self.items,
            "reference": self.reference,
            "probabilities": self.probabilities,
            "known": self.known,
        }


def _confusions(given: Mapping[str, Any]) -> dict[str, Confusion]:
    return {str(name): _confusion(str(name), one) for name, one in given.items()}


def _confusion(name: str, one: Any) -> Confusion:
    if isinstance(one, Confusion):
        return one
    try:
        confusion = Confusion.from_table(one) if isinstance(one, Mapping) else Confusion.of(one)
    except InputError as error:
        raise InputError(f"label_error, {name!r}: {error}") from None
    exchanged = confusion.exchanged()
    if exchanged:
        raise InputError(
            f"label_error, {name!r}: {exchanged}. Where labels are really exchanged, rename them, or give a Confusion"
        )
    return confusion


def _fitted_to_columns(said: str, name: str, one: Any, columns: list[str]) -> Confusion:
    if not isinstance(one, Confusion):
        raise InputError(
            f"label_error, {said}: {name!r} has a {type(one).__name__}, a Confusion is expected, which Confusion.of "
            "makes of a matrix and Confusion.from_table of a table"
        )
    size = max(len(columns), 2)
    if len(one.shares) != size:
        raise InputError(
            f"label_error, {said}: the confusion of {name!r} has {len(one.shares)} levels, its columns have {size}"
        )
    try:
        return _in_columns(one, name, columns)
    except InputError as error:
        raise InputError(f"label_error, {said}, {name!r}: {error}") from None


def _in_columns(one: Confusion, attribute: str, columns: list[str]) -> Confusion:
    """The confusion with its levels in the order of columns that are called "attribute=level", or by the level alone;
    its own order where names tell nothing."""
    start = level_name(attribute, "")
    named = [name.removeprefix(start) for name in columns]
    own = one.levels or ()
    if len(columns) == 1:
        # The level 1 of one column is called by the column, or "1".
        first = next((level for level in (*named, "1") if level in own), None)
        return one if first is None else one.ordered(sorted(own, key=lambda level: level != first))
    is_named = all(name.startswith(start) for name in columns)
    return one.ordered(named) if is_named or set(named) == set(own) else one


def _probabilities(name: str, one: Any, rows: int, size: int) -> FloatArray:
    array = finite(f"label_error, probabilities of {name!r},", one, ndim=2)
    if array.shape != (rows, size):
        raise InputError(f"label_error, probabilities of {name!r}, have shape {array.shape}: {(rows, size)} expected")
    sums = array.sum(axis=1)
    is_bad = (array < 0).any(axis=1) | (np.abs(sums - 1.0) > SUM_TOLERANCE)
    if is_bad.any():
        row = int(is_bad.argmax())
        raise InputError(
            f"label_error, probabilities of {name!r}, are {array[row].tolist()} for item {row}: none may be negative, "
            "and they sum to 1"
        )
    found: FloatArray = array / sums[:, None]
    return found


def _known_levels(name: str, one: Any, rows: int, size: int) -> IntArray:
    array = numeric(f"label_error, known levels of {name!r},", one)
    if array.ndim != 1:
        raise InputError(
            f"label_error, known levels of {name!r}, have shape {array.shape}: one position for each item is expected"
        )
    expect_length(f"label_error, known levels of {name!r},", array, rows, "labels has that many rows")
    if array.dtype.kind not in "iu" or (array < -1).any() or (array >= size).any():
        raise InputError(
            f"label_error, known levels of {name!r}: positions from 0 to {size - 1}, or -1 where none is known, are "
            "expected"
        )
    return array.astype(np.intp)


def _list_text(names: Mapping[str, Any]) -> str:
    return ", ".join(names)
