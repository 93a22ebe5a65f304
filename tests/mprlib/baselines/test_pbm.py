import json
from pathlib import Path

import numpy as np
import pytest

import mprlib
from mprlib import InputError, Problem

GOLDEN = json.loads((Path(__file__).resolve().parents[2] / "golden" / "baseline_golden.json").read_text())


def problem_of(scores, k, labels=None) -> Problem:
    rows = np.ones((len(scores), 1)) if labels is None else labels
    return Problem(scores=scores, labels=rows, reference=rows, k=k)


def steps(scores, labels, k):
    """Sizes of the authors' steps at eps 0, until a block no longer fits: an independent walk."""
    left = {label: sorted((s for s, own in zip(scores, labels) if own == label), reverse=True) for label in set(labels)}
    taken = 0
    while True:
        block = [values[0] for label, values in left.items() if label and values]
        is_neutral = bool(left.get(0)) and (not block or left[0][0] > np.mean(block))
        size = 1 if is_neutral else len(block)
        if taken + size > k:
            return taken
        for label in [0] if is_neutral else [label for label in left if label and left[label]]:
            left[label].pop(0)
        taken += size


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"seed{case['seed']}")
def test_equals_the_authors_until_a_block_no_longer_fits(case):
    scores = np.asarray(case["embeddings"]) @ np.asarray(case["query"])
    labels = case["pbm"]["labels"]
    fits = steps(scores.tolist(), labels, case["k"])
    theirs = case["pbm"]["eps0"]
    ours = mprlib.select(problem_of(scores, case["k"]), "pbm", 0.0, group_labels=labels).items.tolist()
    assert set(theirs[:fits]) <= set(ours)
    # The rest of ours are the most similar items of the block that does not fit.
    free = {}
    for item in np.argsort(-scores):
        if item not in theirs[:fits] and labels[item]:
            free.setdefault(labels[item], item)
    rest = sorted(free.values(), key=lambda item: -scores[item])[: case["k"] - fits]
    assert set(ours) == {*theirs[:fits], *rest}


def test_a_walk_by_hand():
    """Blocks (0.9, 0.1) mean 0.5 and (0.8, 0.0) mean 0.4 against neutrals 0.6, 0.3."""
    scores = [0.9, 0.8, 0.1, 0.0, 0.6, 0.3]
    labels = [1, 1, 2, 2, 0, 0]
    taken = [{4}, {4, 0}, {4, 0, 2}, {4, 0, 2, 1}, {4, 0, 2, 1, 3}, {0, 1, 2, 3, 4, 5}]
    for k, items in enumerate(taken, start=1):
        assert set(mprlib.select(problem_of(scores, k), "pbm", 0.0, group_labels=labels).items.tolist()) == items


def test_eps_one_is_top_k():
    generator = np.random.default_rng(0)
    problem = problem_of(generator.random(50), 12)
    labels = generator.integers(0, 3, 50)
    items = mprlib.select(problem, "pbm", 1.0, group_labels=labels).items
    assert items.tolist() == mprlib.select(problem, "top_k").items.tolist()


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_always_k_distinct_items(classes):
    """200 draws in all: pools without neutrals, with empty classes, with fewer items than classes."""
    for seed in range(50):
        generator = np.random.default_rng(1000 * classes + seed)
        n = int(generator.integers(1, 40)) if seed % 3 else int(generator.integers(1, classes + 1))
        labels = generator.integers(seed % 2, classes + 1, n)
        k = int(generator.integers(1, n + 1))
        problem = problem_of(generator.random(n), k)
        values = [0.0, 0.3, 1.0]
        for selection in mprlib.sweep(problem, "pbm", values, group_labels=labels, seed=seed):
            assert selection.status == "done"
            assert np.unique(selection.items).size == k


def test_classes_are_joint_cells_by_default():
    labels = np.eye(3)[[0, 0, 0, 1, 2]]
    problem = problem_of([0.9, 0.8, 0.7, 0.2, 0.1], 3, labels)
    assert set(mprlib.select(problem, "pbm", 0.0).items.tolist()) == {0, 3, 4}


def test_a_sweep_equals_single_selections_and_follows_its_seed():
    generator = np.random.default_rng(3)
    problem = problem_of(generator.random(80), 20)
    labels = generator.integers(0, 3, 80)
    values = [0.5, 0.1, 0.9]
    swept = mprlib.sweep(problem, "pbm", values, group_labels=labels, seed=4)
    for value, selection in zip(values, swept):
        again = mprlib.select(problem, "pbm", value, group_labels=labels, seed=4)
        assert selection.items.tolist() == again.items.tolist()
    others = [mprlib.select(problem, "pbm", 0.5, group_labels=labels, seed=seed).items.tolist() for seed in range(8)]
    assert len(set(map(tuple, others))) > 1


@pytest.mark.parametrize("labels", [[1, 2], [0.5, 1, 2], [-1, 1, 2], ["a", "b", "c"]])
def test_labels_of_another_shape_or_kind(labels):
    with pytest.raises(InputError, match="group_labels"):
        mprlib.select(problem_of([0.3, 0.2, 0.1], 2), "pbm", 0.5, group_labels=labels)


@pytest.mark.parametrize("value", [-0.1, 1.1, None, np.nan])
def test_an_eps_outside_its_range(value):
    with pytest.raises(InputError, match="eps"):
        mprlib.select(problem_of([0.3, 0.2], 1), "pbm", value)
