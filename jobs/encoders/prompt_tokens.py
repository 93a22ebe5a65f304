"""Learned tokens before a text: how a text tower reads them, in published tokens' own convention.

A tower sees [t_1 ... t_n, start, words ..., end]: the tokens take the first n places, without the
positional embedding of those places, and the text keeps the positional embeddings that it would
have alone. The tower's own code runs on it (mask, pooling, projection); only what its table of token
embeddings gives is replaced. A text too long for the places that are left is cut before its end
token. **Deviation** from the published code, which cuts the end token itself and then pools from
a word.

Source: Berg et al. 2022, "A Prompt Array Keeps the Bias Away", section 3; their DebiasCLIP module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn


class NoTextTower(ValueError):
    """The model has no text tower that learned tokens can be put before."""


def token_ids(model: nn.Module, tokenizer: Callable[..., torch.Tensor], texts: list[str], count: int) -> torch.Tensor:
    """Ids (texts, context) with `count` places kept free in front, which hold each text's first id.

    That id is neither padding nor the end of a text, so no tower masks the places or pools from them.
    Raises:  NoTextTower for a tower of another kind; ValueError when there are too many tokens.
    """
    context = _tower(model).positional_embedding.shape[0]
    # A tower that appends a class embedding has a position for it, which no text takes.
    context = min(context, getattr(model, "context_length", context))
    if not 0 < count <= context - 3:
        raise ValueError(
            f"{count} tokens do not fit before a text: this model reads {context} places, the text needs 3"
        )
    ids = tokenizer(texts, context_length=context - count)
    return torch.cat([ids[:, :1].expand(-1, count), ids], dim=1)


def encode_behind(model: Any, ids: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Vectors (texts, d), not normalised, of texts behind tokens (count, width); differentiable in tokens.

    Shapes:  ids (texts, context) as `token_ids` gives them for that count.
    Raises:  NoTextTower; ValueError for tokens of another width.
    """
    tower = _tower(model)
    width = tower.token_embedding.weight.shape[1]
    if tokens.shape[1] != width:
        raise ValueError(f"the tokens have {tokens.shape[1]} numbers each, this text tower reads {width}")
    with _with_changed_output(
        tower.token_embedding, lambda found: _with_tokens(found, tokens, tower.positional_embedding)
    ):
        vectors: torch.Tensor = model.encode_text(ids)
        return vectors


def token_table(model: nn.Module) -> torch.Tensor:
    """The text tower's own embeddings of tokens (vocabulary, width).

    Raises:  NoTextTower.
    """
    table: torch.Tensor = _tower(model).token_embedding.weight.detach()
    return table


def _with_tokens(found: torch.Tensor, tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Embeddings that, once the tower has added its positions, are tokens bare and texts at their own places."""
    count, context = len(tokens), found.shape[1]
    positions = positions[:context].to(found.dtype)
    own = torch.cat([torch.zeros_like(positions[:count]), positions[: context - count]]) - positions
    rows = tokens.to(found.dtype).expand(len(found), -1, -1)
    return torch.cat([rows, found[:, count:]], dim=1) + own


@contextmanager
def _with_changed_output(module: nn.Module, change: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
    """The module's output goes through `change` while the context lasts."""
    handle = module.register_forward_hook(lambda _module, _arguments, output: change(output))
    try:
        yield
    finally:
        handle.remove()


def _tower(model: nn.Module) -> Any:
    """The part that holds token and positional embeddings: the model itself, or its text tower."""
    tower = model if hasattr(model, "token_embedding") else getattr(model, "text", None)
    has_tables = hasattr(tower, "token_embedding") and hasattr(tower, "positional_embedding")
    if not has_tables or getattr(tower, "text_pool_type", getattr(tower, "pool_type", None)) == "first":
        raise NoTextTower(
            "this model's text tower takes no learned tokens: one of open_clip's own text transformers is expected"
        )
    return tower
