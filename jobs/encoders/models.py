"""The registry of encoders that embed texts, some of them pictures too."""

from __future__ import annotations

from .block import ModelSettings
from .open_clip import OpenClipEncoder
from .sentence import SentenceEncoder
from .siglip import SiglipEncoder

MODELS: dict[str, type[ModelSettings]] = {
    "sentence": SentenceEncoder,
    "open_clip": OpenClipEncoder,
    "siglip": SiglipEncoder,
}
