"""How sure a measurement is: sampling error, bounds, intervals, tests."""

from mprlib.statistics.bounds import (
    cells_bound,
    finite_bound,
    paper_deviation,
    paper_reference_size,
    rademacher_bound,
    reference_size,
    vc_bound,
)
from mprlib.statistics.exchange import Found, exchange_test, group_p_values, moved_groups
from mprlib.statistics.interval import Chosen, Interval, sampling_interval, sampling_intervals
from mprlib.statistics.margin import sampling_margin
from mprlib.statistics.multiple_testing import benjamini_hochberg, benjamini_yekutieli
from mprlib.statistics.paired import Difference, paired_difference
from mprlib.statistics.permutation import permutation_test
from mprlib.statistics.resampling import Resamples
from mprlib.statistics.shares import share_interval

__all__ = [
    "Chosen",
    "Difference",
    "Found",
    "Interval",
    "Resamples",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "cells_bound",
    "exchange_test",
    "finite_bound",
    "group_p_values",
    "moved_groups",
    "paired_difference",
    "paper_deviation",
    "paper_reference_size",
    "permutation_test",
    "rademacher_bound",
    "reference_size",
    "sampling_interval",
    "sampling_intervals",
    "sampling_margin",
    "share_interval",
    "vc_bound",
]
