"""Describing and drawing some cases of a run: what a task of the report does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

import pandas as pd
import pyarrow as pa
from pydantic_core import to_jsonable_python

from ..analysis.parts import Case, Part, read_part
from ..analysis.tables import read_csv
from ..results.manifest import REPORT_STAGE
from ..stages.unit import Tables, Unit, outside_key
from ..store import Store
from ..store.keys import digest
from .described import FRAMES, Described, described
from .shared import Shared

FOLDER = "report"
CASES = "cases.arrow"


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedCases(Unit):
    """Some cases as the report shows them, each known by the key of what determines it (`key_of_case`).

    Reports take single cases from units that described them beside others.
    """

    stage: ClassVar[str] = REPORT_STAGE
    version: ClassVar[int] = 7
    seconds: ClassVar[float] = 1.0
    numeric_code: ClassVar[tuple[str, ...]] = (
        "jobs.analysis.cases",
        "jobs.analysis.chance",
        "jobs.analysis.curves",
        "jobs.analysis.fractions",
        "jobs.analysis.frames",
        "jobs.analysis.load",
        "jobs.analysis.parts",
        "jobs.analysis.predicted",
        "jobs.analysis.tables",
        "jobs.analysis.wording",
        "jobs.analysis.worst",
        "jobs.report.described",
        "jobs.report.embed",
        "jobs.report.figures",
        "jobs.report.group_digits",
        "jobs.report.packed",
        "jobs.report.styles",
        "jobs.report.svg",
        "jobs.stages.first_shown",
        "jobs.words",
    )

    keys: tuple[str, ...]
    part: Part = outside_key()  # noqa: RUF009 - a description of a field, as in the stages
    shared: Shared = outside_key()  # noqa: RUF009 - the same

    def run(self, store: Store) -> Tables:
        found = described(read_part(store, self.part), self.shared, dict(zip(self.part.cases, self.keys)))
        return {CASES: found.cases, **found.frames}


def key_of_case(case: Case, units: tuple[str, ...], shared: Shared) -> str:
    """The key of what determines how a case is described: the units that made its rows, and what all have in common."""
    common = {one.name: to_jsonable_python(getattr(shared, one.name)) for one in fields(shared)}
    return digest([DescribedCases.stage, DescribedCases.version, case, units, common])


def read_worst_pairs(store: Store) -> pd.DataFrame:
    """The worst pairs of a run's report, worst first."""
    texts = ["dataset", "reference", "query", "group", "function_class", "method_repaired"]
    return read_csv(store.read(f"{FOLDER}/worst.csv"), texts)


def keys_in(store: Store, key: str) -> list[str]:
    """The keys of the cases that a unit described."""
    found: list[str] = store.map_table(DescribedCases.file(key, CASES))["key"].to_pylist()
    return found


def read_described(store: Store, key: str, wanted: Mapping[str, str]) -> Described:
    """What a unit described, mapped, of the cases that are wanted of it. wanted: a unit's key by the case's."""
    cases = store.map_table(DescribedCases.file(key, CASES))
    is_wanted = [wanted.get(own) == key for own in cases["key"].to_pylist()]
    frames: dict[str, pa.Table] = {name: store.read_table(DescribedCases.file(key, name)) for name in FRAMES}
    return Described(cases=cases, frames=frames).among(is_wanted)
