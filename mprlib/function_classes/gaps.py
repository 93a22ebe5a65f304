"""Many selections' or resamples' gaps at once, for the classes that have a closed form."""

from __future__ import annotations

from typing import overload

import numpy as np
import scipy

from mprlib.arrays import FloatArray
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import Oracle
from mprlib.function_classes.groups import GroupsOracle
from mprlib.function_classes.saturated import SaturatedOracle


@overload
def closed_form_gaps(oracle: Ball | SaturatedOracle | GroupsOracle, differences: FloatArray) -> FloatArray: ...


@overload
def closed_form_gaps(oracle: Oracle, differences: FloatArray) -> FloatArray | None: ...


def closed_form_gaps(oracle: Oracle, differences: FloatArray) -> FloatArray | None:
    """sup over the class of |sum_g differences_g c_g| for each row; None where there is no formula.

    Shapes:  differences (B, G), rows summing to 0; returns (B,).
    """
    if isinstance(oracle, Ball):
        lengths: FloatArray = np.linalg.norm(differences @ oracle.features, axis=1)
        return lengths
    if isinstance(oracle, SaturatedOracle):
        return np.sqrt(oracle.scale * (differences**2 @ (1.0 / oracle.cells.masses)))
    if isinstance(oracle, GroupsOracle):
        cell = np.broadcast_to(np.arange(oracle.cells.size), oracle.codes.shape)
        is_member = (np.ones(cell.size), (oracle.codes.ravel(), cell.ravel()))
        members = scipy.sparse.csr_array(is_member, shape=(len(oracle.names), oracle.cells.size))
        largest: FloatArray = np.abs(members @ differences.T).max(axis=0) * (2.0 if oracle.signed else 1.0)
        return largest
    return None
