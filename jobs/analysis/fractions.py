"""Similarities as fractions of top-k's, and losses as fractions of a bound, where there is something to divide by."""

from __future__ import annotations

import pandas as pd

from .cases import CASE

# Beside the largest similarity of its case, one below this part is the rounding of zero.
ROUNDING = 1e-9


def has_top_k_to_divide_by(results: pd.DataFrame) -> pd.Series:
    """Whether top-k's similarity is positive, row by row; a fraction of one that is not would turn the cost's sign.

    results: every selection of its cases, with columns similarity and similarity_top_k.
    """
    return results["similarity_top_k"].astype(float) > ROUNDING * _largest(results)


def similarity_loss(results: pd.DataFrame) -> pd.Series:
    """How far each similarity is below top-k's; 0 where the difference is rounding."""
    loss = results["similarity_top_k"].astype(float) - results["similarity"].astype(float)
    return loss.mask(loss.abs() <= ROUNDING * _largest(results), 0.0)


def _largest(results: pd.DataFrame) -> pd.Series:
    """The largest absolute similarity of each row's case."""
    both = results[["similarity", "similarity_top_k"]].astype(float).abs()
    return both.max(axis=1).groupby([results[key] for key in CASE]).transform("max")


def loss_percent(values: pd.Series, bounds: pd.Series) -> pd.Series:
    """100 (bound - value)/|bound|, as `gap` is defined; null where the bound is zero but for rounding."""
    size = bounds.abs()
    return 100 * (bounds - values) / size.where(size > ROUNDING * values.abs())
