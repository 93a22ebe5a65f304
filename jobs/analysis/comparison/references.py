"""References of two runs: whether they are one, and what those moved that each run has its own of.

Where the shares of a reference that should stay the same changed, gaps do not compare. Some references move with what
is audited: people near the query, what another engine showed, and everything that an engine's lists show. There each
run's selections are compared with its own reference, and the moves of references are said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pandas as pd

from ...words import numbered
from ..cases import CASE, QUESTION, is_audited
from ..frames import records
from ..load import Run
from ..wording import labelled, percent
from .labellers import Labellers
from .pairing import shared_cases

# A reference in which a group's share changed by more than this is another reference.
REFERENCE_TOLERANCE = 0.01
# Cases named in a sentence.
NAMED = 3

# What all queries of a run share.
SHARED = "everything that the lists show"
_OF_EACH_RUN = {
    "query_conditioned": "the people nearest to each query",
    "results": "what another engine showed",
    "population": SHARED,
}


def own_references(manifest: Mapping[str, Any]) -> dict[str, str]:
    """References that each run has its own of, and what they are."""
    settings = manifest.get("settings") or {}
    are_listed = any(block.get("kind") == "results" for block in settings.get("dataset") or ())
    return {
        str(block.get("name")): _OF_EACH_RUN[kind]
        for block in settings.get("reference") or ()
        for kind in ("query_conditioned" if block.get("query_conditioned") else str(block.get("kind")),)
        if kind in _OF_EACH_RUN and (kind != "population" or are_listed)
    }


def refused_references(old: Run, new: Run, labels: Labellers) -> Iterator[str]:
    """References that should stay the same, and whose shares changed for some query of both runs. labels: shares whose
    labels are another labeller's are left out."""
    moves = reference_moves(old, new)
    is_own = moves["reference"].isin(own_references(new.manifest))
    moves = moves[~is_own & ~labels.marks_references(moves, labels.changed)]
    largest = _largest(moves)
    if largest is not None and largest["change"] > REFERENCE_TOLERANCE:
        name = largest["reference"]
        asked = f"asked for {largest['query']!r}" if name in _targets_of_queries(new.manifest) else "for all queries"
        yield (
            f"reference {name} differs ({_move_text(largest)}, {asked}): gaps do not compare; give both runs one "
            "reference, as kind dataset or shares"
        )


def reference_remarks(old: Run, new: Run, labels: Labellers) -> Iterator[str]:
    """What moved of the references that each run has its own of. labels: of shares whose labels are another labeller's
    nobody knows whether they moved."""
    moves = reference_moves(old, new)
    moves = moves[~labels.marks_references(moves, labels.changed)]
    for name, what in own_references(new.manifest).items():
        own = moves[moves["reference"] == name]
        largest = _largest(own)
        if largest is None or largest["change"] <= REFERENCE_TOLERANCE:
            continue
        moved = own[own["change"] > REFERENCE_TOLERANCE].drop_duplicates(QUESTION)
        several = f"for {len(moved)} of {numbered(len(own.drop_duplicates(QUESTION)), 'selection')}, most for "
        which = "for all queries" if what == SHARED else several + repr(largest["query"])
        yield (
            f"reference {name} is {what}, and each run has its own: gaps and MPR of OLD are from that of OLD, and of "
            f"NEW from that of NEW; it moved by more than {100 * REFERENCE_TOLERANCE:g} point {which} "
            f"({_move_text(largest)})"
        )


def moved_by_reference(cases: pd.DataFrame) -> Iterator[str]:
    """Cases that are worse off though their own selection did not move beyond chance; cases as `verdicts` has them."""
    rows = [row for row in labelled(cases) if row["is_moved_by_reference"]]
    if rows:
        named = [
            f"{row['label']!r} (largest gap {100 * row['gap_old']:.1f} points before, {100 * row['gap_new']:.1f} now)"
            for row in rows[:NAMED]
        ]
        more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
        yield (
            f"the largest gap or MPR of {', '.join(named)}{more} rose as much as in a regression, and is none: the "
            "reference moved, and what is shown did not move beyond chance"
        )


def reference_changes(old: Run, new: Run) -> pd.DataFrame:
    """By how much a group's share in the reference changed at most: CASE and reference_change."""
    moves = reference_moves(old, new)
    return moves.groupby(CASE)["change"].max().rename("reference_change").reset_index()


def reference_moves(old: Run, new: Run) -> pd.DataFrame:
    """Each group's share in the references of the cases of both runs: CASE, group, share_old, share_new, and change
    without sign. A group that only one run knows has no member in the other's pools or reference."""
    keys = [*CASE, "group"]
    shares = [
        run.groups[is_audited(run.groups)].drop_duplicates(keys).rename(columns={"share_reference": "share"})
        for run in (old, new)
    ]
    both = shares[0][[*keys, "share"]].merge(
        shares[1][[*keys, "share"]], on=keys, how="outer", suffixes=("_old", "_new")
    )
    both = both.fillna({"share_old": 0.0, "share_new": 0.0}).merge(shared_cases(old, new)[CASE], on=CASE)
    # Rounded: a change from 0.46 to 0.47 is not more than a point.
    both["change"] = (both["share_new"] - both["share_old"]).abs().round(12)
    return both


def _targets_of_queries(manifest: Mapping[str, Any]) -> Collection[str]:
    """Names of references that state a target of each query's own."""
    blocks = (manifest.get("settings") or {}).get("reference") or ()
    return {str(block.get("name")) for block in blocks if block.get("kind") == "shares" and not block.get("shares")}


def _largest(moves: pd.DataFrame) -> dict[str, Any] | None:
    return records(moves.nlargest(1, "change"))[0] if len(moves) else None


def _move_text(move: Mapping[str, Any]) -> str:
    return f"{move['group']} was {percent(move['share_old'])} of it and is {percent(move['share_new'])}"
