"""Queries from a list, a named list, a file or a table of vectors, and their prompts; lists of phrases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..datasets import parquet_files
from ..datasets.encodings import lines_of
from ..datasets.table_fault import TableFault
from ..datasets.values import BadValue, holds_texts, texts_of
from ..errors import BadSetting, UsageError, about
from .article import article
from .block import Queries
from .lists import path_of

__all__ = ["Query", "article", "query_remarks", "query_vectors", "read_phrases", "read_queries"]

SHIPPED_PHRASES = Path(__file__).parent / "phrases.txt"


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """A query as the user wrote it, and the text that is embedded."""

    text: str
    prompt: str


def read_queries(
    block: Queries, folder: Path, limit: int | None = None, terms: Callable[[], Sequence[str]] = list
) -> list[Query]:
    """The first `limit` queries with their prompts. terms: the values of the data set's column, where they are asked.

    Raises:  UsageError when there are none, one is empty or one repeats.
    """
    given = (block.list, block.named, block.file, block.vectors, block.column)
    if sum(source is not None for source in given) != 1:
        raise BadSetting("exactly one of list, named, file, vectors and column is expected", "queries")
    if block.list is not None:
        texts, source = list(block.list), "list"
    elif block.named is not None:
        texts, source = _query_lines(path_of(block.named)), "named"
    elif block.file is not None:
        with about("queries", "file"):
            texts, source = _query_lines(folder / block.file), "file"
    elif block.column is not None:
        texts, source = list(terms()), "column"
    else:
        texts, source = query_vectors(block, folder)["query"].to_pylist(), "vectors"
    if not texts:
        raise BadSetting("it is empty: at least one query is expected", "queries", source)
    seen: set[str] = set()
    for position, text in enumerate(texts):
        if not text.strip():
            raise BadSetting(f"query {position + 1} is empty", "queries", source)
        if text in seen:
            raise BadSetting(f"query {text!r} occurs twice", "queries", source)
        seen.add(text)
    return [Query(text=text, prompt=_prompt(block.prompt, text)) for text in texts[:limit]]


def read_phrases(file: str | None, folder: Path) -> list[str]:
    """Phrases of a text file, one a line; without a file, the list that comes with the job.

    Raises:  UsageError for a file that cannot be read or has no phrases.
    """
    path = SHIPPED_PHRASES if file is None else folder / file
    phrases = _query_lines(path)
    if not phrases:
        raise UsageError(f"{path} is empty: at least one phrase is expected")
    return list(dict.fromkeys(phrases))


def query_remarks(block: Queries, folder: Path) -> tuple[str, ...]:
    """A sentence on the comments of a file of queries."""
    if block.file is None:
        return ()
    comments = [line for line in _read_lines(folder / block.file) if _is_comment(line)]
    if not comments:
        return ()
    what = "1 line that begins" if len(comments) == 1 else f"{len(comments)} lines that begin"
    return (f"queries.file {block.file}: {what} with # and a space are comments, such as {comments[0]!r:.80}",)


def _query_lines(path: Path) -> list[str]:
    """The lines that are neither empty nor comments."""
    return [line for line in _read_lines(path) if not _is_comment(line)]


def _is_comment(line: str) -> bool:
    """Whether # is alone at its beginning: #metoo and C# are asked for as they are."""
    return line == "#" or (line.startswith("#") and line[1].isspace())


def _read_lines(path: Path) -> list[str]:
    try:
        lines = [line.strip() for line in lines_of(path)]
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return [line for line in lines if line]


def query_vectors(block: Queries, folder: Path) -> pa.Table:
    """Columns query and vector of the file of query vectors: finite, of any length.

    Raises:  UsageError naming the file for anything else.
    """
    path = folder / str(block.vectors)
    if not path.exists():
        raise BadSetting(f"{path} does not exist", "queries", "vectors")
    try:
        table = parquet_files.read(path, ["query", "vector"])
    except (OSError, TableFault) as error:
        raise BadSetting(f"{path}: {getattr(error, 'strerror', None) or error}", "queries", "vectors") from None
    texts = _texts(table["query"])
    if texts is None or texts.null_count:
        raise BadSetting(f"{path}: column query must hold a text in every row", "queries", "vectors")
    try:
        with np.errstate(over="ignore"):
            matrix = np.array(table["vector"].to_pylist(), dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        matrix = np.empty(0, dtype=np.float32)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all() or not matrix.any(axis=1).all():
        raise BadSetting(
            f"{path}: column vector must hold lists of one length, of finite numbers that are not all 0",
            "queries",
            "vectors",
        )
    return pa.table({"query": texts, "vector": table["vector"]})


def _texts(column: pa.ChunkedArray) -> pa.Array | None:
    """The texts of a column, also of a dictionary-encoded one; None for other types."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    try:
        return texts_of(column) if holds_texts(kind) else None
    except (TypeError, BadValue, pa.ArrowException):
        return None


def _prompt(template: str, query: str) -> str:
    """Fill in the prompt. Braces in a query are text, so str.format cannot be used."""
    pieces = template.replace("{a}", "\0a\0").replace("{query}", "\0q\0").split("\0")
    return "".join(
        {"a": article(query), "q": query}.get(piece, piece) if position % 2 else piece
        for position, piece in enumerate(pieces)
    )
