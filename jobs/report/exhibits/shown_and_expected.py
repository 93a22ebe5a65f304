"""A group's share in what is shown against its target, query by query: is it under-represented, and is it exaggerated?

Source:     Kay, Matuszek and Munson 2015, section "Systematic over-/under-representation": the share of women in
            pictures of 45 occupations against their share in the US labour force, a quasi-binomial regression on the
            target minus 1/2. Its value at 0 is what is shown of a group that has half of the target; a slope above 4
            means that shares near one half are exaggerated, since 4 is the identity's there.
Deviation:  every level of an attribute has a regression of its own, from the longest list that was measured of each
            query. Intervals are by the normal distribution, as the paper's are. The paper tests exaggeration by
            comparing two models (Vuong's test, p = .061); that test is not repeated here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ...analysis.cases import CASE, is_audited
from ...analysis.frames import grouped
from ...analysis.load import Run
from ...analysis.quasi_binomial import Fit, quasi_binomial
from ...analysis.wording import group_name
from .exhibit import Exhibit, Missing
from .pictures import Panels, file_part

TITLE = "Shares shown against targets, a quasi-binomial regression over queries"
KEYS = ["dataset", "reference"]
# Where the target is one half.
HALF = 0.5


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """One row per (data set, reference, level of an attribute), and a drawing of each."""
    shares = _shares(run)
    rows, figures = [], {}
    for (dataset, reference, group), own in grouped(shares, [*KEYS, "group"]):
        expected, shown = own["share_reference"].to_numpy(float), own["share_selected"].to_numpy(float)
        fit = quasi_binomial(expected - HALF, shown, own["k"].to_numpy(float))
        if fit is not None:
            rows.append(_row(dataset, reference, group, own, fit))
            panels = Panels.of(1)
            _draw(panels.axes[0], expected, shown, fit)
            panels.label("share in the target", "share shown")
            panels.axes[0].set_title(group_name(group), fontsize=10, parse_math=False)
            figures[file_part(dataset, reference, group)] = panels.figure
    if not rows:
        raise Missing("a regression needs three queries with different targets: give `reference: {kind: shares, path}`")
    table = pd.DataFrame(rows)
    return Exhibit(title=TITLE, table=table, summary=_printed(table), figures=figures)


def _shares(run: Run) -> pd.DataFrame:
    """Each query's longest audited list: one row per level of an attribute."""
    rows = run.groups[is_audited(run.groups) & (run.groups["attributes"] == 1)].drop_duplicates([*CASE, "group"])
    longest = rows.groupby([*KEYS, "query"])["k"].transform("max")
    return rows[rows["k"] == longest]


def _row(dataset: str, reference: str, group: str, own: pd.DataFrame, fit: Fit) -> dict[str, Any]:
    items = own["k"].to_numpy(float)
    share, low, high = fit.share_at_zero
    return {
        "dataset": dataset,
        "reference": reference,
        "group": group,
        "queries": len(own),
        "items": int(items.sum()),
        "share_shown": float(np.average(own["share_selected"], weights=items)),
        "share_expected": float(np.average(own["share_reference"], weights=items)),
        "intercept": fit.intercept,
        "intercept_error": fit.intercept_error,
        "slope": fit.slope,
        "slope_error": fit.slope_error,
        "dispersion": fit.dispersion,
        "shown_at_half": share,
        "shown_at_half_low": low,
        "shown_at_half_high": high,
    }


def _printed(table: pd.DataFrame) -> pd.DataFrame:
    percent = {name: (100 * table[name]).map("{:.1f}".format) for name in table.columns if name.startswith("sh")}
    return pd.DataFrame(
        {
            "data set": table["dataset"],
            "reference": table["reference"],
            "group": table["group"].map(group_name),
            "queries": table["queries"],
            "items": table["items"],
            "shown %": percent["share_shown"],
            "target %": percent["share_expected"],
            "intercept (SE)": _with_error(table, "intercept"),
            "slope (SE)": _with_error(table, "slope"),
            "shown at 50 %": percent["shown_at_half"]
            + " ["
            + percent["shown_at_half_low"]
            + ", "
            + percent["shown_at_half_high"]
            + "]",
        }
    )


def _with_error(table: pd.DataFrame, name: str) -> pd.Series:
    return table[name].map("{:.4g}".format) + " (" + table[f"{name}_error"].map("{:.3g}".format) + ")"


def _draw(panel: Axes, expected: np.ndarray, shown: np.ndarray, fit: Fit) -> None:
    """Every query, the fitted curve, and the diagonal on which shown and target are equal."""
    across = np.linspace(0, 1, 101)
    panel.plot([0, 1], [0, 1], "--", color="#777777", lw=0.8)
    panel.plot(across, fit.shares(across - HALF), "-", color="#0072B2", lw=1.2)
    panel.plot(expected, shown, "o", color="#000000", ms=3)
    panel.set_xlim(0, 1)
    panel.set_ylim(0, 1)
    panel.grid(alpha=0.25)
