"""No model at all: the data set holds its items' vectors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ..settings.block import Label, OneOf
from .block import EncoderSettings, ModelSettings
from .models import MODELS


class PrecomputedEncoder(EncoderSettings):
    """Vectors that the data set holds already; queries come as vectors or through `text`."""

    kind: Literal["precomputed"] = Field()
    column: Label = Field("embedding", description="column of equally long lists of numbers")
    text: Annotated[ModelSettings, OneOf(MODELS)] | None = Field(
        None, description="the encoder that made the vectors, for query texts"
    )

    @property
    def item_encoder(self) -> ModelSettings | None:
        return None

    @property
    def text_encoder(self) -> ModelSettings | None:
        return self.text

    @property
    def vector_column(self) -> str | None:
        return self.column
