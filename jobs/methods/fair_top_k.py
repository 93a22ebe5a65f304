"""The protected group of `fair_top_k`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mprlib.baselines.fair_top_k import as_probability
from mprlib.errors import SettingError

from .named_arrays import Given, NamedArrays, OneText


class FairTopKArrays(NamedArrays):
    """protected (n,): who belongs to the group; share: the group's of the reference, unless one is stated."""

    keywords = frozenset({"protected"})
    settings = {
        "group": OneText(
            description="the protected one, as `gender=female`; default: the level that top-k shows too little of"
        )
    }

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        found = super().checked(settings)
        if "=" not in found.get("group", "="):
            form = f"group is {found['group']!r}: the form attribute=level is expected"
            raise SettingError(form, setting="group")
        if "share" in settings and "group" not in settings:
            raise SettingError("a share without a group is given: say whose share it is", setting="share")
        return found

    def check_groups(self, settings: Mapping[str, Any], names: Sequence[str]) -> None:
        if "group" in settings:
            _column_of(settings["group"], names)

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        if "group" not in settings:
            return {}
        problem = given.problem
        column = _column_of(settings["group"], problem.label_names)
        share = settings.get("share")
        if share is None:
            population = problem.population
            share = as_probability(float(population.shares @ population.labels[:, column]))
        return {"protected": problem.labels[:, column] > 0, "share": share}


def _column_of(group: str, names: Sequence[str]) -> int:
    """The column of a group, `attribute=level`, among the names of all.

    Raises:  SettingError for a group that nobody belongs to.
    """
    if group not in names:
        raise SettingError(f"group {group!r} is unknown: known are {', '.join(names)}", setting="group")
    return names.index(group)
