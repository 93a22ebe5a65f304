"""The report as one HTML page: overview and manifest written here, queries drawn by its own script.

The page asks for nothing from a network, and its policy forbids it to: the one script is named by
its hash, so that text of the data could not run even if it became markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from mprlib.attention import LOG2, UNIFORM
from mprlib.errors import InputError

from ..analysis import wording
from ..analysis.cases import CASE, FULFILLED
from ..analysis.frames import records
from ..analysis.worst import largest, worst_groups
from ..stages.first_shown import exposure_curve
from ..words import shortened
from . import embed
from .assembled import Assembled
from .described import case_of
from .overview import HEIGHT, LEFT, RIGHT, WIDTH
from .packed import pack
from .probes import probe_sections
from .styles import series_label, styles_of

# Rows of an overview table that are shown at first; the others unfold.
OPEN_QUERIES = 10
OPEN_GROUPS = 8
FILTERS = ("percent", "points", "number", "count", "group_name", "cost", "chance_clause", "is_missing")
# Characters of a text in a table's cell; the query's own section has all of it.
LONGEST_CELL = 80
# In the order in which they build on each other.
SCRIPTS = ("data.js", "wording.js", "marks.js", "curves.js", "selections.js", "page.js")
# Pieces of text that the template gives at a time.
PIECES_AT_ONCE = 500
# A page cannot hold the failures of a broken cluster; the manifest does.
SHOWN_FAILURES = 200


def page(report: Assembled) -> Iterator[bytes]:
    """The page, in UTF-8, in parts; the same run gives the same bytes."""
    templates = environment()
    script, style_sheet = (source(templates, *names) for names in (SCRIPTS, ("page.css",)))
    script = f'(function () {{\n"use strict";\n{script}\n}})();'
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    labels, said = report.labels, report.said()
    worst, queries = _worst(report, said), len({query for _, _, query, _ in report.names})
    stream = templates.get_template("page.html").stream(
        script=Markup(script),
        script_hash=f"sha256-{digest}",
        css=Markup(style_sheet),
        title=str(report.manifest.get("name") or "Audit of retrieval"),
        **_facts(report),
        worst=worst,
        beyond=[row for row in worst if row["is_headline"]],
        within=[row for row in worst if not row["is_headline"]],
        unranked=[(place, labels[place]) for place, case in enumerate(report.names) if case not in said],
        worst_groups=_worst_groups(report),
        open_queries=OPEN_QUERIES,
        open_groups=OPEN_GROUPS,
        shown=report.shown,
        drawing={"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT},
        labels=labels,
        head=pack(_head(report)),
        said=pack([[label, *said.get(case, ("", False))] for case, label in zip(report.names, labels)]),
        items=pack(embed.items_block(report.ids, report.items)),
        pictures=pack(embed.pictures_block(report.ids, report.thumbnails)),
        cases=report.blocks(),
        asked=wording.cases_of_queries(len(labels), queries),
        one_case=wording.case_nouns(len(labels), queries)[0],
        many_cases=wording.case_nouns(len(labels), queries)[1],
    )
    stream.enable_buffering(PIECES_AT_ONCE)
    return (text.encode("utf-8", "replace") for text in stream)


def _worst(report: Assembled, said: Mapping[tuple[Any, ...], tuple[str, bool]]) -> list[dict[str, Any]]:
    """The largest gap of each case, those beyond chance first, with the case's number, label and verdict."""
    number = {case: place for place, case in enumerate(report.names)}
    rows = []
    ranked = largest(report.pairs).sort_values("is_headline", ascending=False, kind="stable")
    for row in records(ranked):
        case = case_of(row)
        place, (verdict, _) = number[case], said[case]
        about = {
            "number": place,
            "label": report.labels[place],
            "verdict": verdict,
            "lacking": report.lacking.get(case),
        }
        rows.append(row | about)
    return rows


def _worst_groups(report: Assembled) -> list[dict[str, Any]]:
    """Each group over all cases, with the number and the label of the one with its largest gap."""
    number = {case: place for place, case in enumerate(report.names)}
    rows = []
    for row in records(worst_groups(report.pairs, minimum_share=report.shared.minimum_share)):
        place = number[tuple(row[f"worst_{key}"] for key in CASE)]
        rows.append(row | {"number": place, "label": report.labels[place]})
    return rows


def _facts(report: Assembled) -> dict[str, Any]:
    """What the manifest and the results say of the run as a whole."""
    manifest = report.manifest
    failures = _entries(manifest.get("failures"))
    return {
        "manifest": manifest,
        "settings": _readable(manifest.get("settings")),
        "encoder": _readable(manifest.get("encoder")),
        "data": _entries(manifest.get("data")),
        "failures": failures[:SHOWN_FAILURES],
        "failure_count": len(failures),
        "unmet": records(report.unmet),
        "probes": probe_sections(manifest),
        "top": _top_facts(report.top),
        "are_draws": bool((_mapping(manifest.get("settings")).get("results") or {}).get("draws")),
        "minimum_share": report.shared.minimum_share,
        "exposure": _exposure(_mapping(manifest.get("settings")).get("attention")),
    }


def _exposure(attention: Any) -> str:
    """Under which curve the tables of groups have the share of the attention, and whether the audit has others."""
    names = [name for name in attention if isinstance(name, str)] if isinstance(attention, (list, tuple)) else []
    try:
        curve = exposure_curve(names)
    except InputError:
        curve = LOG2
    said = "1/log2 of the place + 1" if curve == LOG2 else curve.name
    others = [name for name in names if name not in (UNIFORM.name, curve.name)]
    return f"{said}; not shown: {', '.join(others)}" if others else said


def environment() -> jinja2.Environment:
    """The templates' folder, with the report's words as filters."""
    loader = jinja2.PackageLoader(__package__, "templates")
    made = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {name: getattr(wording, name) for name in FILTERS}
    made.filters["shortened"] = partial(shortened, most=LONGEST_CELL)
    return made


def source(templates: jinja2.Environment, *names: str) -> str:
    """The templates' files as they are."""
    assert templates.loader is not None
    return "\n".join(templates.loader.get_source(templates, name)[0] for name in names)


def _head(report: Assembled) -> dict[str, Any]:
    """What all cases share: names that their blocks refer to, colours, and which statuses are full."""
    return {
        "classes": list(report.shared.classes),
        "groups": [wording.group_name(name) for name in report.groups],
        "item_width": report.item_width,
        "group_width": report.group_width,
        "styles": {series_label(*one): style for one, style in styles_of(report.shared.series).items()},
        "fulfilled": list(FULFILLED),
        "minimum": report.shared.minimum_share,
    }


def _top_facts(top: pd.DataFrame) -> dict[str, Any]:
    """What every query has in common, for the opening sentence; None where they differ. top: one row a case."""
    facts = {}
    for name in ("dataset", "reference", "k", "n_pool", "n_reference"):
        values = top[name].dropna().unique().tolist()
        facts[name] = values[0] if len(values) == 1 else None
    return facts


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _readable(value: Any) -> str | None:
    return None if not value else json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _entries(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value or [] if isinstance(entry, Mapping)]
