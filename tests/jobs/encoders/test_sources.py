"""What names a model and its weights: found, fingerprinted, or refused in one sentence, before anything is loaded."""

import json
import shutil

import pytest
import yaml

from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.encoders import item_source, load, text_source
from jobs.encoders.open_clip import OpenClipEncoder
from jobs.encoders.precomputed import PrecomputedEncoder
from jobs.encoders.sentence import SentenceEncoder
from jobs.errors import UsageError
from tests.jobs.conftest import settings, write_audit


def block(**changes) -> OpenClipEncoder:
    return OpenClipEncoder(kind="open_clip", **{"model": "tiny.json", "pretrained": "tiny.safetensors"} | changes)


@pytest.fixture
def folder(tiny_clip, tmp_path):
    for path in tiny_clip:
        shutil.copy(path, tmp_path)
    return tmp_path


def test_paths_are_relative_to_the_configuration_and_keys_hold_content(folder, tmp_path_factory):
    source = item_source(block(), folder)
    assert source.loading["model"] == str(folder / "tiny.json")
    assert source.loading["pretrained"] == str(folder / "tiny.safetensors")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.copy(folder / "tiny.json", elsewhere / "other.json")
    shutil.copy(folder / "tiny.safetensors", elsewhere / "other.safetensors")
    moved = item_source(block(model="other.json", pretrained="other.safetensors"), elsewhere)
    assert moved.key == source.key and moved.loading != source.loading
    with (folder / "tiny.safetensors").open("ab") as weights:
        weights.write(b"\0")
    assert item_source(block(), folder).key != source.key


def test_the_width_of_vectors_is_known_before_a_model_is_loaded(folder):
    assert item_source(block(), folder).width == 16
    assert item_source(block(model="ViT-B-32", pretrained="openai"), folder).width == 512
    assert item_source(block(model="hf-hub:nobody/nothing", pretrained=None), folder).width is None
    sentence = item_source(SentenceEncoder(kind="sentence"), folder)
    assert load(dict(sentence.loading)).encode(["a nurse"]).shape == (1, sentence.width)


def test_settings_that_change_vectors_change_the_key(folder):
    keys = [item_source(block(**one), folder).key for one in ({}, {"precision": "bfloat16"}, {"batch": 8})]
    assert keys[0] != keys[1] and keys[0] != keys[2]


def test_a_folder_brings_its_weights(folder):
    own = folder / "model"
    own.mkdir()
    shutil.copy(folder / "tiny.safetensors", own / "open_clip_model.safetensors")
    (own / "open_clip_config.json").write_text(
        json.dumps({"model_cfg": json.loads((folder / "tiny.json").read_text()), "preprocess_cfg": {}})
    )
    source = item_source(block(model="model", pretrained=None), folder)
    assert source.loading["pretrained"] == str(own / "open_clip_model.safetensors")
    encoder = load(dict(source.loading))
    assert encoder.encode(["a nurse"]).shape == (1, source.width)
    encoder.close()
    (own / "b.safetensors").write_bytes(b"")
    assert item_source(block(model="model", pretrained=None), folder).loading == source.loading
    shutil.move(own / "open_clip_model.safetensors", own / "a.safetensors")
    with pytest.raises(UsageError, match="holds 2 files of weights"):
        item_source(block(model="model", pretrained=None), folder)


def test_names_and_tags_of_open_clip(folder):
    source = item_source(block(model="ViT-B/32", pretrained="openai"), folder)
    assert source.loading["model"] == "ViT-B-32"
    assert (source.key["model"], source.key["pretrained"]) == ("ViT-B-32", "openai")
    hub = item_source(block(model="hf-hub:org/name", pretrained=None), folder)
    assert hub.key["model"] == hub.loading["model"] == "hf-hub:org/name"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "ViT-B-23"}, "encoder.model 'ViT-B-23' is neither .* did you mean ViT-B-32"),
        ({"model": "absent.json"}, "encoder.model .*absent.json does not exist"),
        ({"model": "."}, "is a folder without open_clip_config.json"),
        ({"pretrained": None}, "encoder.pretrained is missing"),
        ({"model": "ViT-B-32", "pretrained": None}, "pretrained is missing.*ViT-B-32 has openai, "),
        ({"pretrained": "absent.pt"}, "encoder.pretrained .*absent.pt is not a file"),
        ({"pretrained": "tiny.json"}, "tiny.json is none of .safetensors"),
        ({"pretrained": "openai"}, "only models of open_clip's own have tags"),
        ({"model": "ViT-B-32", "pretrained": "opemai"}, "neither a file nor a tag of ViT-B-32; did you mean openai"),
        ({"model": "hf-hub:org/name"}, "pretrained goes with a model of open_clip's own"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(folder, changes, message):
    with pytest.raises(UsageError, match=message) as caught:
        item_source(block(**changes), folder)
    assert "\n" not in str(caught.value)


def test_a_missing_package_names_the_command(folder, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'mprlib\[clip\]'"):
        item_source(block(), folder)


def test_who_embeds_items_and_who_embeds_texts(folder):
    sentence = SentenceEncoder(kind="sentence")
    assert item_source(sentence, folder) == text_source(sentence, folder)
    assert not item_source(sentence, folder).reads_images and item_source(block(), folder).reads_images
    given = PrecomputedEncoder(kind="precomputed", text=block())
    assert item_source(given, folder) is None
    assert text_source(given, folder).loading["kind"] == "open_clip"
    assert text_source(PrecomputedEncoder(kind="precomputed"), folder) is None


def test_plan_names_an_unknown_model(tmp_path):
    path = write_audit(tmp_path)
    raw = settings(encoder={"kind": "open_clip", "model": "ViT-B-23"}, queries={"list": ["nurse"]})
    raw["dataset"]["text"] = "{job}"
    path.write_text(yaml.safe_dump(raw))
    with pytest.raises(UsageError, match="did you mean"):
        prepare(read_config(path))
