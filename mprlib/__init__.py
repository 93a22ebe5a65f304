"""Multi-group proportional representation in retrieval: measure it, bound it, certify it.

Source: Oesterling et al., "Multi-Group Proportional Representation in Retrieval", NeurIPS 2024.
"""

from mprlib import metrics, registry
from mprlib.api import corrected, fair_order, measure, select, sweep
from mprlib.confusion import Confusion
from mprlib.curve import Curve, curve
from mprlib.errors import AssumptionWarning, InputError, MprError, SolverError
from mprlib.label_error import LabelError
from mprlib.measurement import Measurement
from mprlib.problem import Problem
from mprlib.reference import Reference
from mprlib.registry import *  # noqa: F403 (its __all__: the methods and classes, listed once)
from mprlib.rerank import rerank
from mprlib.selection import Selection, Status
from mprlib.witness import Group, Witness

# The only place that states it: pyproject.toml and the command line read it here.
__version__ = "0.1.0"

__all__ = [
    "AssumptionWarning",
    "Confusion",
    "Curve",
    "Group",
    "InputError",
    "LabelError",
    "Measurement",
    "MprError",
    "Problem",
    "Reference",
    "Selection",
    "SolverError",
    "Status",
    "Witness",
    "__version__",
    "corrected",
    "curve",
    "fair_order",
    "measure",
    "metrics",
    "rerank",
    "select",
    "sweep",
]
__all__ += registry.__all__
