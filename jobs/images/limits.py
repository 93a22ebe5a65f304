"""What a picture may cost before it is refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, FiniteFloat

from ..settings.block import Block, Whole

# Pillow refuses to open more than this on its own account.
MOST_PIXELS = 178_956_970


class ImageLimits(Block):
    """Limits of one picture; an item beyond them is skipped with the reason."""

    max_pixels: Annotated[Whole, Field(ge=1, le=MOST_PIXELS)] = Field(
        100_000_000, description="width times height, read from the header before anything is decoded"
    )
    max_megabytes: FiniteFloat = Field(200, gt=0, description="size of the file")
    min_side: Annotated[Whole, Field(ge=1)] = Field(1, description="pixels of the shorter side, at least")
    max_elongation: FiniteFloat = Field(
        100,
        ge=1,
        description="longest side over shortest side; long strips become very large when scaled to the model's size",
    )
