"""Tokens before a text, and their files: by hand on a tiny tower with random weights."""

import pickle

import numpy as np
import pytest

from jobs.errors import UsageError
from tests.tiny_clip import CONFIGURATION, write_tiny_clip

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from jobs.cli import main  # noqa: E402 - skipped above where torch is absent
from jobs.encoders.clip_model import load_model  # noqa: E402 - the same
from jobs.encoders.prompt_files import convert_published, read_tokens, write_tokens  # noqa: E402 - the same
from jobs.encoders.prompt_tokens import NoTextTower, encode_behind, token_ids  # noqa: E402 - the same

TEXTS = ["a photo of a nurse", "chef"]
CONTEXT = CONFIGURATION["text_cfg"]["context_length"]
WIDTH = CONFIGURATION["text_cfg"]["width"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path, weights = write_tiny_clip(tmp_path_factory.mktemp("tiny"))
    return load_model(model=str(path), pretrained=str(weights), precision="float32", device="cpu")


def tokens(count=2, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((count, WIDTH)).astype(np.float32))


def published(module, ids, learned):
    """The published module's forward pass, written out: tokens bare, text with the positions it has alone."""
    count = len(learned)
    text = module.token_embedding(ids) + module.positional_embedding
    rows = torch.cat([learned.expand(len(ids), -1, -1), text[:, : CONTEXT - count]], dim=1)
    hidden = module.ln_final(module.transformer(rows, attn_mask=module.attn_mask))
    ends = ids.argmax(dim=-1) + count
    return hidden[torch.arange(len(ids)), ends] @ module.text_projection


@pytest.mark.parametrize("count", [1, 2, 5])
def test_equals_the_published_forward_pass(model, count):
    ids = token_ids(model.module, model.tokenise, TEXTS, count)
    assert ids.shape == (2, CONTEXT)
    found = encode_behind(model.module, ids, tokens(count))
    assert torch.allclose(found, published(model.module, model.tokenise(TEXTS), tokens(count)), atol=1e-5)


def test_the_tower_is_as_before_afterwards(model):
    before = model.module.encode_text(model.tokenise(TEXTS))
    encode_behind(model.module, token_ids(model.module, model.tokenise, TEXTS, 2), tokens())
    assert torch.equal(model.module.encode_text(model.tokenise(TEXTS)), before)


def test_gradients_reach_the_tokens_alone(model):
    learned = tokens().requires_grad_(True)
    encode_behind(model.module, token_ids(model.module, model.tokenise, TEXTS, 2), learned).sum().backward()
    assert learned.grad.abs().sum() > 0
    assert all(parameter.grad is None for parameter in model.module.parameters())


def test_a_long_text_keeps_its_end(model):
    """Cut before its end token: what is added behind the cut changes nothing."""
    long = "nurse " * 40
    ids = token_ids(model.module, model.tokenise, [long, long + "chef"], 3)
    assert ids[0].argmax() == CONTEXT - 1
    first, second = encode_behind(model.module, ids, tokens(3))
    assert torch.equal(first, second)


def test_towers_and_tokens_that_do_not_go_together(model):
    ids = token_ids(model.module, model.tokenise, TEXTS, 2)
    with pytest.raises(ValueError, match=f"5 numbers each, this text tower reads {WIDTH}"):
        encode_behind(model.module, ids, torch.zeros(2, 5))
    with pytest.raises(ValueError, match="do not fit before a text"):
        token_ids(model.module, model.tokenise, TEXTS, CONTEXT)
    with pytest.raises(NoTextTower, match="open_clip's own text transformers"):
        token_ids(torch.nn.Linear(2, 2), model.tokenise, TEXTS, 2)


def test_files_give_back_what_was_written(tmp_path):
    rows = np.random.default_rng(0).standard_normal((3, 7)).astype(np.float32)
    write_tokens(tmp_path / "new" / "t.safetensors", rows, {"seed": 0})
    assert np.array_equal(read_tokens(tmp_path / "new" / "t.safetensors"), rows)


@pytest.mark.parametrize("layout", ["table", "parameter", "weight", "debias_tokens.weight", "state_dict"])
def test_published_layouts_are_converted(tmp_path, layout, capsys):
    table = tokens()
    content = {
        "table": table.half(),
        "parameter": torch.nn.Parameter(table),
        "weight": torch.nn.Embedding.from_pretrained(table).state_dict(),
        "debias_tokens.weight": {"clip.logit_scale": torch.ones(()), "debias_tokens.weight": table},
        "state_dict": {"state_dict": {"module.debias_tokens.weight": table}},
    }[layout]
    torch.save(content, tmp_path / "published.pt")
    target = tmp_path / "tokens.safetensors"
    assert main(["convert-prompt", str(tmp_path / "published.pt"), str(target)]) == 0
    assert f"2 of {WIDTH} numbers" in capsys.readouterr().out
    assert np.allclose(read_tokens(target), table.numpy(), atol=2e-3)


class _Marks:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_a_file_that_runs_code_is_refused_and_runs_none(tmp_path):
    (tmp_path / "hostile.pt").write_bytes(pickle.dumps(_Marks(tmp_path / "marker")))
    torch.save({"weight": _Marks(tmp_path / "marker")}, tmp_path / "archive.pt")
    for name in ("hostile.pt", "archive.pt"):
        with pytest.raises(UsageError, match="weights alone"):
            convert_published(tmp_path / name, tmp_path / "tokens.safetensors")
    assert not (tmp_path / "marker").exists()
    assert not (tmp_path / "tokens.safetensors").exists()


def test_files_that_hold_no_tokens_are_named(tmp_path):
    torch.save({"other": tokens()}, tmp_path / "other.pt")
    torch.save(torch.full((2, 3), float("nan")), tmp_path / "nan.pt")
    for name, message in (("other.pt", "debias_tokens.weight"), ("nan.pt", "finite"), ("absent.pt", "No such file")):
        with pytest.raises(UsageError, match=message):
            convert_published(tmp_path / name, tmp_path / "tokens.safetensors")
    from safetensors.numpy import save_file

    save_file({"weight": np.zeros((2, 3), np.float32)}, tmp_path / "named.safetensors")
    for name, message in (("named.safetensors", "'debias_tokens'"), ("other.pt", "convert-prompt"), ("no", "no")):
        with pytest.raises(UsageError, match=message):
            read_tokens(tmp_path / name)
