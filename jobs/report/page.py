"""The report as one HTML page: overview and manifest written here, queries drawn by its own script.

The page asks for nothing from a network, and its policy forbids it to: the one script is named by
its hash, so that text of the data could not run even if it became markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from jobs.analysis import wording
from jobs.analysis.cases import CASE, FULFILLED, SELECTION, function_classes, repaired_rows, top_k_rows
from jobs.analysis.curves import is_fulfilled
from jobs.analysis.frames import grouped, records
from jobs.analysis.load import Run
from jobs.analysis.worst import headline, worst_groups, worst_off
from jobs.report import embed
from jobs.report.figures import drawn_series
from jobs.report.overview import HEIGHT, LEFT, RIGHT, WIDTH, Distribution
from jobs.report.probes import probe_sections
from jobs.report.styles import series_label, styles_of
from jobs.words import shortened

# Rows of an overview table that are shown at first; the others unfold.
OPEN_QUERIES = 10
OPEN_GROUPS = 8
FILTERS = ("percent", "points", "number", "count", "group_name", "cost")
# Characters of a text in a table's cell; the query's own section has all of it.
LONGEST_CELL = 80
# In the order in which they build on each other.
SCRIPTS = ("data.js", "wording.js", "marks.js", "curves.js", "selections.js", "page.js")
# A page cannot hold the failures of a broken cluster; the manifest does.
SHOWN_FAILURES = 200


def render(run: Run, curves: pd.DataFrame, pairs: pd.DataFrame, shown: Distribution | None) -> bytes:
    """The page, in UTF-8; the same run gives the same bytes.

    curves and pairs are this run's tables; shown is the distribution of MPR, None without values.
    """
    group_names = sorted(run.groups["group"].unique().tolist())
    blocks = embed.case_blocks(run, curves, repaired_rows(run.results), group_names)
    for block, label in zip(blocks, _case_labels(blocks)):
        block["label"] = label
    worst = _judged(run, pairs, blocks)
    loader = jinja2.PackageLoader("jobs.report", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {name: getattr(wording, name) for name in FILTERS}
    environment.filters["shortened"] = partial(shortened, most=LONGEST_CELL)
    script, style_sheet = (_source(environment, loader, *names) for names in (SCRIPTS, ("page.css",)))
    script = f'(function () {{\n"use strict";\n{script}\n}})();'
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = environment.get_template("page.html").render(
        script=Markup(script),
        script_hash=f"sha256-{digest}",
        css=Markup(style_sheet),
        title=str(run.manifest.get("name") or "Audit of retrieval"),
        **_facts(run),
        worst=worst,
        unranked=[(place, block["label"]) for place, block in enumerate(blocks) if "verdict" not in block],
        worst_groups=records(worst_groups(pairs, minimum_share=run.minimum_share)),
        open_queries=OPEN_QUERIES,
        open_groups=OPEN_GROUPS,
        shown=shown,
        drawing={"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT},
        labels=[block["label"] for block in blocks],
        head=embed.pack(_head(run, group_names)),
        items=embed.pack(embed.items_block(run)),
        pictures=embed.pack(embed.pictures_block(run)),
        cases=[embed.pack(block) for block in blocks],
        case_count=len(blocks),
    )
    return text.encode("utf-8", "replace")


def _judged(run: Run, pairs: pd.DataFrame, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The worst pair of each case, worst first, with the case's number, label and verdict; blocks get the verdict."""
    lacking = {_case(row): row for row in records(worst_off(pairs, minimum_share=run.minimum_share))}
    number = {_case(block): place for place, block in enumerate(blocks)}
    rows = []
    for row in records(headline(pairs)):
        place, worst = number[_case(row)], lacking.get(_case(row))
        verdict = wording.verdict(row, worst)
        blocks[place] |= {"verdict": verdict, "worst_is_crossed": row["attributes"] > 1}
        rows.append(row | {"number": place, "label": blocks[place]["label"], "verdict": verdict, "lacking": worst})
    return rows


def _facts(run: Run) -> dict[str, Any]:
    """What the manifest and the results say of the run as a whole."""
    failures = _entries(run.manifest.get("failures"))
    return {
        "manifest": run.manifest,
        "settings": _readable(run.manifest.get("settings")),
        "encoder": _readable(run.manifest.get("encoder")),
        "data": _entries(run.manifest.get("data")),
        "failures": failures[:SHOWN_FAILURES],
        "failure_count": len(failures),
        "unmet": _unmet(run.results),
        "probes": probe_sections(run.manifest),
        "top": _top_facts(run.results),
        "minimum_share": run.minimum_share,
    }


def _source(environment: jinja2.Environment, loader: jinja2.PackageLoader, *names: str) -> str:
    """The templates' files as they are."""
    return "\n".join(loader.get_source(environment, name)[0] for name in names)


def _head(run: Run, group_names: list[str]) -> dict[str, Any]:
    """What all cases share: names that their blocks refer to, colours, and which statuses are full."""
    return {
        "classes": function_classes(run.results),
        "groups": [wording.group_name(name) for name in group_names],
        "styles": {series_label(*one): style for one, style in styles_of(drawn_series(run.results)).items()},
        "fulfilled": list(FULFILLED),
        "minimum": run.minimum_share,
    }


def _case(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in CASE)


def _case_labels(blocks: list[dict[str, Any]]) -> list[str]:
    """The query, and what else it takes to tell the cases apart."""
    several = [key for key in CASE if len({block[key] for block in blocks}) > 1]
    prefix = {"dataset": "items ", "reference": "reference ", "k": "k = "}
    return [
        ", ".join([block["query"], *(f"{prefix[key]}{block[key]}" for key in several if key != "query")])
        for block in blocks
    ]


def _top_facts(results: pd.DataFrame) -> dict[str, Any]:
    """What every query has in common, for the opening sentence; None where they differ."""
    top = top_k_rows(results)
    facts = {}
    for name in ("dataset", "reference", "k", "n_pool", "n_reference"):
        values = top[name].dropna().unique().tolist()
        facts[name] = values[0] if len(values) == 1 else None
    return facts


def _unmet(results: pd.DataFrame) -> list[dict[str, Any]]:
    """How many selections of each method ended in a status that is not what was asked for."""
    rows = results[~is_fulfilled(results["status"])].drop_duplicates(SELECTION)
    counted = grouped(rows, ["method", "status"], sort=True)
    return [{"method": method, "status": status, "count": len(own)} for (method, status), own in counted]


def _readable(value: Any) -> str | None:
    return None if not value else json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _entries(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value or [] if isinstance(entry, Mapping)]
