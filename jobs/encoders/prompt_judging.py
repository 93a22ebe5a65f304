"""What tokens have done, judged on images that were held out, by classifiers that the training did not use."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

# Of the network that reads similarities; the published adversary has layers of this size.
HIDDEN = (32, 32)
MOST_ITERATIONS = 2000
# Weight decay of the network, so that a few hundred images do not decide by chance.
DECAY = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """Measured on held-out images.

    accuracy_* : of fresh classifiers that read an image's similarities to all prompts, before and behind the
    tokens. gap_* : the mean over prompts and levels of |level's mean similarity - mean| in deviations over
    images. majority: the accuracy of always naming the commonest level. similarity_change: root mean square of
    the change of a similarity, in spreads; mean_absolute_change: in cosines.
    """

    majority: float
    accuracy_before: float
    accuracy_after: float
    network_accuracy_before: float
    network_accuracy_after: float
    gap_before: float
    gap_after: float
    similarity_change: float
    mean_absolute_change: float
    held_out: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def judge(
    before: np.ndarray, after: np.ndarray, labels: np.ndarray, train: np.ndarray, held_out: np.ndarray, seed: int
) -> Judgement:
    """The judgement on similarities (images, prompts) before and behind the tokens.

    Shapes:  labels (images,), codes; train and held_out are rows.
    """
    truth = labels[held_out]
    accuracies = [
        _accuracy(classifier, similarities, labels, train, held_out)
        for classifier in (_linear(), _network(seed))
        for similarities in (before, after)
    ]
    change = after[held_out] - before[held_out]
    return Judgement(
        majority=float(np.bincount(truth).max() / truth.size),
        accuracy_before=accuracies[0],
        accuracy_after=accuracies[1],
        network_accuracy_before=accuracies[2],
        network_accuracy_after=accuracies[3],
        gap_before=_gap(before[held_out], truth),
        gap_after=_gap(after[held_out], truth),
        similarity_change=float(np.sqrt(np.mean((change / before[held_out].std(axis=0)) ** 2))),
        mean_absolute_change=float(np.abs(change).mean()),
        held_out=int(truth.size),
    )


def _accuracy(
    classifier: Any, similarities: np.ndarray, labels: np.ndarray, train: np.ndarray, held_out: np.ndarray
) -> float:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        # Stopped early, the network reads a little less in both cases alike.
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(similarities[train], labels[train])
    return float(classifier.score(similarities[held_out], labels[held_out]))


def _linear() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=MOST_ITERATIONS))


def _network(seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network = MLPClassifier(HIDDEN, alpha=DECAY, solver="lbfgs", max_iter=200, random_state=seed)
    return make_pipeline(StandardScaler(), network)


def _gap(similarities: np.ndarray, labels: np.ndarray) -> float:
    scaled = (similarities - similarities.mean(axis=0)) / similarities.std(axis=0)
    return float(np.mean([np.abs(scaled[labels == level].mean(axis=0)) for level in np.unique(labels)]))
