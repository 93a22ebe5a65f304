"""open_clip models: built from a name, a folder or a JSON file, with weights that cannot run code.

The only module that imports open_clip.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from ..images.fit import Fit
from ..words import LONGEST_REASON
from .faults import first_line, one_sentence
from .torchvision_operators import make_importable
from .towers import TwoTowers

# open_clip's names of the precisions.
PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
NUMBERS = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
# Names of weights that a message lists before it stops.
NAMED_WEIGHTS = 3

make_importable()
try:
    import open_clip
    from open_clip.factory import load_checkpoint
except ImportError as error:
    raise ImportError(f"encoder kind open_clip needs {error.name}: pip install 'mprlib[clip]'") from error


def package_version() -> str:
    """The installed version of open_clip."""
    return str(open_clip.__version__)


def pretrained_tags(model: str) -> list[str]:
    """The weights that open_clip knows of a model by name."""
    return list(open_clip.list_pretrained_tags_by_model(model))


def load_model(*, model: str, pretrained: str | None, precision: str, device: str) -> TwoTowers:
    """The model on its device, ready to run.

    model: a name of open_clip's, `hf-hub:…`, a folder that holds open_clip_config.json, or a JSON file.
    pretrained: a tag of the name, or the path of weights; None leaves random weights, for measuring speed.
    Raises:  UsageError for a model that cannot be built, and weights that cannot be had, do not fit, or
             hold anything but tensors.
    """
    where = torch.device(device)
    weights = pretrained if pretrained is not None and os.path.isfile(pretrained) else None
    name = _registered(model)
    with one_sentence(f"encoder.model {model}"), _without_logging():
        module = open_clip.create_model(
            name,
            pretrained=None if weights else pretrained,
            load_weights=not weights,
            # Cast after the weights are in, so that half precision rounds them once.
            precision=PRECISIONS[precision],
            device=where,
            pretrained_text=False,
            weights_only=True,
        )
        tokenise = open_clip.get_tokenizer(name)
    if weights is not None:
        _load_weights(module, model, weights)
    module.eval().requires_grad_(False)
    seen = open_clip.get_model_preprocess_cfg(module)
    size = seen["size"]
    height, width = (size, size) if isinstance(size, int) else tuple(size)
    if where.type == "cuda":
        module = module.to(memory_format=torch.channels_last)
    return TwoTowers(
        module=module,
        see=module.encode_image,
        read=module.encode_text,
        tokenise=tokenise,
        fit=Fit(
            height=height,
            width=width,
            resize_mode=seen.get("resize_mode") or "shortest",
            interpolation="bilinear" if seen.get("interpolation") == "bilinear" else "bicubic",
            fill_colour=seen.get("fill_color") or 0,
        ),
        mean=_three_numbers(seen["mean"]),
        deviation=_three_numbers(seen["std"]),
        numbers=NUMBERS[precision],
        device=where,
        width=_width(module, tokenise, where),
    )


def _registered(model: str) -> str:
    """The name by which open_clip finds the model; a JSON file's content becomes a name of its own."""
    if os.path.isdir(model):
        return f"local-dir:{model}"
    if not os.path.isfile(model):
        return model.replace("/", "-") if not model.startswith("hf-hub:") else model
    with one_sentence(f"encoder.model {model}"):
        content = json.loads(Path(model).read_text(encoding="utf-8"))
        content = content.get("model_cfg", content)
        missing = [key for key in ("embed_dim", "vision_cfg", "text_cfg") if key not in content]
        if missing:
            raise ValueError(f"it lacks {missing[0]}, so it describes no model of open_clip's")
        text = json.dumps(content, sort_keys=True)
        name = f"file-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        if name not in open_clip.list_models():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"{name}.json"
                path.write_text(text, encoding="utf-8")
                open_clip.add_model_config(path)
    return name


def _load_weights(module: torch.nn.Module, model: str, weights: str) -> None:
    """Put a local file's tensors in place. Nothing in the file is ever run: safetensors, or tensors alone."""
    with one_sentence(f"encoder.pretrained {weights}"), _without_logging():
        if Path(weights).suffix != ".safetensors":
            try:
                torch.load(weights, map_location="meta", weights_only=True)
            except Exception as error:  # noqa: BLE001 - whatever a broken or hostile file makes torch raise
                raise ValueError(
                    "it is not a file of plain tensors, and nothing else is loaded, because it could run code; save "
                    f"the weights as safetensors ({first_line(error)})"
                ) from None
        try:
            load_checkpoint(module, weights, strict=True, weights_only=True, device="cpu")
        except (RuntimeError, KeyError, AttributeError, ValueError, TypeError) as error:
            raise ValueError(f"it does not fit model {model}: {_misfit_text(error)}") from None


def _misfit_text(error: Exception) -> str:
    """The first lines of torch's list of what is missing, left over, or of another shape."""
    lines = [" ".join(line.split()) for line in str(error).splitlines()[1:] if line.strip()]
    return "; ".join(line[:LONGEST_REASON] for line in lines[:NAMED_WEIGHTS]) or first_line(error)


@contextmanager
def _without_logging() -> Iterator[None]:
    """open_clip logs, through the root logger, that weights are random before they are loaded."""
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        root.setLevel(level)


def _three_numbers(value: Any) -> tuple[float, ...]:
    return tuple(float(number) for number in value) if isinstance(value, (list, tuple)) else (float(value),) * 3


def _width(module: Any, tokenise: Callable[[list[str]], torch.Tensor], device: torch.device) -> int:
    """Numbers in a vector, asked of the text tower, which every model has."""
    with torch.inference_mode():
        return int(module.encode_text(tokenise(["a"]).to(device)).shape[1])
