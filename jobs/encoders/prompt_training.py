"""Training tokens that hide an attribute: what is put before a text so that similarity tells less of who is shown.

Only the tokens are trained; both towers stay as they are, so images enter as vectors, computed once.
Let S be the similarities (images, prompts) behind the tokens and S_0 those without. The tokens walk down

    R2(S) + w * mean((S - S_0)^2 / spread^2),

where R2 is the share of the attribute's variance that the best linear classifier (ridge regression on the
one-hot levels) reads from S, and spread the deviation of S_0 over the images, by prompt. The classifier is
solved anew at each step, so it is always the best of its kind, and the gradient through it is the adversary's
(the envelope theorem). While the change is above the margin w grows, below it w falls back to its
setting; of all steps within the margin the one with the least R2 is taken.

**Deviation** from the paper, whose adversary is a network trained in turns with the tokens: an exact one is never
behind them, so there is no game to keep in balance, and nothing is drawn. What is claimed is judged by other
classifiers, on images that were held out (`prompt_judging`). Similarity is kept by its own value, not by a contrastive
loss on a second, captioned data set.

Source: Berg et al. 2022, "A Prompt Array Keeps the Bias Away", sections 3.2 and 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from .prompt_tokens import encode_behind, token_ids, token_table
from .token_training import TokenTraining

# Keeps the classifier's equations solvable where prompts' similarities are collinear; in units of their variance.
RIDGE = 1e-2
# How fast w follows: in e-foldings a step, where the squared change is twice the squared margin, or more.
WEIGHT_RATE = 0.05
# The token whose embedding every trained token starts from, as in the published code.
FIRST_TOKEN = 0


class NoTokensFound(ValueError):
    """No step of the training kept similarity within the margin."""


def train(
    module: torch.nn.Module,
    tokenise: Callable[..., torch.Tensor],
    images: np.ndarray,
    labels: np.ndarray,
    prompts: list[str],
    settings: TokenTraining,
) -> np.ndarray:
    """Tokens (count, width) float32. Nothing is drawn: equal input gives equal tokens on one kind of machine.

    Shapes:  images (n, d), unit vectors of the labelled images; labels (n,), codes from 0.
    Raises:  NoTokensFound; NoTextTower for a tower of another kind.
    """
    device = next(module.parameters()).device
    ids = token_ids(module, tokenise, prompts, settings.tokens).to(device)
    vectors = torch.as_tensor(images, dtype=torch.float32, device=device)
    target = functional.one_hot(torch.as_tensor(labels, dtype=torch.long, device=device)).float()
    target -= target.mean(0)
    with torch.no_grad():
        encode: Any = module.encode_text
        original = vectors @ functional.normalize(encode(tokenise(prompts).to(device)).float(), dim=-1).T
        spread = original.std(0)
    # Their places differ, and so do their gradients.
    first = token_table(module)[FIRST_TOKEN].float()
    tokens = first.expand(settings.tokens, -1).clone().requires_grad_(True)
    optimiser = torch.optim.Adam([tokens], settings.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, settings.steps)
    best, least, nearest, weight = None, float("inf"), float("inf"), settings.similarity_weight
    for _ in range(settings.steps):
        texts = functional.normalize(encode_behind(module, ids, tokens).float(), dim=-1)
        similarities = vectors @ texts.T
        explained = _explained_share((similarities - similarities.mean(0)) / spread, target)
        change = (((similarities - original) / spread) ** 2).mean()
        distance, read = change.detach().sqrt().item(), explained.detach().item()
        nearest = min(nearest, distance)
        if distance <= settings.margin and read < least:
            best, least = tokens.detach().clone(), read
        optimiser.zero_grad()
        loss: Any = explained + weight * change
        loss.backward()
        optimiser.step()
        schedule.step()
        excess = min(distance**2 / settings.margin**2 - 1, 1.0)
        weight = max(settings.similarity_weight, weight * math.exp(WEIGHT_RATE * excess))
    if best is None:
        raise NoTokensFound(
            f"no tokens kept similarity within the margin of {settings.margin:g} spreads, the nearest came to "
            f"{nearest:.2f}: raise margin, similarity_weight or steps"
        )
    return best.cpu().numpy()


def _explained_share(rows: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """R2 of the ridge regression of target (n, levels) on rows (n, prompts), both centred."""
    covariance = rows.T @ rows / len(rows)
    ridge = RIDGE * torch.eye(rows.shape[1], device=rows.device)
    shared = rows.T @ target / len(rows)
    explained: torch.Tensor = (shared * torch.linalg.solve(covariance + ridge, shared)).sum()
    return explained / (target**2).sum(1).mean()
