"""Class labels for `pbm`: from known levels, or zero-shot from the encoder's text side."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import IntArray
from mprlib.errors import InputError
from mprlib.frames.levels import level_of, levels_of
from mprlib.settings import refuse_text

NEUTRAL = 0


def from_levels(levels: ArrayLike, neutral: Collection[Any] = ()) -> IntArray:
    """Labels (n,) of levels, one per item: classes 1, 2, ... in the order of their names, 0 for the neutral ones.

    >>> from mprlib.baselines.group_labels import from_levels
    >>> from_levels(["man", "woman", None], neutral=[None]).tolist()
    [1, 2, 0]
    """
    names = levels_of(levels)
    classes, codes = np.unique(names, return_inverse=True)
    is_neutral = np.isin(classes, list(map(level_of, neutral)))
    number = np.where(is_neutral, NEUTRAL, np.cumsum(~is_neutral))
    return number[codes].astype(np.intp)


def zero_shot(embeddings: ArrayLike, texts: ArrayLike) -> IntArray:
    """Labels (n,): the text that is most similar to each item, the first text being the neutral one.

    Shapes:  embeddings (n, d); texts (1 + classes, d), vectors of "a photo of a person", "a photo of
             a woman", ... by the encoder that made the embeddings.
    Raises:  InputError for other shapes or fewer than two texts.
    """
    items, prompts = _matrix("embeddings", embeddings), _matrix("texts", texts)
    if prompts.shape[0] < 2 or prompts.shape[1] != items.shape[1]:
        raise InputError(
            f"texts has shape {prompts.shape}: a neutral text and at least one class, {items.shape[1]} numbers each, "
            "are expected"
        )
    # Not a BLAS product: equal items must get equal labels at every position.
    labels: IntArray = np.argmax(np.einsum("ij,kj->ik", items, prompts), axis=1)
    return labels


def _matrix(name: str, values: ArrayLike) -> np.ndarray:
    refuse_text(name, values)
    matrix = np.asarray(values, dtype=float)
    if matrix.ndim != 2 or matrix.shape[1] == 0 or not np.isfinite(matrix).all():
        raise InputError(f"{name} has shape {matrix.shape}: rows of finite numbers are expected")
    return matrix
