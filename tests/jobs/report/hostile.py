"""A run whose every text tries to become markup, and whose values are as bad as a schema allows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from jobs.stages.result_rows import RESULTS
from jobs.store import schema
from tests.jobs.report import synthetic

MARKUP = '<img src=x onerror="window.hacked=1">'
CLOSING = "</script><script>window.hacked=2</script>"
LONG = "x" * 300
WORD = "x" * 3000
QUERY = f"{MARKUP}{CLOSING} \U0001f600 'quoted' a/b $x$ {LONG}"
ITEM = f"=1+1{MARKUP}"


def tables() -> dict[str, pa.Table]:
    """One synthetic query renamed, its first item and first group too."""
    made = {name: table.to_pylist() for name, table in synthetic.tables(queries=2, points=4, k=10).items()}
    first, item = made["results"][0]["query"], made["results"][0]["item_ids"][0]
    group = made["groups"][0]["group"]
    for row in made["results"] + made["groups"]:
        row["query"] = QUERY if row["query"] == first else row["query"]
    for row in made["results"]:
        row["item_ids"] = [ITEM if one == item else one for one in row["item_ids"]]
        row["message"] = MARKUP
    for row in made["groups"]:
        row["group"] = f"sex={CLOSING}" if row["group"] == group else row["group"]
    for row in made["items"]:
        if row["item_id"] == item:
            row |= {"item_id": ITEM, "text": MARKUP + CLOSING, "labels": [(MARKUP, CLOSING)]}
    return {name: pa.Table.from_pylist(made[name], schema=columns) for name, columns in SCHEMAS.items()}


def manifest() -> dict[str, Any]:
    """Markup in every text of the manifest."""
    return {
        "name": MARKUP, "run_id": CLOSING, "settings": {MARKUP: CLOSING}, "notes": [MARKUP],
        "versions": {MARKUP: CLOSING},
        "data": [{"dataset": MARKUP, "items": 3, "dropped": {CLOSING: 1},
                  "skipped": {CLOSING: {"items": 2, "first": [MARKUP, CLOSING]}}}],
        "encoder": {"kind": CLOSING},
        "failures": [{"unit": MARKUP, "stage": CLOSING, "message": MARKUP}],
    }  # fmt: skip


def long_tables() -> dict[str, pa.Table]:
    """Every text of the data is one word of WORD more letters than it was."""
    made = {name: table.to_pylist() for name, table in synthetic.tables(queries=2, points=4, k=10).items()}
    for row in made["results"] + made["groups"] + made["items"]:
        row |= {name: row[name] + WORD for name in ("dataset", "reference", "query") if name in row}
    for row in made["results"]:
        row |= {"item_ids": [one + WORD for one in row["item_ids"]], "message": WORD}
    for row in made["groups"]:
        row["group"] += WORD
    for row in made["items"]:
        row |= {"item_id": row["item_id"] + WORD, "text": WORD, "labels": [(WORD, WORD)]}
    return {name: pa.Table.from_pylist(made[name], schema=columns) for name, columns in SCHEMAS.items()}


def long_manifest() -> dict[str, Any]:
    """The same of the manifest's texts."""
    return {
        "name": WORD, "run_id": WORD, "settings": {WORD: WORD}, "notes": [WORD], "versions": {WORD: WORD},
        "data": [{"dataset": WORD, "items": 3, "dropped": {WORD: 1}, "skipped": {WORD: {"items": 2, "first": [WORD]}}}],
        "encoder": {"kind": WORD},
        "failures": [{"unit": WORD, "stage": WORD, "message": WORD}],
    }  # fmt: skip


def broken_tables() -> dict[str, pa.Table]:
    """One query that failed, one with zero MPR, one without top-k, one never met, one unknown."""
    made = {name: table.to_pylist() for name, table in synthetic.tables(queries=5, points=3, k=10).items()}
    failed, zero, topless, unmet, unknown = dict.fromkeys(row["query"] for row in made["results"])
    nothing = dict.fromkeys(name for name in RESULTS.names if RESULTS.field(name).type == pa.float64())
    for row in made["results"]:
        if row["query"] == failed:
            kept = row["parameter_value"]
            row.update(
                nothing | {"parameter_value": kept, "status": "failed", "item_ids": None, "message": "out of memory"}
            )
        if row["query"] == zero:
            row |= {"mpr": 0.0, "mpr_top_k": 0.0, "chi": 0.0}
        if row["query"] == unmet and row["method"] == "mopr":
            row |= {"status": "not_found"}
        if row["query"] == unknown:
            row |= {"similarity": -0.1, "similarity_top_k": -0.1, "mpr_low": None, "mpr_high": None}
    made["results"] = [row for row in made["results"] if (row["query"], row["method"]) != (topless, "top_k")]
    made["groups"] = [row for row in made["groups"] if row["query"] != failed]
    return {name: pa.Table.from_pylist(made[name], schema=columns) for name, columns in SCHEMAS.items()}


SCHEMAS = {"results": RESULTS, "groups": schema.GROUPS, "items": schema.ITEMS}
