"""Tokens for `debias_clip` from labelled pictures: read, embed, train, judge on what was held out, write."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets
from ..config.file import ConfigFile
from ..config.prompts import PromptTraining
from ..datasets.catalogue import ATTRIBUTE, Catalogue, has_images
from ..encoders import item_source, load
from ..encoders.block import EncoderSource
from ..encoders.presence import torch_devices
from ..encoders.prompt_files import SUFFIX, write_tokens
from ..encoders.prompt_judging import Judgement, judge
from ..errors import BadSetting, UsageError, about

# Each side of the split needs a few pictures of every level.
FEWEST_ROWS = 10


def train_prompt(file: ConfigFile[PromptTraining], output: Path | None = None) -> tuple[Path, Judgement]:
    """Train the tokens of a configuration and write them; where they are, and what they do.

    The file holds tokens that were trained without the held-out pictures.
    Raises:  UsageError, one sentence, for input that cannot be trained on, and where no tokens keep similarity.
    """
    settings = file.settings
    target = _target(file, output)
    with file.placing():
        with about("dataset"):
            catalogue = datasets.load(settings.dataset, file.folder)
        levels, codes, rows = _labels(settings, catalogue)
        with about("encoder"):
            source = item_source(settings.encoder, file.folder)
    assert source is not None
    encoder = _encoder(source)
    try:
        encoded = encoder.encode_images(
            catalogue.root, catalogue.items["image"].take(rows).to_pylist(), settings.dataset.image_limits
        )
        codes = codes[encoded.positions]
        _expect_enough(settings, catalogue, levels, codes)
        tokens, judgement = _trained(settings, encoder, encoded.vectors, codes)
    finally:
        encoder.close()
    notes = {
        "attribute": settings.attribute,
        "judgement": judgement.to_json(),
        "model": settings.encoder.model_dump()["model"],
        "prompts": list(settings.prompts),
        "training": settings.training.model_dump(mode="json"),
        "seed": settings.seed,
    }
    write_tokens(target, tokens, notes)
    return target, judgement


def _encoder(source: EncoderSource) -> Any:
    """The model on a GPU where there is one. Tokens are trained in float32, whatever precision an audit takes."""
    device = "cuda" if torch_devices()["gpus"] else "cpu"
    return load(dict(source.loading) | {"precision": "float32", "device": device})


def _trained(
    settings: PromptTraining, encoder: Any, vectors: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, Judgement]:
    from sklearn.model_selection import train_test_split

    from ..encoders.prompt_tokens import NoTextTower
    from ..encoders.prompt_training import NoTokensFound, train

    shown, held_out = train_test_split(
        np.arange(codes.size), test_size=settings.held_out_share, random_state=settings.seed, stratify=codes
    )
    prompts, model = list(settings.prompts), encoder.model
    try:
        tokens = train(model.module, model.tokenise, vectors[shown], codes[shown], prompts, settings.training)
    except (NoTextTower, NoTokensFound) as error:
        raise UsageError(f"training: {error}") from None
    before, after = vectors @ encoder.encode(prompts).T, vectors @ encoder.encode_behind(prompts, tokens).T
    return tokens, judge(before, after, codes, shown, held_out, settings.seed)


def _target(file: ConfigFile[PromptTraining], output: Path | None) -> Path:
    chosen = output or (file.folder / file.settings.output if file.settings.output else None)
    if chosen is None:
        raise UsageError("no output: give --output FILE, or output in the configuration")
    if chosen.suffix != SUFFIX:
        raise UsageError(f"output {chosen}: a file of tokens ends with {SUFFIX}")
    return chosen


def _labels(settings: PromptTraining, catalogue: Catalogue) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The attribute's levels, the code of each labelled item, and the labelled items' rows."""
    if settings.attribute not in catalogue.levels:
        has = ", ".join(catalogue.levels)
        raise BadSetting(f"{settings.attribute!r} is unknown: dataset {catalogue.name} has {has}", "attribute")
    if not has_images(catalogue):
        raise BadSetting(
            f"dataset {catalogue.name}: tokens are trained on pictures, and it names none: give `image`", "dataset"
        )
    found = np.array(catalogue.items[ATTRIBUTE + settings.attribute].to_pylist())
    levels = [level for level in catalogue.levels[settings.attribute] if level != catalogue.missing]
    rows = np.flatnonzero(found != catalogue.missing)
    position = {level: code for code, level in enumerate(levels)}
    return levels, np.array([position[level] for level in found[rows]]), rows


def _expect_enough(settings: PromptTraining, catalogue: Catalogue, levels: list[str], codes: np.ndarray) -> None:
    counts = Counter(codes.tolist())
    rare = min(range(len(levels)), key=lambda code: counts[code])
    if counts[rare] < FEWEST_ROWS:
        raise UsageError(
            f"dataset {catalogue.name} has {counts[rare]} readable pictures of {settings.attribute} {levels[rare]!r}: "
            f"at least {FEWEST_ROWS} are expected, merge levels with map or bins"
        )
