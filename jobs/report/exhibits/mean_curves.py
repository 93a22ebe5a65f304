"""One curve for many queries: the mean of what each query keeps at the same fraction of top-k's MPR.

Queries meet their own values of a parameter, so points of two curves do not pair. Each curve is read
as the step function "the most similar selection that the sweep offers with at most this MPR", and those
are averaged. It is what a user would get, who knows similarities: the best by true relevance would be
chosen by hindsight, and a longer sweep would look better without being so.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ...analysis.curves import is_fulfilled
from ...analysis.frames import grouped
from ..figures import drawn_series
from ..styles import Series, Style, series_of, styles_of
from .operating_points import series_names
from .pictures import Panels, legend

# Fractions of top-k's MPR at which curves are averaged.
FRACTIONS = np.linspace(0.0, 1.0, 51)
# The fractions of the printed table.
PRINTED = (0.1, 0.25, 0.5, 0.75, 1.0)
# Fractions are quotients of floats: top-k's own is 1 up to this.
ROUNDING = 1e-9


def mean_curves(curves: pd.DataFrame, column: str) -> pd.DataFrame:
    """Means over queries of `column`, of the most similar selection with at most each fraction of top-k's MPR.

    Returns: one row per (data set, reference, k, class, method, target class, fraction) that some query
             reaches: mean, deviation (sample's), queries that reach it and queries asked, which are
             those that have fractions at all.
    """
    able = curves.dropna(subset=["mpr_fraction", "similarity", column])
    rows = able[is_fulfilled(able["status"])]
    panel = ["dataset", "reference", "k", "function_class"]
    asked = able.groupby(panel)["query"].nunique().to_dict()
    found = []
    keys = [*panel, "method", "target_class"]
    for names, own in grouped(rows, keys, dropna=False):
        steps = np.array([_steps(one, column) for _, one in own.groupby("query")])
        reached = (~np.isnan(steps)).sum(axis=0)
        for place in np.flatnonzero(reached):
            values = steps[~np.isnan(steps[:, place]), place]
            found.append(
                {
                    **dict(zip(keys, names)),
                    "mpr_fraction": FRACTIONS[place],
                    "mean": values.mean(),
                    "deviation": values.std(ddof=1) if values.size > 1 else np.nan,
                    "queries": int(reached[place]),
                    "queries_asked": int(asked[names[:4]]),
                }
            )
    return pd.DataFrame(found)


def _steps(sweep: pd.DataFrame, column: str) -> np.ndarray:
    """The column of the most similar selection with at most each of FRACTIONS; NaN where there is none."""
    # Among equally similar selections that of the smallest MPR, whatever else it has.
    order = sweep.sort_values(["similarity", "mpr_fraction"], ascending=[False, True], kind="stable")
    allowed = order["mpr_fraction"].to_numpy()[None, :] <= FRACTIONS[:, None] + ROUNDING
    return np.where(allowed.any(axis=1), order[column].to_numpy(dtype=float)[allowed.argmax(axis=1)], np.nan)


def printed(means: pd.DataFrame, digits: int) -> pd.DataFrame:
    """The means at a few fractions, one row per method; a dash where not every query reaches it."""
    rows = []
    keys = ["dataset", "reference", "k", "function_class", "method", "target_class"]
    means = means.assign(series=series_names(means))
    for (dataset, reference, k, name, *_), own in grouped(means, keys, dropna=False):
        row = {"data set": dataset, "reference": reference, "k": k, "class": name, "method": own["series"].iloc[0]}
        for fraction in PRINTED:
            at = own[np.isclose(own["mpr_fraction"], fraction) & (own["queries"] == own["queries_asked"])]
            row[f"at {fraction:g}"] = f"{at['mean'].iloc[0]:.{digits}f}" if len(at) else "--"
        rows.append(row)
    return pd.DataFrame(rows)


def mean_figure(own: pd.DataFrame, label: str) -> Panels:
    """The means of one (data set, reference, k), a panel for each class; label: of what the means are."""
    classes = own["function_class"].unique().tolist()
    panels = Panels.of(len(classes))
    for panel, name in zip(panels.axes, classes):
        draw(panel, own[own["function_class"] == name], styles_of(drawn_series(own)))
        panel.set_title(name, fontsize=10, parse_math=False)
    panels.axes[0].set_ylabel(label)
    legend(panels.figure, own)
    return panels


def draw(panel: Axes, means: pd.DataFrame, styles: Mapping[Series, Style]) -> None:
    """The mean curves of one class; where only some queries reach a fraction, nothing is drawn."""
    whole = means[means["queries"] == means["queries_asked"]]
    for series, own in grouped(whole, ["method", "target_class"], dropna=False):
        style = styles[series_of(*series)]
        panel.plot(own["mpr_fraction"], own["mean"], **style.line(), lw=1, ms=3.5, markevery=5)
    panel.set_xlim(0, 1.02)
    panel.set_xlabel("MPR, fraction of top-k's")
    panel.grid(alpha=0.25)
