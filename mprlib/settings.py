"""What a setting may hold: whole numbers, numbers, truth values and names, with their limits.

Types are strict: text is no number, 1.0 is no whole number, True is no number and 1 is not True, so
that nothing is taken for what its writer did not mean. numpy's numbers count as Python's.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from mprlib.errors import InputError, SettingError, shown

# numpy and scikit-learn take seeds of 32 bits.
LARGEST_SEED = 2**32 - 1
# Tables and solvers count in 64 bits.
LARGEST_WHOLE = 2**63 - 1


class Setting(Protocol):
    """What one setting may hold."""

    @property
    def expected(self) -> str:
        """What is expected, in words: "a whole number of at least 1"."""
        ...

    def accepted(self, value: Any) -> Any:
        """The value as Python's own type.

        Raises:  ValueError or TypeError for any other.
        """
        ...


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Whole:
    """A whole number from `least` to `most`."""

    least: int = 1
    most: int = LARGEST_WHOLE

    @property
    def expected(self) -> str:
        limits = f"of at least {self.least}" if self.most == LARGEST_WHOLE else f"from {self.least} to {self.most}"
        return f"a whole number {limits}"

    def accepted(self, value: Any) -> int:
        if not _is_whole(value) or not self.least <= value <= self.most:
            raise ValueError
        return int(value)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A finite number; `least` and `most` are allowed, `above` and `below` are not. word: stands for a number."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    word: str | None = None

    @property
    def expected(self) -> str:
        if self.word is not None:
            return f"{self.word} or {dataclasses.replace(self, word=None).expected}"
        if self.least is not None and self.most is not None:
            return f"a number from {self.least:g} to {self.most:g}"
        named = {"of at least": self.least, "above": self.above, "of at most": self.most, "below": self.below}
        limits = [f"{words} {limit:g}" for words, limit in named.items() if limit is not None]
        return " ".join(["a finite number", " and ".join(limits)]).strip()

    def accepted(self, value: Any) -> float | str:
        if self.word is not None and isinstance(value, str) and value == self.word:
            return self.word
        if not (_is_whole(value) or isinstance(value, (float, np.floating))) or not np.isfinite(float(value)):
            raise ValueError
        number = float(value)
        is_inside = (
            (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.most is None or number <= self.most)
            and (self.below is None or number < self.below)
        )
        if not is_inside:
            raise ValueError
        return int(value) if _is_whole(value) else number


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """True or False."""

    @property
    def expected(self) -> str:
        return "true or false"

    def accepted(self, value: Any) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError
        return bool(value)


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """One of some names."""

    names: tuple[str, ...]

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.names)}"

    def accepted(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.names:
            raise ValueError
        return str(value)


SEED = Whole(least=0, most=LARGEST_SEED)
# A probability that settles nothing at either end.
PROBABILITY = Number(above=0, below=1)
# The effective number of a reference's rows.
SIZE = Number(above=0)


def checked(setting: Setting, name: str, value: Any, owner: str = "") -> Any:
    """The value where the setting may hold it.

    Raises:  SettingError naming the setting, what came and what is expected.
    """
    try:
        return setting.accepted(value)
    except (ValueError, TypeError, OverflowError):
        raise SettingError(f"{owner}{name} is {shown(value)}: {setting.expected} is expected", setting=name) from None


def refuse_text(name: str, value: ArrayLike) -> None:
    """numpy reads text as numbers where it can; a caller who passes text has passed the wrong column.

    Raises:  InputError naming the argument.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        return  # ragged, which is said where it is read as numbers
    if array.dtype.kind in "USO" and any(isinstance(one, (str, bytes)) for one in array.ravel()):
        raise InputError(f"{name} holds text: numbers are expected")


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
