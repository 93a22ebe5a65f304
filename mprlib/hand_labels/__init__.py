"""Labels given by hand to some items: which items, and what they say of predicted labels."""

from mprlib.hand_labels.design import drawn, inclusion_probabilities
from mprlib.hand_labels.estimate import effective_counts
from mprlib.hand_labels.variance import Selections, Spread, assumed_truth, spread_of, truth_of

__all__ = [
    "Selections",
    "Spread",
    "assumed_truth",
    "drawn",
    "effective_counts",
    "inclusion_probabilities",
    "spread_of",
    "truth_of",
]
