"""Renaming levels, so that two data sets speak of the same groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mprlib.errors import InputError

LevelMap = Mapping[str, Mapping[str, str]]

# The paper's example: UTKFace knows five races, FairFace seven (appendix on data sets).
FAIRFACE_TO_UTKFACE: LevelMap = {
    "race": {
        "White": "White",
        "Black": "Black",
        "Indian": "Indian",
        "East Asian": "Asian",
        "Southeast Asian": "Asian",
        "Middle Eastern": "Others",
        "Latino_Hispanic": "Others",
    }
}


def map_levels(rows: Mapping[str, Sequence[str]], renames: LevelMap) -> dict[str, list[str]]:
    """Rows with levels renamed; levels and attributes that the map does not name stay as they are.

    Raises:  InputError when the map names an attribute that the rows lack.
    """
    for attribute in renames:
        if attribute not in rows:
            raise InputError(f"the map of levels names the attribute {attribute!r}: rows have {', '.join(rows)}")
    return {
        attribute: [renames.get(attribute, {}).get(str(level), str(level)) for level in levels]
        for attribute, levels in rows.items()
    }
