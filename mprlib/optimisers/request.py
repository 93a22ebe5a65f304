"""The rho that a caller asks for, and the largest measured value that counts as meeting it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mprlib.errors import InputError, shown
from mprlib.function_classes.base import DECIMALS, LAST_BIT, Oracle, uncut_limit


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A rho, and the largest value that the measuring code, which cuts decimals, reports as at most rho.

    Optimisers and their proofs use the limit: a proof at rho itself would not cover sets that exceed rho by
    less than the measuring code distinguishes.
    """

    rho: float
    limit: float


def requested(values: Sequence[Any], method: str, oracle: Oracle) -> list[Request]:
    """One request per value.

    Raises:  InputError for a rho that is no finite number of at least 0.
    """
    return [Request(rho=rho, limit=uncut_limit(rho, oracle.unit)) for rho in checked_rhos(values, method)]


def distinct_limits(requests: Sequence[Request]) -> list[float]:
    """Each limit once, falling."""
    return sorted({request.limit for request in requests}, reverse=True)


def checked_rhos(values: Sequence[Any], method: str) -> list[float]:
    """The values as numbers; one within a last bit of a number of twelve decimals is that number.

    Raises:  InputError for a rho that is no finite number of at least 0.
    """
    rhos = []
    for value in values:
        try:
            rho = float(value)
        except (TypeError, ValueError, OverflowError):
            rho = float("nan")
        if not (np.isfinite(rho) and rho >= 0):
            raise InputError(f"{method}'s rho is {shown(value)}: a finite number of at least 0 is expected")
        # 0.7 - 0.42 is 0.28 less a last bit; measured values are cut to as many decimals.
        nearest = round(rho, DECIMALS)
        rhos.append(nearest if abs(rho - nearest) <= LAST_BIT else rho)
    return rhos
