"""Attribute probes: classifiers of embeddings, with their held-out errors by level and group.

Where nobody labelled the items, a logistic regression trained on a labelled data set labels them.
Its errors bound what an audit can claim: a gap between groups that is smaller than the probe's
confusion between them is not evidence. So a probe carries its confusion, measured on rows that it
was not trained on (training accuracy says nothing), and results should be stored beside it. Its
probabilities are calibrated by a temperature that is fitted to the held-out rows, and tested on folds
of them (`mprlib.calibration`).

Source: MPR paper, section 5 and its appendix on probes (logistic regression on FairFace
embeddings, C from 0.01 to 100). **Deviation**: the authors report accuracy on the training split.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from mprlib.arrays import FloatArray, IntArray
from mprlib.calibration import Calibration, calibration_of, cross_fitted, temperature_of
from mprlib.declarations import strict
from mprlib.errors import InputError
from mprlib.frames.levels import levels_of, stated_levels
from mprlib.scikit_learn import scikit_learn_for
from mprlib.settings import PROBABILITY, SEED, refuse_text

# The paper's range of inverse regularisation strengths; cross-validation takes one of these.
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
FOLDS = 5
# A level needs a row in each fold's two parts and one held out.
FEWEST_ROWS = 2 * FOLDS
MOST_ITERATIONS = 1000


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Probe:
    """A trained probe of one attribute.

    Shapes:  levels (L,), in the order of probabilities' columns.
             coefficients (L, d) and intercepts (L,): a level's evidence is their linear function.
             confusion (L, L), counts of held-out rows: true level by row, predicted by column.
             accuracy_by_level (L,), the share of a level's held-out rows that is recognised.
    strength: the C that cross-validation took.
    temperature: what its evidence is divided by in calibrated probabilities; calibration: how they
    did on the held-out rows; bias (L, L): mean square of what their means are off by, as far as these rows can tell.
    shares (L,): of all labelled rows, whose part in its probabilities `mprlib.prior_shift` exchanges for another one.
    accuracy_by_group: accuracy among held-out rows of each group that was passed in.
    It is plain arrays, so that whoever trains it can store it and others predict.

    >>> from mprlib.probes import train_probe
    >>> probe = train_probe([[number % 2, 1.0] for number in range(60)], ["a", "b"] * 30)
    >>> probe.levels, probe.predict([[1.0, 1.0]]), probe.probabilities([[1.0, 1.0]]).shape
    (('a', 'b'), ['b'], (1, 2))
    >>> probe.confusion.tolist(), probe.accuracy_by_level
    ([[6, 0], [0, 6]], array([1., 1.]))
    """

    levels: tuple[str, ...]
    coefficients: FloatArray
    intercepts: FloatArray
    strength: float
    confusion: IntArray
    accuracy_by_group: dict[str, float]
    temperature: float
    calibration: Calibration
    bias: FloatArray
    shares: FloatArray

    @property
    def accuracy(self) -> float:
        """Share of all held-out rows that is recognised."""
        return float(np.trace(self.confusion) / self.confusion.sum())

    @property
    def accuracy_by_level(self) -> FloatArray:
        """Recall of each level on held-out rows; below 1 by what an audit cannot tell."""
        recalls: FloatArray = np.diag(self.confusion) / self.confusion.sum(axis=1)
        return recalls

    def probabilities(self, embeddings: ArrayLike) -> FloatArray:
        """Probability (n, L) of each level for embeddings (n, d); labels for a continuous audit.

        Raises:  InputError for embeddings of another width, or that are not finite.
        """
        found: FloatArray = scipy.special.softmax(self._evidence(embeddings), axis=1)
        return found

    def calibrated(self, embeddings: ArrayLike) -> FloatArray:
        """The same, as sure as the probe was right about rows that it was not trained on.

        Raises:  InputError as for `probabilities`.
        """
        found: FloatArray = scipy.special.softmax(self._evidence(embeddings) / self.temperature, axis=1)
        return found

    def _evidence(self, embeddings: ArrayLike) -> FloatArray:
        matrix = _matrix(embeddings)
        if matrix.shape[1] != self.coefficients.shape[1]:
            raise InputError(
                f"embeddings has {matrix.shape[1]} columns, the probe was trained on {self.coefficients.shape[1]}"
            )
        # Not a BLAS product: equal rows must get equal labels at every position.
        evidence: FloatArray = np.einsum("ij,kj->ik", matrix, self.coefficients) + self.intercepts
        return evidence

    def predict(self, embeddings: ArrayLike) -> list[str]:
        """The most probable level for each of the embeddings (n, d)."""
        return [self.levels[level] for level in np.argmax(self.probabilities(embeddings), axis=1)]

    def manifest(self) -> dict[str, Any]:
        """What a run should store: settings and errors, as plain values."""
        return {
            "levels": list(self.levels),
            "strength": self.strength,
            "held_out_rows": int(self.confusion.sum()),
            "accuracy": self.accuracy,
            "accuracy_by_level": dict(zip(self.levels, map(float, self.accuracy_by_level))),
            "accuracy_by_group": dict(self.accuracy_by_group),
            "confusion": self.confusion.tolist(),
            "shares": dict(zip(self.levels, map(float, self.shares))),
            "temperature": self.temperature,
            "calibration": self.calibration.manifest(),
        }


@strict
def train_probe(
    embeddings: ArrayLike,
    labels: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    held_out_share: Annotated[float, PROBABILITY] = 0.2,
    seed: Annotated[int, SEED] = 0,
) -> Probe:
    """A logistic regression from embeddings to one attribute, judged on held-out rows.

    Rows are split once, stratified by level; cross-validation for C sees the training part only.

    Shapes:  embeddings (n, d); labels (n,), one level per row; groups (n,), names of the groups that
             accuracy is reported for (of another attribute, or of intersections).
    Raises:  InputError for wrong shapes, values that are not finite, a row without a level, fewer than two levels, a
             level with too few rows, or a held_out_share outside (0, 1).

    >>> from mprlib.probes import train_probe
    >>> train_probe([[number % 2, 1.0] for number in range(60)], ["a", "b"] * 30).predict([[0.0, 1.0], [1.0, 1.0]])
    ['a', 'b']
    """
    with scikit_learn_for("a probe"):
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split

    matrix, levels, codes = _checked(embeddings, labels, held_out_share)
    names = None if groups is None else levels_of(groups)
    if names is not None and names.shape != codes.shape:
        raise InputError(f"groups has shape {names.shape}, {codes.shape} expected: one name per row")
    train, held_out = train_test_split(
        np.arange(codes.size), test_size=held_out_share, random_state=seed, stratify=codes
    )
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    search = GridSearchCV(LogisticRegression(max_iter=MOST_ITERATIONS), {"C": list(STRENGTHS)}, cv=folds)
    search.fit(matrix[train], codes[train])
    model = search.best_estimator_
    predicted = search.predict(matrix[held_out])
    is_right = predicted == codes[held_out]
    evidence = _of_levels(model.decision_function(matrix[held_out]))
    judged = cross_fitted(evidence, codes[held_out])
    coefficients, intercepts = model.coef_, model.intercept_
    if len(levels) == 2:
        # Of two levels only the second has coefficients: the first one's evidence is 0.
        coefficients = np.concatenate([np.zeros_like(coefficients), coefficients])
        intercepts = np.concatenate([np.zeros_like(intercepts), intercepts])
    return Probe(
        levels=levels,
        coefficients=coefficients,
        intercepts=intercepts,
        strength=float(search.best_params_["C"]),
        accuracy_by_group=_means(is_right, None if names is None else names[held_out]),
        confusion=_confusion(codes[held_out], predicted, len(levels)),
        temperature=temperature_of(evidence, codes[held_out]),
        calibration=calibration_of(judged, codes[held_out]),
        bias=_bias(judged, codes[held_out], codes.size),
        shares=np.bincount(codes) / codes.size,
    )


def _bias(probabilities: FloatArray, codes: IntArray, rows: int) -> FloatArray:
    """Mean square (L, L) of what the mean of probabilities is off by, from held-out ones (n, L) and their levels (n,).

    A logistic regression gives its training rows their mean, and is off by as much as that is by chance; what held-out
    rows show beside is known with an error of theirs. Together that is what all labelled rows would leave open.
    """
    off = probabilities - np.eye(probabilities.shape[1])[codes]
    seen = off.sum(axis=0) / rows
    found: FloatArray = off.T @ off / (codes.size * rows) + np.outer(seen, seen)
    return found


def _of_levels(values: FloatArray) -> FloatArray:
    """Evidence (n, L); of two levels what is at hand (n,) is the second one's, as the first one's is 0."""
    return values if values.ndim > 1 else np.stack([np.zeros(values.size), values], axis=1)


def _checked(
    embeddings: ArrayLike, labels: ArrayLike, held_out_share: float
) -> tuple[FloatArray, tuple[str, ...], IntArray]:
    matrix = _matrix(embeddings)
    rows = stated_levels("labels", labels)
    if rows.shape != (matrix.shape[0],):
        raise InputError(f"labels has shape {rows.shape}, ({matrix.shape[0]},) expected: one level per row")
    levels, codes, counts = np.unique(rows, return_inverse=True, return_counts=True)
    if levels.size < 2:
        raise InputError(
            f"labels holds {'one level' if levels.size else 'no level'}: a probe needs at least two to tell apart"
        )
    smallest = int(np.argmin(counts))
    is_held_out = counts[smallest] * min(held_out_share, 1.0 - held_out_share) >= 1
    if counts[smallest] < FEWEST_ROWS or not is_held_out:
        raise InputError(
            f"labels holds {counts[smallest]} rows of {str(levels[smallest])!r}, too few to train on and hold out; "
            "merge the level with another or drop its rows"
        )
    return matrix, tuple(levels.tolist()), codes


def _matrix(embeddings: ArrayLike) -> FloatArray:
    refuse_text("embeddings", embeddings)
    matrix = np.asarray(embeddings, dtype=float)
    if matrix.ndim != 2:
        raise InputError(f"embeddings has shape {matrix.shape}: one row per item is expected")
    if not np.isfinite(matrix).all():
        raise InputError("embeddings holds a value that is not finite")
    return matrix


def _means(is_right: NDArray[np.bool_], names: NDArray[Any] | None) -> dict[str, float]:
    if names is None:
        return {}
    return {str(name): float(is_right[names == name].mean()) for name in np.unique(names)}


def _confusion(true: IntArray, predicted: IntArray, levels: int) -> IntArray:
    return np.bincount(true * levels + predicted, minlength=levels * levels).reshape(levels, levels)
