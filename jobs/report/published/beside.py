"""The authors' curves beside a run's own: means over queries, in the same styles and axes.

Deviation: theirs are read as ours are, the most similar set within each fraction of top-k's MPR; sets that broke their
rho are among theirs, since the files do not say which did. Their MPR is that of their oracle, a lower bound of the
class; ours is measured under the same oracle. Similarities of `debias_clip` are of another encoder: theirs are divided
by top-k's of the first one, for want of its own.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from ...analysis.cases import registered
from ...analysis.frames import grouped
from ..exhibits.exhibit import Exhibit
from ..exhibits.mean_curves import draw, mean_curves, printed
from ..exhibits.numbered_part import EXACT
from ..exhibits.pictures import Panels, file_part, legend
from ..figures import drawn_series
from ..styles import styles_of
from .layout import Published

TITLE = "Similarity kept at fractions of top-k's MPR, the authors' files beside these runs"
OURS, THEIRS = "these runs", "the authors' files"
PLACE = ["dataset", "reference", "k"]


def exhibit(curves: pd.DataFrame, published: Published) -> Exhibit:
    """One drawing per data set, reference and k: for each class ours and theirs. curves: the runs' trade-offs."""
    theirs = mean_curves(published.curves, "similarity_fraction").assign(source=THEIRS)
    ours = mean_curves(_comparable(curves, published.curves), "similarity_fraction").assign(source=OURS)
    means = pd.concat([part for part in (ours, theirs) if len(part)], ignore_index=True)
    figures = {file_part(*names): _figure(own) for names, own in grouped(means, PLACE)}
    summary = pd.concat(
        [printed(own, 4).assign(source=source) for (source,), own in grouped(means, ["source"])], ignore_index=True
    )
    summary = summary.sort_values(["data set", "reference", "k", "class", "method", "source"], kind="stable")
    return Exhibit(title=TITLE, table=means, summary=summary, figures=figures)


def _comparable(curves: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Our curves where there are some of theirs: of each panel, and of methods that bound its class."""
    panels = theirs[[*PLACE, "function_class"]].drop_duplicates()
    rows = curves.merge(panels, on=[*PLACE, "function_class"], how="inner")
    own = rows["function_class"]
    is_own = rows["target_class"].isna() | (rows["target_class"] == own) | (rows["target_class"] == own.map(EXACT))
    methods = {*theirs["method"], "mopr"}
    return rows[is_own & rows["method"].map(registered).isin(methods)]


def _figure(own: pd.DataFrame) -> Figure:
    """A row of two panels per class, which have equal axes."""
    panels = [(name, source) for name in own["function_class"].drop_duplicates() for source in (OURS, THEIRS)]
    drawing, styles = Panels.of(len(panels), in_row=2), styles_of(drawn_series(own))
    lowest = float(own.loc[own["queries"] == own["queries_asked"], "mean"].min())
    for panel, (name, source) in zip(drawing.axes, panels):
        draw(panel, own[(own["function_class"] == name) & (own["source"] == source)], styles)
        panel.set_title(f"{name}: {source}", fontsize=9, parse_math=False)
        panel.set_ylim(min(0.9, lowest) - 0.01, 1.01)
        panel.set_xlabel("")
    drawing.label("MPR, fraction of top-k's", "similarity, fraction of top-k's")
    legend(drawing.figure, own)
    return drawing.figure
