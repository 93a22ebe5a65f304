"""Attribute probes: what they recognise, and what they admit."""

from decimal import Decimal

import numpy as np
import pytest

from mprlib import InputError
from mprlib.probes import STRENGTHS, train_probe


def noisy_rows(rows: int = 400, noise: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    embeddings = random.standard_normal((rows, 4))
    return embeddings, np.where(embeddings[:, 0] + noise * random.standard_normal(rows) > 0, "old", "young")


def test_accuracy_is_that_of_rows_it_never_saw():
    """Labels drawn by coin: training accuracy is high with 200 columns, held-out is one half."""
    random = np.random.default_rng(1)
    embeddings, labels = random.standard_normal((300, 200)), random.choice(["a", "b"], 300)
    probe = train_probe(embeddings, labels)
    assert probe.confusion.sum() == 60
    assert probe.accuracy < 0.7
    assert np.mean(np.array(probe.predict(embeddings)) == labels) > 0.75


def test_reports_confusion_per_level_and_accuracy_per_group():
    embeddings, labels = noisy_rows()
    groups = np.where(embeddings[:, 1] > 0, "women", "men")
    probe = train_probe(embeddings, labels, groups=groups)
    assert probe.levels == ("old", "young")
    assert probe.strength in STRENGTHS
    assert probe.accuracy == pytest.approx(np.trace(probe.confusion) / probe.confusion.sum())
    assert probe.accuracy_by_level == pytest.approx(np.diag(probe.confusion) / probe.confusion.sum(axis=1))
    assert set(probe.accuracy_by_group) == {"women", "men"}
    assert probe.manifest()["confusion"] == probe.confusion.tolist()
    assert 0.7 < probe.accuracy < 0.95


def test_labels_are_the_most_probable_levels():
    embeddings, labels = noisy_rows()
    probe = train_probe(embeddings, labels)
    probabilities = probe.probabilities(embeddings[:5])
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(5))
    assert probe.predict(embeddings[:5]) == [probe.levels[level] for level in probabilities.argmax(axis=1)]


@pytest.mark.parametrize("count", [2, 3])
def test_probabilities_are_those_of_the_logistic_regression(count):
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    embeddings, _ = noisy_rows()
    codes = np.argmax(embeddings[:, :count] + 0.5 * np.random.default_rng(2).standard_normal((400, count)), axis=1)
    probe = train_probe(embeddings, codes)
    rows, _ = train_test_split(np.arange(400), test_size=0.2, random_state=0, stratify=codes)
    model = LogisticRegression(C=probe.strength, max_iter=1000).fit(embeddings[rows], codes[rows])
    assert probe.probabilities(embeddings) == pytest.approx(model.predict_proba(embeddings), abs=1e-9)


def test_levels_are_named_as_in_every_column():
    embeddings, _ = noisy_rows(60)
    labels = [True, 1, 1.0, Decimal("1.0"), "1", np.float32(2)] * 10
    probe = train_probe(embeddings, labels, groups=[None, True] * 30)
    assert probe.levels == ("1", "2", "true")
    assert set(probe.accuracy_by_group) == {"true", "unknown"}


def test_embeddings_of_another_width():
    with pytest.raises(InputError, match="3 columns.*trained on 4"):
        train_probe(*noisy_rows()).predict(np.zeros((2, 3)))


def test_same_seed_same_probe():
    embeddings, labels = noisy_rows()
    assert train_probe(embeddings, labels, seed=3).manifest() == train_probe(embeddings, labels, seed=3).manifest()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ["a"] * 400}, "at least two"),
        ({"labels": ["a"] * 395 + ["b"] * 5}, "5 rows of 'b'"),
        ({"labels": ["a", None] * 200}, "labels has a missing value"),
        ({"labels": np.array(["a", ""] * 200)}, "labels has a missing value"),
        ({"labels": ["a", "b"]}, "labels has shape"),
        ({"embeddings": np.full((400, 2), np.nan)}, "embeddings"),
        ({"embeddings": np.zeros(400)}, "embeddings"),
        ({"groups": ["x"]}, "groups"),
        ({"held_out_share": 1.0}, "held_out_share"),
    ],
)
def test_refuses_what_cannot_be_judged(change, message):
    embeddings, labels = noisy_rows()
    with pytest.raises(InputError, match=message):
        train_probe(**{"embeddings": embeddings, "labels": labels, **change})
