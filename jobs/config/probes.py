"""Settings of a probe: which labelled data set teaches what to read off vectors.

Field descriptions are the documentation of the configuration file.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from ..datasets import AnyDataset
from ..settings.block import Block, Label


class Probe(Block):
    """Labels for items that nobody labelled: a classifier of their vectors, trained on a labelled data set."""

    dataset: AnyDataset = Field(description="the labelled data set, embedded by the audit's encoder")
    attribute: Label | None = Field(None, description="the attribute to learn; default: the probe's name")
    held_out_share: float = Field(
        0.2, gt=0, lt=1, description="share of the labelled items that is held out to evaluate the probe"
    )
    least_probability: float = Field(
        0.0, ge=0, lt=1, description="an item whose most probable level has a lower probability than this is `unknown`"
    )

    @model_validator(mode="after")
    def _checked_labels(self) -> Probe:
        for name, attribute in self.dataset.attributes.items():
            if attribute.probe is not None:
                raise ValueError(
                    f"its data set's attribute {name!r} is itself predicted by a probe: labels are expected"
                )
        return self
