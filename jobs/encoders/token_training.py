"""The settings that say how learned tokens are trained."""

from __future__ import annotations

from pydantic import Field, FiniteFloat

from ..settings.block import Block, Whole


class TokenTraining(Block):
    """How tokens are trained."""

    tokens: Whole = Field(4, ge=1, description="how many come before a text; published ones are 2")
    steps: Whole = Field(300, ge=1, description="steps of the training, all on all labelled images")
    learning_rate: FiniteFloat = Field(0.03, gt=0, description="of the first step; it falls to 0 along a cosine")
    similarity_weight: FiniteFloat = Field(
        0.1, ge=0, description="of the squared change of similarities, against what the classifier reads"
    )
    margin: FiniteFloat = Field(
        0.45,
        gt=0,
        description="largest change of a similarity that is accepted, root mean square over images and prompts, in "
        "standard deviations of the prompt's similarities over images",
    )
