"""SigLIP through transformers, on a tiny model built here: sizes, words and weights from its folder alone."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from PIL import Image
from safetensors.torch import load_file, save_file

from jobs.cli import main
from jobs.encoders import item_source, load
from jobs.encoders.siglip import SiglipEncoder
from jobs.encoders.torchvision_operators import make_importable
from jobs.errors import UsageError
from jobs.images import ImageLimits, Reason
from jobs.images.decoders import Source

WORDS = "a photo of nurse chef engineer person the ."
SIDE, WIDTH, PICTURES, BATCH = 32, 16, 11, 4


# transformers imports torchvision, whose compiled part may be of another torch.
make_importable()


def write_tiny_siglip(folder):
    """A folder as transformers saves one: configuration, random weights, sizes of pictures, nine words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, SiglipConfig, SiglipModel
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

    shape = {"hidden_size": WIDTH, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    configuration = SiglipConfig(
        vision_config=shape | {"image_size": SIDE, "patch_size": 8},
        text_config=shape | {"vocab_size": 16, "max_position_embeddings": 12, "pad_token_id": 1, "eos_token_id": 1},
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        SiglipModel(configuration).save_pretrained(folder)
    words = {word: number for number, word in enumerate(["<unk>", "</s>", *WORDS.split()])}
    tokens = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokens.pre_tokenizer = pre_tokenizers.Whitespace()
    named = {"unk_token": "<unk>", "eos_token": "</s>", "pad_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=tokens, **named).save_pretrained(folder)
    pictures = SiglipImageProcessorPil(size={"height": SIDE, "width": SIDE}, image_mean=[0.4, 0.5, 0.6])
    pictures.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_tiny_siglip(tmp_path_factory.mktemp("models") / "tiny-siglip")


@pytest.fixture(scope="module")
def encoder(tiny):
    loaded = load(source_of(tiny).loading)
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pictures of several shapes, half of them JPEGs, and a file that is none; with labels."""
    root, generator = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    for number in range(PICTURES):
        blocks = Image.fromarray(generator.integers(0, 256, (4, 4, 3), dtype=np.uint8))
        blocks.resize((90 - 2 * number, 40 + 3 * number), Image.Resampling.BICUBIC).save(root / name_of(number))
    (root / "broken.jpg").write_bytes(b"no picture")
    labels = pd.DataFrame({"file": list(map(name_of, range(PICTURES)))})
    labels.assign(gender=["f" if number % 2 else "m" for number in range(PICTURES)]).to_csv(root / "labels.csv")
    return root


def name_of(number):
    return f"{number:02d}.{'jpg' if number % 2 else 'png'}"


def source_of(model, **changes):
    return item_source(SiglipEncoder(kind="siglip", model=model.name, batch=BATCH, **changes), model.parent)


def embedded(encoder, folder, names):
    return encoder.encode_images(str(folder), names, ImageLimits())


def test_pictures_are_what_the_reference_processor_makes_of_them(encoder, tiny, folder):
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

    processor = SiglipImageProcessorPil.from_pretrained(tiny)
    model, names = encoder.model, list(map(name_of, range(PICTURES)))
    source = Source(root=str(folder), limits=ImageLimits(), fit=model.fit, is_fast=False)
    pixels = np.stack(list(encoder._decoders.pictures(source, names, PICTURES)))
    found = (pixels / 255 - np.array(model.mean)) / np.array(model.deviation)
    expected = processor([Image.open(folder / name) for name in names], return_tensors="np")["pixel_values"]
    assert np.abs(found.transpose(0, 3, 1, 2) - expected).max() < 1e-6


def test_vectors_are_those_of_the_model_and_of_length_1(encoder, tiny, folder):
    from transformers import AutoTokenizer, SiglipModel
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

    module, names = SiglipModel.from_pretrained(tiny).eval(), list(map(name_of, range(0, PICTURES, 2)))
    texts = ["a photo of a nurse", "a photo of a chef.", "the engineer"]
    pictures = SiglipImageProcessorPil.from_pretrained(tiny)([Image.open(folder / name) for name in names])
    words = AutoTokenizer.from_pretrained(tiny)(texts, padding="max_length", max_length=12, return_tensors="pt")
    with torch.inference_mode():
        output = module(input_ids=words["input_ids"], pixel_values=torch.tensor(np.stack(pictures["pixel_values"])))
    for found, expected in (
        (embedded(encoder, folder, names).vectors, output.image_embeds),
        (encoder.encode(texts), output.text_embeds),
    ):
        assert found.dtype == np.float32 and found.shape[1] == WIDTH
        assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-6
        assert np.abs(found - expected.numpy()).max() < 1e-5


def test_vectors_do_not_depend_on_what_is_embedded_beside_them(encoder, folder):
    names = list(map(name_of, range(PICTURES)))
    together = embedded(encoder, folder, [*names[:5], "broken.jpg", *names[5:], names[0]])
    assert together.faults[5].reason == Reason.NOT_AN_IMAGE and together.positions.tolist() == [
        *range(5),
        *range(6, 13),
    ]
    alone = [embedded(encoder, folder, [name]).vectors[0] for name in names]
    assert np.array_equal(together.vectors, [*alone, alone[0]])
    texts = ["a nurse", "the chef", "a photo"]
    assert np.array_equal(
        encoder.encode([*texts, "engineer"])[:3], np.concatenate([encoder.encode([t]) for t in texts])
    )


def test_half_precision_is_near(tiny, encoder, folder):
    names = list(map(name_of, range(4)))
    half = load(source_of(tiny, precision="bfloat16").loading)
    try:
        near = np.sum(embedded(half, folder, names).vectors * embedded(encoder, folder, names).vectors, axis=1)
    finally:
        half.close()
    assert near.min() > 0.99


def test_the_key_is_of_the_content_and_not_of_the_place(tiny, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(tiny, moved)
    source = source_of(tiny)
    assert source_of(moved).key == source.key and source_of(moved).loading != source.loading
    assert source.reads_images and source.width == WIDTH
    (moved / "preprocessor_config.json").write_text(json.dumps({"size": {"height": SIDE, "width": SIDE}}))
    assert source_of(moved).key != source.key
    hub = SiglipEncoder(kind="siglip", model="hf-hub:google/siglip-base-patch16-224")
    assert hub.source(tmp_path, "encoder").loading["model"] == hub.model


def without(name):
    return lambda folder: (folder / name).unlink()


def changed(name, **changes):
    def change(folder):
        (folder / name).write_text(json.dumps(json.loads((folder / name).read_text()) | changes))

    return change


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (shutil.rmtree, "encoder.model .* is no folder; a model of the hub is written hf-hub:"),
        (without("config.json"), "encoder.model .* is a folder without config.json"),
        (without("preprocessor_config.json"), "is a folder without preprocessor_config.json"),
        (without("model.safetensors"), "holds no weights: safetensors are expected"),
        (changed("config.json", model_type="clip"), "config.json: model_type siglip is expected, got 'clip'"),
        (changed("preprocessor_config.json", size={"shortest_edge": 32}), "height and width"),
        (changed("preprocessor_config.json", size={"height": "32", "width": 32}), "height and width"),
        (changed("preprocessor_config.json", image_mean=[0.5]), "image_mean is .*three numbers"),
        (changed("preprocessor_config.json", image_std=[0.5, 0, 0.5]), "image_std is .*three numbers"),
        (changed("preprocessor_config.json", do_normalize=False), "do_normalize is False"),
        (changed("preprocessor_config.json", rescale_factor=1.0), "rescale_factor is 1.0"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json: "),
        (lambda folder: (folder / "config.json").write_bytes(b"\xff"), "config.json: "),
    ],
)
def test_what_cannot_be_used_is_one_sentence(tiny, tmp_path, spoil, words):
    folder = tmp_path / "model"
    shutil.copytree(tiny, folder)
    spoil(folder)
    with pytest.raises(UsageError, match=words):
        source_of(folder)


def test_weights_that_are_not_all_there_are_refused(tiny, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny, folder)
    weights = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "text_model.final_layer_norm" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UsageError, match="its weights lack .*final_layer_norm.* and 1 more"):
        load(source_of(folder).loading)


@pytest.mark.system
def test_a_whole_audit(tiny, folder, tmp_path, capsys):
    settings = {
        "dataset": {"kind": "images", "path": str(folder), "labels": "labels.csv", "attributes": {"gender": {}}},
        "encoder": {"kind": "siglip", "model": str(tiny), "batch": BATCH},
        "queries": {"list": ["nurse", "chef"], "prompt": "a photo of a {query}"},
        "k": [3],
        "methods": ["top_k", {"mopr": {"points": 2}}],
        "runtime": {"workers": 1},
    }
    path, output = tmp_path / "audit.yaml", tmp_path / "run"
    path.write_text(yaml.safe_dump(settings))
    assert main(["run", str(path), "--output", str(output)]) == 0
    capsys.readouterr()
    rows = pd.read_parquet(output / "results")
    assert set(rows["status"]) <= {"done", "optimal", "feasible", "infeasible", "not_found"}
    assert set(rows["n_pool"]) == {PICTURES} and len(rows[rows["method"] == "top_k"]) == 2
