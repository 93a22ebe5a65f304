"""Files of learned tokens: safetensors, and the layouts in which such tokens have been published.

Reading needs neither torch nor a model, so that a plan can name the tokens by their content.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UsageError

# The one tensor of a file; its shape is (tokens, width of the text tower).
TENSOR = "debias_tokens"
# Where published torch files hold it: the table alone, an embedding's state, or a whole model's.
PUBLISHED_KEYS = ("weight", "debias_tokens.weight", "module.debias_tokens.weight")
SUFFIX = ".safetensors"


def write_tokens(path: str | Path, tokens: np.ndarray, notes: Mapping[str, Any]) -> None:
    """Tokens (count, width) as float32, with notes on their making (JSON values) in the file's header."""
    from safetensors.numpy import save_file

    Path(path).parent.mkdir(parents=True, exist_ok=True)
    save_file({TENSOR: np.ascontiguousarray(tokens, np.float32)}, path, {"notes": json.dumps(notes, sort_keys=True)})


def read_tokens(path: str | Path) -> np.ndarray:
    """Tokens (count, width) float32 of a safetensors file.

    Raises:  UsageError naming the file when it is absent, no safetensors file, or holds no tokens.
    """
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError as error:
        raise UsageError(f"tokens {path} need {error.name}: pip install 'mprlib[clip]'") from None
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        hint = "" if Path(path).suffix == SUFFIX else "; `mpr-audit convert-prompt` reads published torch files"
        raise UsageError(f"tokens {path}: not a safetensors file that can be read ({error}){hint}") from None
    if TENSOR not in tensors:
        raise UsageError(f"tokens {path}: the file has no tensor {TENSOR!r}, it has {', '.join(sorted(tensors))}")
    return checked_tokens(tensors[TENSOR], f"tokens {path}")


def checked_tokens(tokens: np.ndarray, where: str) -> np.ndarray:
    """The tokens as float32.

    Raises:  UsageError for anything but rows of finite numbers.
    """
    if tokens.ndim != 2 or 0 in tokens.shape or tokens.dtype.kind != "f" or not np.isfinite(tokens).all():
        raise UsageError(f"{where}: {tokens.dtype} of shape {tokens.shape}: rows of finite numbers are expected")
    return tokens.astype(np.float32)


def convert_published(source: str | Path, target: str | Path) -> np.ndarray:
    """Tokens of a published torch file, written as safetensors; nothing in the file is run.

    Known layouts: the bare table, {"weight": table}, and a model's state with `debias_tokens.weight`.
    Raises:  UsageError for a file that cannot be read as weights alone or has none of these.
    """
    import pickle

    import torch

    try:
        found = torch.load(source, map_location="cpu", weights_only=True)
    except OSError as error:
        raise UsageError(f"{source}: {error.strerror or error}") from None
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        raise UsageError(f"{source}: not a torch file of weights alone ({str(error).splitlines()[0]:.120})") from None
    if isinstance(found, Mapping):
        states = (found, found.get("state_dict"), found.get("model"))
        held = [state[key] for state in states if isinstance(state, Mapping) for key in PUBLISHED_KEYS if key in state]
        if not held:
            names = ", ".join(map(str, list(found)[:5]))
            raise UsageError(f"{source}: has none of {', '.join(PUBLISHED_KEYS)}; it begins with {names}")
        found = held[0]
    if not isinstance(found, torch.Tensor):
        raise UsageError(f"{source}: holds {type(found).__name__}: a table of tokens is expected")
    tokens = checked_tokens(found.detach().float().numpy(), str(source))
    write_tokens(target, tokens, {"converted_from": Path(source).name})
    return tokens
