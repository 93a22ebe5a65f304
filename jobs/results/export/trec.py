"""TREC run files, one per method and point of its sweep, and relevance judgements where the data has them.

A sweep's point is its parameter value where all queries share it, as lambda of mmr; values of rho depend
on each query's own top-k, so there the third points of all queries form one file.

A run file's line is `query Q0 item rank score tag`. The score is k + 1 - rank: tools sort by score,
and a selection's order is all that it states. Query and item ids are texts of the data: what a
space-separated file cannot hold (white space and the escape itself) is written as %20 and the like.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from ...plan.plan_file import read_plan
from ...stages.catalogue import PARTS, Catalogue, read_parts
from ...store import Store
from ...store.keys import digest
from .selections import read_selections

# Characters that a token may not hold: separators, control characters, and the escape's own sign.
UNSAFE = re.compile(r"[\s%\x00-\x1f\x7f]")
DESCRIBED = [
    "dataset",
    "reference",
    "k",
    "method",
    "target_class",
    "point",
    "parameter",
    "lowest",
    "highest",
    "queries",
]
SWEEP = ["dataset", "reference", "k", "method", "target_class"]
NAME_DIGITS = 8
# Disks take 255 bytes a name: what is left beside a digest, an ending and a writer's mark.
LONGEST_STEM_BYTES = 150


def export_trec(store: Store, output: str) -> list[str]:
    """Write *.run files, index.csv that describes each, queries.tsv and qrels files to a folder."""
    files: dict[str, str] = {}
    index = []
    rows = read_selections(store).to_pylist()
    for about, members in _points(rows):
        tag = _tag(about)
        name = f"{tag.replace('=', '-')}-{digest([about[key] for key in (*SWEEP, 'point')])[:NAME_DIGITS]}.run"
        lines = [line for row in members for line in _run_lines(row, tag)]
        if lines:
            files[name] = "".join(lines)
            index.append({"file": name} | about)
    files["index.csv"] = _csv(index)
    queries = list(dict.fromkeys(row["query"] for row in rows))
    files["queries.tsv"] = "".join(f"{token(query)}\t{' '.join(query.split())}\n" for query in queries)
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        judged = "".join(_judgements(store, dataset, queries))
        if judged:
            files[f"{_file_stem(dataset)}.qrels"] = judged
    target = Store(output)
    for name, text in files.items():
        target.write(name, text.encode("utf-8", "replace"))
    return [target.address(name) for name in files]


def token(text: str) -> str:
    """A text as one word; urllib.parse.unquote restores it."""
    return UNSAFE.sub(lambda found: quote(found.group(), safe=""), text) or "%00"


def _file_stem(name: str) -> str:
    """A data set's name as part of a file name; a digest keeps names apart that are too long for one."""
    stem = token(name).replace("/", "%2F")
    # Half a letter at the cut is left out.
    cut = stem.encode("utf-8", "replace")[:LONGEST_STEM_BYTES].decode("utf-8", "ignore")
    return stem if cut == stem else f"{cut}-{digest([name])[:NAME_DIGITS]}"


def _points(rows: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The description of each run file, and its selections: one per query."""
    points: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    seen: dict[tuple[Any, ...], int] = defaultdict(int)
    for row in rows:
        sweep = tuple(row[key] for key in SWEEP)
        seen[*sweep, row["query"]] += 1
        points[*sweep, seen[*sweep, row["query"]]].append(row)
    for (*place, point), members in points.items():
        values = [row["parameter_value"] for row in members if row["parameter_value"] is not None]
        about = dict(zip(SWEEP, place)) | {"point": point, "parameter": members[0]["parameter"]}
        limits = {"lowest": min(values, default=None), "highest": max(values, default=None)}
        yield about | limits | {"queries": len(members)}, members


def _tag(about: dict[str, Any]) -> str:
    """The method, and its value or the point of its sweep."""
    if about["lowest"] is None:
        return str(about["method"])
    if about["lowest"] == about["highest"] and about["queries"] > 1:
        return f"{about['method']}={about['lowest']:.6g}"
    return f"{about['method']}-point={about['point']}"


def _run_lines(row: dict[str, Any], tag: str) -> Iterator[str]:
    for rank, item in enumerate(row["item_ids"] or (), start=1):
        yield f"{token(row['query'])} Q0 {token(item)} {rank} {row['k'] + 1 - rank} {tag}\n"


def _judgements(store: Store, dataset: str, queries: list[str]) -> Iterator[str]:
    """Every item of the data set whose true term is a query; none where no term is known.

    They come from the unit that lists the items, whose key the run's plan states.
    """
    planned = read_plan(store) or []
    units = [unit.key for unit in planned if unit.stage == Catalogue.stage and unit.title == f"items of {dataset}"]
    if not units or not store.exists(Catalogue.file(units[0], PARTS)):
        return
    asked = {query.strip().casefold(): query for query in queries}
    found = defaultdict(list)
    for items in read_parts(store, units[0], ["item_id", "relevance"]):
        for item, term in zip(items["item_id"].to_pylist(), items["relevance"].to_pylist()):
            if term is not None and term.strip().casefold() in asked:
                found[asked[term.strip().casefold()]].append(item)
    for query in queries:
        for item in found[query]:
            yield f"{token(query)} 0 {token(item)} 1\n"


def _csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, ["file", *DESCRIBED], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
