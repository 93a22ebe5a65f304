"""Whether features are a linear function of columns: within a part of the largest one, on every row."""

import numpy as np
import pytest

from mprlib.function_classes.linear_kernel import is_linear


@pytest.mark.parametrize("seed", range(5))
def test_one_feature_that_is_missed_is_enough(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns = (random.random((30, 6)) < 0.4).astype(float)
    weights = random.standard_normal((6, 4))
    features = columns @ weights
    assert is_linear(columns, weights, features, 1e-12)
    features[random.integers(30), random.integers(4)] += 1e-9 * np.abs(features).max()
    assert is_linear(columns, weights, features, 1e-8)
    assert not is_linear(columns, weights, features, 1e-10)


def test_the_value_of_chance_is_one_of_all_lotteries(monkeypatch) -> None:
    """Lotteries that cannot have the value at a place are left out, and no other ones."""
    import mprlib
    from mprlib import lottery_kernel

    random = np.random.default_rng(3)
    people = {"sex": random.choice(["a", "b"], 400), "age": random.choice(["x", "y", "z"], 400, p=[0.5, 0.3, 0.2])}
    labels = {"sex": random.choice(["a", "b"], 60, p=[0.8, 0.2]), "age": random.choice(["x", "y", "z"], 60)}
    scores = random.random(60)

    def rho() -> float:
        reference = mprlib.Reference.from_frame(people, ["sex", "age"])
        return mprlib.rerank(scores, labels, reference, k=10, function_class="linear").rho

    narrow = rho()
    monkeypatch.setattr(lottery_kernel, "around", lambda spread, place, weights: (0, spread.lengths.size))
    assert rho() == narrow
