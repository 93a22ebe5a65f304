"""Real payloads at every door that files come in through; all any of them could do is make a marker."""

import pickle

import pandas as pd
import pytest
import torch

from jobs import datasets
from jobs.cli import main
from jobs.config.file import read_config
from jobs.datasets.webdataset import WebDataset
from jobs.encoders.prompt_files import convert_published
from jobs.errors import UsageError
from jobs.images import ImageError, ImageLimits, read_image
from tests.jobs.conftest import settings, write_audit
from tests.jobs.datasets.layouts import face
from tests.security import payloads
from tests.tiny_clip import write_tiny_clip


@pytest.fixture
def marker(tmp_path):
    """What no payload may make."""
    marker = tmp_path / "marker"
    yield marker
    assert not marker.exists()


def test_the_payload_works(tmp_path):
    """Else the other tests would show nothing."""
    pickle.loads(payloads.pickled(tmp_path / "marker"))
    assert (tmp_path / "marker").is_dir()
    torch.load(payloads.torch_file(tmp_path / "x.pt", tmp_path / "other"), weights_only=False)
    assert (tmp_path / "other").is_dir()


def test_learned_tokens_of_a_torch_file(tmp_path, marker):
    file = payloads.torch_file(tmp_path / "tokens.pth", marker)
    with pytest.raises(UsageError, match="not a torch file of weights alone"):
        convert_published(file, tmp_path / "tokens.safetensors")


def test_tables_that_are_pickles(tmp_path, marker, capsys):
    """By name Parquet or CSV, by content a pickle."""
    for name in ("people.parquet", "queries.parquet", "people.csv"):
        path = write_audit(tmp_path)
        (tmp_path / name).write_bytes(payloads.pickled(marker))
        assert main(["plan", str(path), "--set", f"dataset.path={name.replace('queries', 'people')}"]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        'name: !!python/object/apply:os.mkdir ["{marker}"]',
        "name: !!python/object/new:os.mkdir [{marker}]",
        "name: !!python/name:os.system",
        "? !!python/object/apply:os.mkdir ['{marker}']\n: 1",
    ],
)
def test_a_configuration_with_python_in_it(tmp_path, marker, text, capsys):
    path = tmp_path / "audit.yaml"
    path.write_text(text.replace("{marker}", str(marker)))
    assert main(["plan", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "audit.yaml" in said and "python" in said
    with pytest.raises(UsageError, match="not a YAML value"):
        read_config(write_audit(tmp_path), (text.partition("\n")[0].replace("? ", "name: ").replace(": ", "=", 1),))


def test_an_archive_that_climbs_out(tmp_path):
    root = tmp_path / "outer" / "shards"
    root.mkdir(parents=True)
    payloads.climbing_archive(root / "shard-000.tar", face(1))
    before = sorted(tmp_path.rglob("*"))
    limits = ImageLimits()
    assert read_image(root, "shard-000.tar::good.jpg", limits) == face(1)
    for member in ("../climbed.jpg", "a/../../climbed.jpg", f"{tmp_path}/outer/absolute.jpg", "link.jpg", "hard.jpg"):
        with pytest.raises(ImageError):
            read_image(root, f"shard-000.tar::{member}", limits)
    block = WebDataset(path=str(root), attributes={"gender": {}})
    try:
        found = datasets.load(block, tmp_path).items["item_id"].to_pylist()
    except UsageError:
        found = []  # no member has labels; that is said, and nothing was written
    assert not any(".." in name for name in found)
    assert sorted(tmp_path.rglob("*")) == before


def test_templates_of_texts_reach_no_attribute(tmp_path):
    """A template is for columns: nothing of a value's inside can be named."""
    table = pd.read_parquet(write_audit(tmp_path).parent / "people.parquet")
    for template in ("{person.__class__}", "{gender[0]}", "{0}", "{person!r:{age}}"):
        changed = settings()["dataset"] | {"text": template}
        path = write_audit(tmp_path, table, dataset=changed)
        assert main(["plan", str(path)]) == 2, template


def test_weights_of_an_image_model(tmp_path, marker):
    from jobs.encoders.clip_model import load_model

    model, _ = write_tiny_clip(tmp_path)
    bare = tmp_path / "weights.bin"
    bare.write_bytes(payloads.pickled(marker))
    for file in (payloads.torch_file(tmp_path / "weights.pt", marker), bare):
        with pytest.raises(UsageError, match=f"encoder.pretrained {file}"):
            load_model(model=str(model), pretrained=str(file), precision="float32", device="cpu")
