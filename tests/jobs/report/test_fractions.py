"""Losses against a bound that need not be positive."""

import pandas as pd
import pytest

from jobs.analysis.fractions import loss_percent


@pytest.mark.parametrize(
    ("value", "bound", "percent"), [(0.9, 1.0, 10.0), (-1.1, -1.0, 10.0), (-1.0, 0.0, None), (-1.0, 1e-17, None)]
)
def test_a_loss_is_a_part_of_the_bounds_size(value, bound, percent):
    [found] = loss_percent(pd.Series([value]), pd.Series([bound]))
    assert pd.isna(found) if percent is None else found == pytest.approx(percent)
