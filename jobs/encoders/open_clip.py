"""open_clip's models: their settings, and where a model and its weights are, checked before anything is loaded."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ..errors import UsageError
from ..settings.block import Whole, WorkerPath
from ..words import closest
from .block import LARGEST_BATCH, EncoderSource, ModelSettings, Needs

if TYPE_CHECKING:
    from .two_towers import TwoTowerEncoder

NEEDS = Needs(package="open_clip_torch", extra="clip", purpose="only images need it")
PACKAGES = ("open_clip", "torch", "torchvision", "safetensors")
HUB = "hf-hub:"
FOLDER_CONFIG = "open_clip_config.json"
# Weights in a folder: the first kind that is there, the first of these names among several.
WEIGHTS_SUFFIXES = (".safetensors", ".bin", ".pt", ".pth")
WEIGHTS_STEMS = ("open_clip_model", "open_clip_pytorch_model", "model", "pytorch_model")
# Tags that a message lists before it stops.
NAMED_TAGS = 8


class OpenClipEncoder(ModelSettings):
    """A model of open_clip's: pictures and texts in one space.

    Where a data set has both pictures and texts, its items are embedded by their pictures. Queries, and the
    texts that methods read, go through the text tower.
    """

    reads_images = True
    wants_gpu = True
    takes_tokens = True
    needs = NEEDS

    kind: Literal["open_clip"] = Field()
    model: WorkerPath = Field(
        description="a name of open_clip's (ViT-B-32), hf-hub:ORGANISATION/NAME, or, relative to the configuration "
        "file, a folder with open_clip_config.json and weights, or a JSON file that describes a model"
    )
    pretrained: WorkerPath | None = Field(
        None,
        description="a tag of open_clip's (openai), or the path of weights, relative to the configuration file: "
        "safetensors, or a torch file of tensors alone; left out where the model brings its own",
    )
    precision: Literal["float32", "float16", "bfloat16"] = Field(
        "float32", description="numbers that the model computes in; vectors are normalised in float32 whatever it is"
    )
    batch: Whole = Field(
        64,
        ge=1,
        le=LARGEST_BATCH,
        description="pictures per forward pass; each has this many, the last filled up",
    )
    compile: bool = Field(False, description="compile the image tower before its first pass: worth it on GPUs")
    fast_jpeg: bool = Field(
        True,
        description="decode JPEGs at a half, a quarter or an eighth of their size where that leaves twice the model's",
    )

    def source(self, folder: Path, setting: str) -> EncoderSource:
        settings = self.model_dump(mode="json")
        for package in PACKAGES:
            if importlib.util.find_spec(package) is None:
                raise UsageError(f"{setting}: kind {self.kind} needs {package}: {NEEDS.command}")
        model, model_key, own_weights = _model_names(self.model, folder, setting)
        pretrained, weights_key = _weight_names(self, own_weights, folder, setting)
        return EncoderSource(
            key=settings | {"model": model_key, "pretrained": weights_key},
            loading=settings | {"model": model, "pretrained": pretrained},
            reads_images=True,
            width=_width(model),
        )

    @classmethod
    def imported(cls) -> str:
        """open_clip's version; its import takes torchvision along."""
        from .clip_model import package_version

        return package_version()

    @classmethod
    def loaded(cls, **settings: Any) -> TwoTowerEncoder:
        return _loaded(**settings)


def _loaded(*, model: str, pretrained: str | None = None, device: str = "cpu", **settings: Any) -> TwoTowerEncoder:
    from .clip_model import load_model
    from .two_towers import TwoTowerEncoder

    load = partial(load_model, model=model, pretrained=pretrained, device=device)
    return TwoTowerEncoder(lambda precision: load(precision=precision), **settings)


def _model_names(model: str, folder: Path, setting: str) -> tuple[str, str, Path | None]:
    """What names the model to open_clip, what names it in a key, and the weights beside it."""
    if model.startswith(HUB):
        return model, model, None
    path = folder / model
    if path.is_dir():
        config = path / FOLDER_CONFIG
        if not config.is_file():
            raise UsageError(f"{setting}.model {path} is a folder without {FOLDER_CONFIG}")
        return str(path.absolute()), _sha256(config), _weights_in(path, setting)
    if path.is_file():
        return str(path.absolute()), _sha256(path), None
    if path.suffix == ".json":
        raise UsageError(f"{setting}.model {path} does not exist")
    name, known = model.replace("/", "-"), _names()
    if name not in known:
        raise UsageError(
            f"{setting}.model {model!r} is neither a model of open_clip's nor a path{_similar_names(name, known)}"
        )
    return name, name, None


def _width(model: str) -> int | None:
    """Numbers of an open_clip model's vectors, as the file that describes it says; None where it is elsewhere."""
    path = Path(model)
    if path.is_dir():
        path /= FOLDER_CONFIG
    elif not path.is_file():
        path = _descriptions() / f"{model}.json"
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
        width = described.get("model_cfg", described).get("embed_dim")
    except (OSError, ValueError, AttributeError):
        return None  # whoever loads it says what is wrong with it
    return width if isinstance(width, int) else None


def _weight_names(
    encoder: OpenClipEncoder, own: Path | None, folder: Path, setting: str
) -> tuple[str | None, str | None]:
    """What names the weights to the encoder, and what names them in a key."""
    wanted = encoder.pretrained
    if wanted is None:
        if encoder.model.startswith(HUB):
            return None, None
        if own is not None:
            return str(own.absolute()), _sha256(own)
        raise UsageError(
            f"{setting}.pretrained is missing: random weights would retrieve at random; give a tag of open_clip's or "
            f"a path of weights{_tags_of(encoder.model, folder)}"
        )
    if encoder.model.startswith(HUB):
        raise UsageError(
            f"{setting}.pretrained goes with a model of open_clip's own: {encoder.model} brings its weights"
        )
    path = folder / wanted
    if path.is_file():
        if path.suffix not in WEIGHTS_SUFFIXES:
            raise UsageError(f"{setting}.pretrained {path} is none of {', '.join(WEIGHTS_SUFFIXES)}")
        return str(path.absolute()), _sha256(path)
    if path.is_dir() or "/" in wanted or path.suffix in WEIGHTS_SUFFIXES:
        raise UsageError(f"{setting}.pretrained {path} is not a file")
    name = encoder.model.replace("/", "-")
    if name not in _names():
        raise UsageError(f"{setting}.pretrained {path} is not a file, and only models of open_clip's own have tags")
    from .clip_model import pretrained_tags

    tags = pretrained_tags(name)
    # A tag's old spelling has hyphens.
    if wanted.replace("-", "_").lower() not in {tag.replace("-", "_").lower() for tag in tags}:
        raise UsageError(
            f"{setting}.pretrained {wanted!r} is neither a file nor a tag of {name}{_similar_names(wanted, tags)}; "
            f"tags are {_few_names(tags)}"
        )
    return wanted, wanted


def _weights_in(folder: Path, setting: str) -> Path | None:
    """The weights of a model's folder."""
    for suffix in WEIGHTS_SUFFIXES:
        found = sorted(folder.glob(f"*{suffix}"))
        named = [folder / f"{stem}{suffix}" for stem in WEIGHTS_STEMS if folder / f"{stem}{suffix}" in found]
        if len(found) > 1 and not named:
            raise UsageError(
                f"{setting}.model {folder} holds {len(found)} files of weights: name one in {setting}.pretrained"
            )
        if found:
            return named[0] if named else found[0]
    return None


def _names() -> list[str]:
    """Models that the installed open_clip describes, without importing it: that takes seconds."""
    return sorted(path.stem for path in _descriptions().glob("*.json"))


def _descriptions() -> Path:
    found = importlib.util.find_spec("open_clip")
    if found is None or found.origin is None:
        raise ImportError("open_clip is not installed")  # `source` has looked for it before
    return Path(found.origin).parent / "model_configs"


def _tags_of(model: str, folder: Path) -> str:
    if (folder / model).exists() or model.replace("/", "-") not in _names():
        return ""
    from .clip_model import pretrained_tags

    return f"; {model} has {_few_names(pretrained_tags(model.replace('/', '-')))}"


def _few_names(names: list[str]) -> str:
    more = len(names) - NAMED_TAGS
    return ", ".join(names[:NAMED_TAGS]) + (f" and {more} more" if more > 0 else "")


def _similar_names(name: str, known: list[str]) -> str:
    near = closest(name, known)
    return f"; did you mean {near}?" if near else ""


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
