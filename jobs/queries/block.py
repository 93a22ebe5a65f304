"""The settings of the queries."""

from __future__ import annotations

from pydantic import Field, field_validator

from ..settings.block import Block, DriverPath, Label, Many
from .lists import NAMED, path_of


class Queries(Block):
    """What is asked."""

    list: Many[Label] | None = Field(None, description="the queries")
    named: str | None = Field(None, description=f"a built-in list: {', '.join(NAMED)}")
    file: DriverPath | None = Field(
        None,
        description="a text file, relative to the configuration file: one query per line; lines that begin with # and "
        "a space are comments",
    )
    vectors: DriverPath | None = Field(
        None, description="a Parquet file with columns query and vector, for a precomputed encoder; relative as `file`"
    )
    column: Label | None = Field(
        None,
        description="a column of the data set, whose distinct values are asked, the most frequent first; it is the "
        "data set's `relevance` as well, which gives precision",
    )
    prompt: str = Field("A photo of {a} {query}", description="template: {query} is the query, {a} becomes a or an")

    @field_validator("named")
    @classmethod
    def _known(cls, named: str | None) -> str | None:
        if named is not None:
            path_of(named)
        return named

    @field_validator("prompt")
    @classmethod
    def _checked_prompt(cls, prompt: str) -> str:
        if "{query}" not in prompt:
            raise ValueError(f"prompt is {prompt!r}: it must contain {{query}}")
        return prompt
