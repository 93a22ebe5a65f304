"""The registry of encoders that embed texts, some of them pictures too."""

from __future__ import annotations

from jobs.encoders.block import ModelSettings
from jobs.encoders.open_clip import OpenClipEncoder
from jobs.encoders.sentence import SentenceEncoder
from jobs.encoders.siglip import SiglipEncoder

MODELS: dict[str, type[ModelSettings]] = {
    "sentence": SentenceEncoder,
    "open_clip": OpenClipEncoder,
    "siglip": SiglipEncoder,
}
