"""What a run's headlines are about: each query's audited selection, and the units that say where its items are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ..analysis.cases import top_k_rows
from ..analysis.parts import item_ids, read_part, survey
from ..errors import UsageError
from ..plan.plan_file import read_plan
from ..stages.solve import Solve
from ..store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """An audited selection: its reference, and the ids of its items."""

    reference: str
    ids: tuple[str, ...]


def shown_selections(store: Store) -> dict[str, list[Shown]]:
    """The audited selections of every case that has one, by data set.

    Raises:  UsageError when the folder holds no results, or tables that cannot be read.
    """
    found: dict[str, list[Shown]] = {}
    ids = item_ids(store)
    for part in survey(store).parts():
        run = read_part(store, part, ids)
        rows = top_k_rows(run.results)
        for place, dataset, reference in rows[["dataset", "reference"]].itertuples(name=None):
            items = tuple(ids[code] for code in run.chosen.row(place))
            if items:
                found.setdefault(dataset, []).append(Shown(reference=reference, ids=items))
    return found


def chosen_dataset(shown: dict[str, list[Shown]], asked: str | None) -> str:
    """The data set that a sample is drawn of.

    Raises:  UsageError where there is none, or several and none is named.
    """
    known = ", ".join(shown)
    if not shown:
        raise UsageError("no query of the run has a selection, so that no item is worth a label more than others")
    if asked is None and len(shown) > 1:
        raise UsageError(f"--dataset: the run audits several, {known}; one of them is expected")
    if asked is not None and asked not in shown:
        raise UsageError(f"--dataset {asked}: the run has selections of {known}")
    return asked if asked is not None else next(iter(shown))


def solve_unit(store: Store, dataset: str) -> Solve:
    """A unit that has chosen items of a data set; all of them read the same items and levels.

    Raises:  UsageError where the folder's plan has none.
    """
    for unit in read_plan(store) or ():
        if unit.stage == Solve.stage and unit.spec.get("dataset") == dataset:
            try:
                return Solve.from_spec(unit.title, unit.spec)
            except ValidationError:
                break  # of another version of this program
    raise UsageError(
        f"{store.root} holds no plan of data set {dataset} that can be read: the same `mpr-audit run` makes it again"
    )


def own_references(settings: Mapping[str, Any]) -> set[str]:
    """Names of references whose people are the audited data set's own, with labels that are as often wrong.

    settings: the run's, as its manifest has them.
    """
    return {
        block["name"]
        for block in settings.get("reference", ())
        if block["kind"] == "population" and not block["query_conditioned"]
    }
