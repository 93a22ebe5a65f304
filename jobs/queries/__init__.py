"""What is asked: queries from a list, a named list, a file or a table of vectors, their prompts; lists of phrases."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from jobs.errors import BadSetting, UsageError, about
from jobs.queries.article import article
from jobs.queries.lists import path_of

if TYPE_CHECKING:
    from jobs.config.audit import Queries

__all__ = ["Query", "article", "query_vectors", "read_phrases", "read_queries"]

SHIPPED_PHRASES = Path(__file__).parent / "phrases.txt"


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """One query as the user wrote it, and the text that is embedded."""

    text: str
    prompt: str


def read_queries(block: Queries, folder: Path, limit: int | None = None) -> list[Query]:
    """The first `limit` queries with their prompts.

    Raises:  UsageError when there are none, one is empty or one repeats.
    """
    if sum(source is not None for source in (block.list, block.named, block.file, block.vectors)) != 1:
        raise BadSetting("exactly one of list, named, file and vectors is expected", "queries")
    if block.list is not None:
        texts, source = list(block.list), "list"
    elif block.named is not None:
        texts, source = _lines(path_of(block.named)), "named"
    elif block.file is not None:
        with about("queries", "file"):
            texts, source = _lines(folder / block.file), "file"
    else:
        texts, source = query_vectors(block, folder)["query"].to_pylist(), "vectors"
    if not texts:
        raise BadSetting("it is empty: at least one query is expected", "queries", source)
    seen: set[str] = set()
    for position, text in enumerate(texts):
        if not text.strip():
            raise BadSetting(f"query {position + 1} is empty", "queries", source)
        if text in seen:
            raise BadSetting(f"query {text!r} stands twice", "queries", source)
        seen.add(text)
    return [Query(text=text, prompt=_prompt(block.prompt, text)) for text in texts[:limit]]


def read_phrases(file: str | None, folder: Path) -> list[str]:
    """Phrases of a text file, one a line; without a file, the list that comes with the job.

    Raises:  UsageError for a file that cannot be read or has no phrases.
    """
    path = SHIPPED_PHRASES if file is None else folder / file
    phrases = _lines(path)
    if not phrases:
        raise UsageError(f"{path} is empty: at least one phrase is expected")
    return list(dict.fromkeys(phrases))


def _lines(path: Path) -> list[str]:
    """Lines that hold something, comments left out."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def query_vectors(block: Queries, folder: Path) -> pa.Table:
    """Columns query and vector of the file of query vectors, finite, unit length not assumed.

    Raises:  UsageError naming the file for anything else.
    """
    path = folder / str(block.vectors)
    if not path.exists():
        raise BadSetting(f"{path} does not exist", "queries", "vectors")
    try:
        table = pyarrow.parquet.read_table(path, columns=["query", "vector"])
    except (OSError, ValueError, pa.ArrowException) as error:
        raise BadSetting(f"{path}: {' '.join(str(error).split())[:200]}", "queries", "vectors") from None
    kind = table["query"].type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)) or table["query"].null_count:
        raise BadSetting(f"{path}: column query must hold a text in every row", "queries", "vectors")
    try:
        matrix = np.array(table["vector"].to_pylist(), dtype=np.float32)
    except (ValueError, TypeError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all() or not matrix.any(axis=1).all():
        raise BadSetting(
            f"{path}: column vector must hold lists of one length, of finite numbers that are not all 0",
            "queries",
            "vectors",
        )
    return table


def _prompt(template: str, query: str) -> str:
    """Braces in a query are text, not fields, so str.format is not for this."""
    pieces = template.replace("{a}", "\0a\0").replace("{query}", "\0q\0").split("\0")
    return "".join(
        {"a": article(query), "q": query}.get(piece, piece) if position % 2 else piece
        for position, piece in enumerate(pieces)
    )
