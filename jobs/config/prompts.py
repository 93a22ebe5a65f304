"""Settings of training tokens that hide an attribute, for `debias_clip`.

Field descriptions are the documentation of the configuration file.
"""

from __future__ import annotations

from pydantic import Field, field_validator

from mprlib.settings import LARGEST_SEED

from ..datasets import AnyDataset
from ..encoders import PromptedEncoder
from ..encoders.token_training import TokenTraining
from ..settings.block import Block, Distinct, Label, Whole

# The adjectives that the paper trains with, favourable and unfavourable.
ADJECTIVES = (
    "good, evil, smart, dumb, attractive, unattractive, lawful, criminal, friendly, unfriendly, clever, stupid, "
    "heroic, villainous, hardworking, lazy, trustworthy, dangerous, caring, nasty"
)
PROMPTS = tuple(f"a photo of a {adjective} person" for adjective in ADJECTIVES.split(", "))


class PromptTraining(Block):
    """The whole configuration of `mpr-audit train-prompt`."""

    dataset: AnyDataset = Field(description="labelled pictures")
    attribute: Label = Field(description="the attribute of the data set that the tokens hide")
    encoder: PromptedEncoder = Field(description="the model whose text tower reads the tokens")
    prompts: Distinct[str] = Field(
        PROMPTS,
        min_length=1,
        description="texts whose similarities should reveal less of the attribute; best the audit's own prompts, since "
        "other texts gain little",
    )
    training: TokenTraining = Field(TokenTraining(), description="how the tokens are trained")
    held_out_share: float = Field(0.3, gt=0, lt=1, description="share of the pictures that is held out for evaluation")
    seed: Whole = Field(0, ge=0, le=LARGEST_SEED, description="seed of the split and of the evaluating classifiers")
    output: str | None = Field(None, description="the file of tokens, safetensors, relative to the configuration file")

    @field_validator("prompts")
    @classmethod
    def _not_empty(cls, prompts: tuple[str, ...]) -> tuple[str, ...]:
        if not all(prompt.strip() for prompt in prompts):
            raise ValueError("texts are expected, none of them empty")
        return prompts
