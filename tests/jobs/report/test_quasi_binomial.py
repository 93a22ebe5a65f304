"""The regression of shares: published values, a closed form, and data that have no fit."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from jobs.analysis.quasi_binomial import quasi_binomial
from tests.data_files import data_file


def test_the_regression_of_kay_matuszek_and_munson():
    rows = pq.read_table(data_file("kay_image_gender.parquet")).to_pandas()
    occupations = rows.groupby("search_term").agg(
        items=("order", "size"),
        women=("image_gender", lambda one: (one == "woman").mean()),
        target=("bls_p_women", "first"),
    )
    fit = quasi_binomial(*(occupations[name].to_numpy(float) for name in ("target", "women", "items")))
    centred = quasi_binomial(
        occupations["target"].to_numpy() - 0.5, occupations["women"].to_numpy(), occupations["items"].to_numpy(float)
    )
    assert (round(centred.intercept, 4), round(centred.intercept_error, 4)) == (-0.2604, 0.0971)
    assert (round(centred.slope, 3), round(centred.slope_error, 4)) == (5.331, 0.3773)
    assert round(centred.dispersion, 3) == 4.467
    assert [round(100 * share, 1) for share in centred.share_at_zero] == [43.5, 38.9, 48.2]
    # Moving the origin moves the intercept alone.
    assert fit.slope == pytest.approx(centred.slope)
    assert fit.intercept == pytest.approx(centred.intercept - centred.slope / 2)


def test_two_values_of_x_are_fitted_exactly():
    x, shares, sizes = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.2, 0.4, 0.5, 0.9]), np.full(4, 10.0)
    fit = quasi_binomial(x, shares, sizes)
    assert fit.shares(np.array([0.0, 1.0])) == pytest.approx([0.3, 0.7])
    # Pearson's statistic by hand: 2 * 10 * 0.01 / 0.21 + 2 * 10 * 0.04 / 0.21, over two degrees of freedom.
    assert fit.dispersion == pytest.approx(10 * (0.01 + 0.04) / 0.21)


@pytest.mark.parametrize(
    ("x", "shares"),
    [([0, 1], [0.1, 0.9]), ([1, 1, 1], [0.1, 0.2, 0.3]), ([0, 1, 2], [0, 0, 1]), ([0, 1, 2], [0, 0, 0])],
)
def test_what_has_no_fit(x, shares):
    assert quasi_binomial(np.array(x, float), np.array(shares, float), np.full(len(x), 5.0)) is None
