"""The measures of fair ranking that other work prints, each by its published definition.

A measure of groups takes a `Ranking`: the level of each item in the order in which they are returned, with the
share that each level should have. A measure of relevance takes the gain of each item in that order. Definitions
vary between papers and programs; the first lines of each file say which one it is.
"""

from mprlib.metrics.awrf import awrf
from mprlib.metrics.exposure import exposure_difference, exposure_ratio, exposures
from mprlib.metrics.ndcg import ndcg
from mprlib.metrics.ndkl import ndkl
from mprlib.metrics.parity import parity_difference, parity_ratio
from mprlib.metrics.precision import precision
from mprlib.metrics.ranking import Ranking, ranking, rankings
from mprlib.metrics.skew import max_skew, min_skew, skews
from mprlib.metrics.worst_attribute import WorstAttribute, worst_attribute

__all__ = [
    "Ranking",
    "WorstAttribute",
    "awrf",
    "exposure_difference",
    "exposure_ratio",
    "exposures",
    "max_skew",
    "min_skew",
    "ndcg",
    "ndkl",
    "parity_difference",
    "parity_ratio",
    "precision",
    "ranking",
    "rankings",
    "skews",
    "worst_attribute",
]
