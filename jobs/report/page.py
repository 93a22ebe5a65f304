"""The report as one HTML page: overview and manifest written here, queries drawn by its own script.

The page asks for nothing from a network, and its policy forbids it to: the one script is named by
its hash, so that text of the data could not run even if it became markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from jobs.analysis import wording
from jobs.analysis.cases import CASE, FULFILLED, SELECTION, function_classes, repaired_rows, top_k_rows
from jobs.analysis.curves import is_fulfilled
from jobs.analysis.load import Run
from jobs.analysis.worst import headline, worst_groups, worst_off
from jobs.report import embed
from jobs.report.figures import style
from jobs.report.overview import HEIGHT, LEFT, RIGHT, WIDTH, Distribution
from jobs.report.probes import probe_sections

# Rows of an overview table that stand open; the others unfold.
OPEN_QUERIES = 10
OPEN_GROUPS = 8
FILTERS = ("percent", "points", "number", "count", "group_name", "cost", "shortened")
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
    worst_first = headline(pairs)
    lacking = {_case(row): row for row in worst_off(pairs, minimum_share=run.minimum_share).to_dict("records")}
    labels = _case_labels(blocks)
    number = {tuple(block[key] for key in CASE): place for place, block in enumerate(blocks)}
    for block, label in zip(blocks, labels):
        block["label"] = label
    for row in worst_first.to_dict("records"):
        verdict = wording.verdict(row, lacking.get(_case(row)))
        blocks[number[_case(row)]] |= {"verdict": verdict, "worst_is_crossed": row["attributes"] > 1}
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("jobs.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {name: getattr(wording, name) for name in FILTERS}
    script = _script(environment)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = environment.get_template("page.html").render(
        script=Markup(script),
        script_hash=f"sha256-{digest}",
        css=Markup(environment.loader.get_source(environment, "page.css")[0]),
        title=str(run.manifest.get("name") or "Audit of retrieval"),
        manifest=run.manifest,
        settings=_readable(run.manifest.get("settings")),
        encoder=_readable(run.manifest.get("encoder")),
        data=_entries(run.manifest.get("data")),
        failures=_entries(run.manifest.get("failures"))[:SHOWN_FAILURES],
        failure_count=len(_entries(run.manifest.get("failures"))),
        unmet=_unmet(run.results),
        probes=probe_sections(run.manifest),
        worst=[row | {"number": number[_case(row)], "label": labels[number[_case(row)]],
                      "verdict": blocks[number[_case(row)]]["verdict"], "lacking": lacking.get(_case(row))}
               for row in worst_first.to_dict("records")],
        unranked=[(place, labels[place]) for place, block in enumerate(blocks) if "verdict" not in block],
        worst_groups=worst_groups(pairs, minimum_share=run.minimum_share).to_dict("records"),
        top=_top_facts(run.results),
        open_queries=OPEN_QUERIES,
        open_groups=OPEN_GROUPS,
        minimum_share=run.minimum_share,
        shown=shown,
        drawing={"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT},
        labels=labels,
        head=embed.pack(_head(run, group_names)),
        items=embed.pack(embed.items_block(run)),
        pictures=embed.pack(embed.pictures_block(run)),
        cases=[embed.pack(block) for block in blocks],
        case_count=len(blocks),
    )  # fmt: skip
    return text.encode("utf-8", "replace")


def _script(environment: jinja2.Environment) -> str:
    """All parts as one script with a scope of its own: names of the page's elements cannot shadow it."""
    parts = [environment.loader.get_source(environment, name)[0] for name in SCRIPTS]
    return "\n".join(["(function () {", '"use strict";', *parts, "})();"])


def _head(run: Run, group_names: list[str]) -> dict[str, Any]:
    """What all cases share: names that their blocks refer to, colours, and which statuses are full."""
    return {
        "classes": function_classes(run.results),
        "groups": [wording.group_name(name) for name in group_names],
        "styles": style(run.results["method"].unique().tolist()),
        "fulfilled": list(FULFILLED),
        "minimum": run.minimum_share,
    }


def _case(row: Mapping[str, Any]) -> tuple:
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
    counted = rows.groupby(["method", "status"], sort=True).size()
    return [{"method": method, "status": status, "count": int(size)} for (method, status), size in counted.items()]


def _readable(value: Any) -> str | None:
    return None if not value else json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _entries(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value or [] if isinstance(entry, Mapping)]
