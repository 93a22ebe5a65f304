"""Tokens that hide an attribute, on real faces: what held-out judges still read, and what it costs."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from tests.face_towers import FACES, train_face_towers

torch = pytest.importorskip("torch")
pytest.importorskip("open_clip_torch" if False else "safetensors")

from jobs.encoders.prompt_judging import judge  # noqa: E402
from jobs.encoders.prompt_tokens import encode_behind, token_ids  # noqa: E402
from jobs.encoders.prompt_training import NoTokensFound, Training, train  # noqa: E402

WORDS = ["good", "evil", "smart", "dumb", "friendly", "unfriendly", "lawful", "criminal", "lazy", "caring", "clever", "nasty"]
PROMPTS = [f"a photo of a {word} person" for word in WORDS]
# Of the change of a similarity (root mean square), in deviations over faces. The training keeps to the first on its own
# faces, the second is what the test asks for on others.
MARGIN, HELD_OUT_MARGIN = 0.45, 0.5


@pytest.fixture(scope="module")
def towers():
    if not FACES.exists():
        pytest.skip(f"{FACES} is absent")
    return train_face_towers()


@pytest.fixture(scope="module")
def split(towers):
    return train_test_split(np.arange(600), test_size=200, random_state=0, stratify=towers.gender)


@pytest.fixture(scope="module")
def tokens(towers, split):
    codes = (towers.gender == "Female").astype(int)
    settings = Training(tokens=4, steps=150, margin=MARGIN)
    rows = split[0]
    return train(towers.module, towers.tokenise, towers.images[rows], codes[rows], PROMPTS, settings)


def similarities(towers, tokens=None) -> np.ndarray:
    with torch.no_grad():
        if tokens is None:
            texts = towers.module.encode_text(towers.tokenise(PROMPTS))
        else:
            ids = token_ids(towers.module, towers.tokenise, PROMPTS, len(tokens))
            texts = encode_behind(towers.module, ids, torch.from_numpy(tokens))
        return towers.images @ torch.nn.functional.normalize(texts, dim=-1).numpy().T


def test_held_out_classifiers_read_less_and_similarity_keeps_within_the_margin(towers, split, tokens):
    codes = (towers.gender == "Female").astype(int)
    found = judge(similarities(towers), similarities(towers, tokens), codes, *split, seed=0)
    print(found)
    assert found.held_out == 200
    assert found.accuracy_before > 0.63
    assert found.accuracy_after < found.accuracy_before - 0.05
    assert found.network_accuracy_after < found.network_accuracy_before
    assert found.gap_after < 0.6 * found.gap_before
    assert found.similarity_change < HELD_OUT_MARGIN
