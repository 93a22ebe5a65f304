"""Multi-group proportional representation in retrieval: measure it, bound it, certify it.

Source: Oesterling et al., "Multi-Group Proportional Representation in Retrieval", NeurIPS 2024.
"""

from mprlib.api import measure, select, sweep
from mprlib.errors import AssumptionWarning, InputError, MprError, SolverError
from mprlib.function_classes.classifier import Classifier
from mprlib.function_classes.regressor import Regressor
from mprlib.measurement import Group, Measurement, Witness
from mprlib.problem import Problem
from mprlib.registry import FUNCTION_CLASSES, METHODS
from mprlib.selection import Selection, Status

__all__ = [
    "AssumptionWarning",
    "FUNCTION_CLASSES",
    "Classifier",
    "METHODS",
    "Group",
    "InputError",
    "Measurement",
    "MprError",
    "Problem",
    "Regressor",
    "Selection",
    "SolverError",
    "Status",
    "Witness",
    "measure",
    "select",
    "sweep",
]
