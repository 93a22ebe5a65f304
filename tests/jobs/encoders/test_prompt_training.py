"""Tokens that hide an attribute, on real faces: what held-out judges still read, its cost, and an audit with them."""

import io
import json
from contextlib import redirect_stdout

import numpy as np
import pytest
import yaml

from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.config.prompts import PromptTraining
from jobs.encoders import item_source, load
from jobs.encoders.prompt_files import read_tokens, write_tokens
from jobs.stages.vectors import to_matrix
from jobs.store import unit_file
from tests.face_towers import FACES, write_face_towers
from tests.jobs.units_in_process import run_plan

WORDS = [
    "good",
    "evil",
    "smart",
    "dumb",
    "friendly",
    "unfriendly",
    "lawful",
    "criminal",
    "lazy",
    "caring",
    "clever",
    "nasty",
]
PROMPTS = [f"a photo of a {word} person" for word in WORDS]
# Largest root mean square change of a similarity, in its deviations over faces. The training keeps to the first on the
# faces that it sees; the second is stated for those that it does not.
MARGIN, HELD_OUT_MARGIN = 0.45, 0.5
DATASET = {
    "name": "faces",
    "kind": "images",
    "path": str(FACES),
    "labels": "labels.csv",
    "image": "file",
    "attributes": {"gender": {}},
}
# The towers were trained on pictures that were decoded in full.
ENCODER = {"kind": "open_clip", "model": "faces.json", "pretrained": "faces.safetensors", "fast_jpeg": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faces")
    write_face_towers(folder)
    training = {
        "dataset": DATASET,
        "attribute": "gender",
        "encoder": ENCODER,
        "prompts": PROMPTS,
        "training": {"steps": 150, "margin": MARGIN},
        "held_out_share": 1 / 3,
        "output": "gender.safetensors",
    }
    (folder / "training.yaml").write_text(yaml.safe_dump(training), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def trained(folder):
    """What the command prints for programs."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        assert main(["train-prompt", str(folder / "training.yaml"), "--json"]) == 0
    return json.loads(printed.getvalue())


@pytest.fixture(scope="module")
def encoder(folder):
    settings = read_config(folder / "training.yaml", (), PromptTraining).settings
    encoder = load(item_source(settings.encoder, folder).loading)
    yield encoder
    encoder.close()


def test_held_out_classifiers_read_less_and_similarity_keeps_within_the_margin(trained):
    assert trained["held_out"] == 200
    assert trained["accuracy_before"] > 0.6
    assert trained["accuracy_after"] < trained["accuracy_before"] - 0.04
    # A judge of 200 faces has a standard error of 3.5 points: the network reads no more than chance can add.
    assert trained["network_accuracy_after"] < trained["network_accuracy_before"] + 0.035
    assert trained["gap_after"] < 0.7 * trained["gap_before"]
    assert trained["similarity_change"] < HELD_OUT_MARGIN


def test_tokens_saved_and_loaded_give_the_same_embeddings(folder, trained, encoder):
    tokens = read_tokens(trained["tokens"])
    assert tokens.shape == (4, 64)
    write_tokens(folder / "again.safetensors", tokens, {})
    again = folder / "again.safetensors"
    vectors = encoder.encode_behind(PROMPTS, tokens)
    assert np.array_equal(encoder.encode_behind(PROMPTS, read_tokens(again)), vectors)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(PROMPTS)), abs=1e-6)
    assert not np.allclose(vectors, encoder.encode(PROMPTS), atol=1e-3)


def test_an_audit_ranks_by_the_query_behind_the_tokens(folder, trained, encoder):
    audit = {
        "dataset": DATASET,
        "encoder": ENCODER,
        "queries": {"list": ["caring person", "clever person"], "prompt": "a photo of a {query}"},
        "k": [20],
        "methods": ["top_k", {"debias_clip": {"tokens": "gender.safetensors"}}],
    }
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(audit), encoding="utf-8")
    plan, store = run_plan(path, encoder)
    assert [len(plan.stages[stage]) for stage in ("tokens", "debiased")] == [1, 1]
    shards = [store.map_table(unit_file("embed", unit.key, "vectors.arrow")) for unit in plan.stages["embed"]]
    ids = np.concatenate([shard["item_id"].to_numpy(zero_copy_only=False) for shard in shards])
    images = np.concatenate([to_matrix(shard["vector"]) for shard in shards])
    for query in ("caring person", "clever person"):
        [unit] = [unit for unit in plan.stages["solve"] if unit.title == f"faces: {query}: debias_clip"]
        [row] = store.read_table(unit_file("solve", unit.key, "results")).to_pylist()
        prompt = [f"a photo of a {query}"]
        behind = images @ encoder.encode_behind(prompt, read_tokens(folder / "gender.safetensors"))[0]
        assert set(row["item_ids"]) == set(ids[np.argsort(-behind)[:20]])
        original = dict(zip(ids, images @ encoder.encode(prompt)[0]))
        assert row["similarity"] == pytest.approx(np.mean([original[item] for item in row["item_ids"]]), abs=1e-6)
        assert row["similarity"] < row["similarity_top_k"]


def test_the_tokens_content_is_in_the_keys_and_their_place_is_not(folder, trained):
    def solved(tokens):
        override = f"methods=[top_k, {{debias_clip: {{tokens: {tokens}}}}}]"
        plan = prepare(read_config(folder / "audit.yaml", (override,)))[1]
        return [unit.key for unit in plan.stages["solve"]]

    (folder / "copy.safetensors").write_bytes((folder / "gender.safetensors").read_bytes())
    assert solved("copy.safetensors") == solved("gender.safetensors")
    write_tokens(folder / "zeros.safetensors", np.zeros((4, 64)), {})
    same = [one == other for one, other in zip(solved("gender.safetensors"), solved("zeros.safetensors"))]
    assert same == [True, False, True, False]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("attribute=sex", ["'sex'", "gender"]),
        ("encoder.kind=sentence", ["encoder.kind"]),
        ("training.margin=0.001", ["margin", "nearest"]),
        ("training.marign=1", ["did you mean 'margin'?"]),
        ("output=tokens.pt", [".safetensors"]),
        ("output=null", ["--output"]),
        ("prompts=[a, a]", ["prompts", "distinct"]),
        ("dataset.attributes={age: {}}", ["'gender'", "has age"]),
    ],
)
def test_what_cannot_be_trained_is_one_sentence(folder, override, words, capsys):
    code = main(["train-prompt", str(folder / "training.yaml"), "--set", override, "--set", "training.steps=2"])
    line = capsys.readouterr().err.strip()
    assert code == 2
    assert "\n" not in line
    for word in words:
        assert word in line
