"""What every part of a configuration is."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Strict

# A whole number that is written as one: neither true, nor "50", nor 50.0.
Whole = Annotated[int, Strict()]


class Block(BaseModel):
    """A part of the configuration: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)
