"""SigLIP through transformers: pictures and texts to one space, from a folder as transformers saves it.

Everything is read from that folder: the model and its safetensors, the sizes and means of its pictures, its tokeniser.
Nothing in it is run, and nothing beside it is downloaded.

Source: Zhai et al. 2023, "Sigmoid Loss for Language Image Pre-Training"; models of SigLIP 2 with pictures of one size
are of the same form.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from ..errors import UsageError
from ..images.fit import Fit
from ..settings.block import Whole, WorkerPath
from .block import LARGEST_BATCH, EncoderSource, ModelSettings, Needs
from .faults import one_sentence

if TYPE_CHECKING:
    import torch

    from .towers import TwoTowers
    from .two_towers import TwoTowerEncoder

NEEDS = Needs(package="transformers", extra="text", purpose="only encoders of kind siglip need it")
PACKAGES = ("transformers", "torch", "safetensors", "tokenizers")
HUB = "hf-hub:"
MODEL_FILE, PICTURES_FILE = "config.json", "preprocessor_config.json"
# Files of a model's folder that decide its vectors: weights, sizes and words.
SUFFIXES = (".json", ".model", ".safetensors", ".txt")
# Numbers of a vector where the file does not say: transformers' own default for SigLIP.
WIDTH = 768
# Pillow's numbers of the ways to resize, as the file of pictures names them.
INTERPOLATIONS = {2: "bilinear", 3: "bicubic"}
# Pictures are bytes, scaled to [0, 1]; the file of pictures states the factor in as many digits.
SCALE, SCALE_TOLERANCE = 1 / 255, 1e-6
# What the file of pictures may say, for messages.
USED = {
    "size": "height and width in pixels",
    "resample": "2 (bilinear) or 3 (bicubic)",
    "image_mean": "a list of three numbers",
    "image_std": "a list of three numbers above 0",
    "rescale_factor": "1/255",
    **dict.fromkeys(("do_resize", "do_rescale", "do_normalize"), "true"),
}


class Size(BaseModel, extra="forbid", strict=True):
    """Sides of the square that a model sees, in pixels."""

    height: int = Field(gt=0)
    width: int = Field(gt=0)


Scale = Annotated[FiniteFloat, Field(gt=0)]


class Pictures(BaseModel, extra="ignore"):
    """A folder's file of pictures, as far as SigLIP's pictures differ; what it leaves out is transformers' default."""

    size: Size = Size(height=224, width=224)
    resample: Literal[2, 3] = 3
    image_mean: tuple[FiniteFloat, FiniteFloat, FiniteFloat] = (0.5, 0.5, 0.5)
    image_std: tuple[Scale, Scale, Scale] = (0.5, 0.5, 0.5)
    rescale_factor: float = Field(SCALE, gt=SCALE - SCALE_TOLERANCE, lt=SCALE + SCALE_TOLERANCE)
    do_resize: Literal[True] = True
    do_rescale: Literal[True] = True
    do_normalize: Literal[True] = True


class SiglipEncoder(ModelSettings):
    """A SigLIP model through transformers: pictures and texts in one space.

    As with open_clip, items that have pictures are embedded by them; queries and other texts go through the text tower.
    """

    reads_images = True
    wants_gpu = True
    needs = NEEDS

    kind: Literal["siglip"] = Field()
    model: WorkerPath = Field(
        description="a folder with config.json, preprocessor_config.json, a tokeniser and weights in safetensors, "
        "relative to the configuration file, or hf-hub:ORGANISATION/NAME"
    )
    precision: Literal["float32", "float16", "bfloat16"] = Field(
        "float32", description="numbers that the model computes in; vectors are normalised in float32 whatever it is"
    )
    batch: Whole = Field(
        64, ge=1, le=LARGEST_BATCH, description="pictures per forward pass; each has this many, the last filled up"
    )
    compile: bool = Field(False, description="compile the image tower before its first pass: worth it on GPUs")
    fast_jpeg: bool = Field(
        True,
        description="decode JPEGs at a half, a quarter or an eighth of their size where that leaves twice the model's",
    )

    def source(self, folder: Path, setting: str) -> EncoderSource:
        for package in PACKAGES:
            if importlib.util.find_spec(package) is None:
                raise UsageError(f"{setting}: kind {self.kind} needs {package}: {NEEDS.command}")
        settings = self.model_dump(mode="json")
        if self.model.startswith(HUB):
            return EncoderSource(key=settings, loading=settings, reads_images=True)
        path = folder / self.model
        if not path.is_dir():
            raise UsageError(f"{setting}.model {path} is no folder; a model of the hub is written {HUB}{self.model}")
        described = _described(path / MODEL_FILE, f"{setting}.model")
        fit_of(_described(path / PICTURES_FILE, f"{setting}.model"), f"{setting}.model {path / PICTURES_FILE}")
        if described.get("model_type") != "siglip":
            found = described.get("model_type")
            raise UsageError(f"{setting}.model {path / MODEL_FILE}: model_type siglip is expected, got {found!r:.80}")
        if not any(path.glob("*.safetensors")):
            raise UsageError(f"{setting}.model {path} holds no weights: safetensors are expected")
        return EncoderSource(
            key=settings | {"model": _content(path)},
            loading=settings | {"model": str(path.absolute())},
            reads_images=True,
            width=_part(described, "vision_config").get("hidden_size", WIDTH),
        )

    @classmethod
    def imported(cls) -> str:
        """transformers' version."""
        import transformers

        return str(transformers.__version__)

    @classmethod
    def loaded(cls, **settings: Any) -> TwoTowerEncoder:
        return _loaded(**settings)


def _loaded(*, model: str, device: str = "cpu", **settings: Any) -> TwoTowerEncoder:
    from .two_towers import TwoTowerEncoder

    return TwoTowerEncoder(partial(load_model, model, device=device), **settings)


def fit_of(described: dict[str, Any], where: str) -> tuple[Fit, tuple[float, ...], tuple[float, ...]]:
    """What pictures look like to a model: their geometry, mean and deviation, from its file of pictures.

    Raises:  UsageError for steps that SigLIP does not have.
    """
    try:
        pictures = Pictures.model_validate({name: value for name, value in described.items() if value is not None})
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        raise UsageError(f"{where}: {name} is {described.get(name)!r:.80}: {USED[name]} is expected") from None
    fit = Fit(
        height=pictures.size.height,
        width=pictures.size.width,
        resize_mode="squash",
        interpolation=INTERPOLATIONS[pictures.resample],
    )
    return fit, pictures.image_mean, pictures.image_std


def load_model(model: str, precision: str, *, device: str) -> TwoTowers:
    """The model on its device, ready to run.

    model: its folder, or `hf-hub:…`.
    Raises:  UsageError for a model that cannot be had or built, and for weights that are not all there.
    """
    import torch

    from .torchvision_operators import make_importable
    from .towers import TwoTowers

    # transformers imports torchvision where it is installed.
    make_importable()
    with one_sentence(f"encoder.model {model}"):
        import transformers

        folder = _downloaded(model.removeprefix(HUB)) if model.startswith(HUB) else model
        # transformers' types do not know what output_loading_info adds.
        read: Any = transformers.SiglipModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dtype=torch.float32, output_loading_info=True
        )
        module, found = read
        lacking = sorted([*found["missing_keys"], *found["mismatched_keys"]], key=str)
        if lacking:
            raise ValueError(f"its weights lack {lacking[0]} and {len(lacking) - 1} more: they would be random")
        tokeniser = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        fit, mean, deviation = fit_of(_described(Path(folder) / PICTURES_FILE, "encoder.model"), PICTURES_FILE)
        numbers = getattr(torch, precision)
        module = module.eval().requires_grad_(False).to(device=device, dtype=numbers)
    return TwoTowers(
        module=module,
        see=lambda pictures: module.vision_model(pixel_values=pictures).pooler_output,
        read=lambda ids: module.text_model(input_ids=ids).pooler_output,
        tokenise=_tokenise(tokeniser, module.config.text_config.max_position_embeddings),
        fit=fit,
        mean=mean,
        deviation=deviation,
        numbers=numbers,
        device=torch.device(device),
        width=module.config.vision_config.hidden_size,
    )


def _tokenise(tokeniser: Any, length: int) -> Callable[[list[str]], torch.Tensor]:
    """Texts to tokens (n, length): SigLIP was trained on texts that are filled up, without a mask."""

    def tokenise(texts: list[str]) -> torch.Tensor:
        filled = tokeniser(texts, padding="max_length", truncation=True, max_length=length, return_tensors="pt")
        ids: torch.Tensor = filled["input_ids"]
        return ids

    return tokenise


def _downloaded(name: str) -> str:
    """The folder of a model of the hub; only files that decide vectors are downloaded."""
    import huggingface_hub

    return huggingface_hub.snapshot_download(name, allow_patterns=[f"*{suffix}" for suffix in SUFFIXES])


def _described(path: Path, where: str) -> dict[str, Any]:
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{where} {path.parent} is a folder without {path.name}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{where} {path}: {error}") from None
    if not isinstance(described, dict):
        raise UsageError(f"{where} {path}: a JSON object is expected")
    return described


def _part(described: dict[str, Any], name: str) -> dict[str, Any]:
    part = described.get(name)
    return part if isinstance(part, dict) else {}


def _content(folder: Path) -> str:
    """A SHA-256 of the files that decide the vectors, whatever the folder is called."""
    digest = hashlib.sha256()
    for path in sorted(one for one in folder.iterdir() if one.suffix in SUFFIXES and one.is_file()):
        with path.open("rb") as stream:
            digest.update(f"{path.name}\0{hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return f"sha256:{digest.hexdigest()}"
