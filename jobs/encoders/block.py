"""What the settings of every kind of encoder have in common, and what a kind has to say of itself.

Everything that asks "can this encoder ...?" asks its block. Blocks load nothing: whoever holds the weights is made by
`loaded`, in the process that embeds.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from ..settings.block import Block

if TYPE_CHECKING:
    from . import Encoder

# No machine has the memory for more.
LARGEST_BATCH = 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """A package that a kind of encoder cannot do without: what pip calls it, the extra that brings it, and what for."""

    package: str
    extra: str
    purpose: str

    @property
    def command(self) -> str:
        """What installs it."""
        return f"pip install 'mprlib[{self.extra}]'"


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderSource:
    """One encoder, found and checked before anything is loaded.

    key holds what decides its vectors, paths replaced by what they hold, for the keys of units; loading holds what
    loads it, paths made absolute; width, how many numbers a vector has, where that is known before anything is loaded.
    reads_images: whether items are embedded by their pictures, where they have some.
    """

    key: Mapping[str, Any]
    loading: Mapping[str, Any]
    reads_images: bool
    width: int | None = None


class EncoderSettings(Block):
    """Where vectors come from. Each kind has settings of its own."""

    kind: str = Field(description="what the encoder is")

    @property
    @abstractmethod
    def item_encoder(self) -> ModelSettings | None:
        """What embeds the items; None where they have their vectors."""

    @property
    @abstractmethod
    def text_encoder(self) -> ModelSettings | None:
        """What embeds queries and other texts; None where nothing can."""

    @property
    def vector_column(self) -> str | None:
        """The column of the items' vectors, where they have them already."""
        return None


class ModelSettings(EncoderSettings):
    """A model that embeds texts, and perhaps pictures.

    takes_tokens: its text tower reads learned tokens before a text. wants_gpu: it runs on a GPU where there is one, and
    decodes pictures in processes of its own. needs: a heavy package that `mpr-audit doctor` looks for.
    """

    reads_images: ClassVar[bool] = False
    wants_gpu: ClassVar[bool] = False
    takes_tokens: ClassVar[bool] = False
    needs: ClassVar[Needs | None] = None

    @property
    def item_encoder(self) -> ModelSettings | None:
        return self

    @property
    def text_encoder(self) -> ModelSettings | None:
        return self

    @abstractmethod
    def source(self, folder: Path, setting: str) -> EncoderSource:
        """The model and its weights, found and checked; nothing is loaded.

        folder: where relative paths start from. setting: the key of this block, for messages.
        Raises:  UsageError, one sentence that names the setting.
        """

    @classmethod
    def imported(cls) -> str:
        """Import what it needs, and say its version.

        Raises:  ImportError where it is not installed or does not work.
        """
        return ""

    @classmethod
    @abstractmethod
    def loaded(cls, **settings: Any) -> Encoder:
        """The model with its weights in memory.

        settings: `EncoderSource.loading` without the kind; where `wants_gpu`, also device, `cpu` or `cuda`, and
        decode_workers, the number of processes that decode pictures.
        Raises:  UsageError for a model or weights that cannot be used.
        """
