"""FairFace against UTKFace: every class, quickly, on real labels."""

import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mprlib import FUNCTION_CLASSES, measure
from mprlib.cells import cells_of
from tests.real_labels import HAS_LABELS, UTKFACE, faces_problem

if not HAS_LABELS:
    pytest.skip(f"{UTKFACE.name} is absent: its terms do not let it travel with the code", allow_module_level=True)


def test_every_class_together_takes_less_than_two_seconds():
    problem = faces_problem()
    assert (problem.n, problem.reference.shape[0]) == (23_704, 40_000)
    # Processor time of one thread: the machine may be shared.
    with threadpool_limits(1):
        start = time.process_time()
        results = {name: measure(problem, problem.best_first[:50], name) for name in FUNCTION_CLASSES}
        assert time.process_time() - start < 2.0
    assert cells_of(problem).size == 20
    assert results["linear"].value <= results["tree"].value <= results["saturated"].value == results["mlp"].value
    assert "race=Others" in str(results["groups"].witness)


def test_utkface_lacks_the_share_of_others_that_fairface_has():
    """Latino, Hispanic and Middle Eastern people are a quarter of FairFace, and 7% of UTKFace."""
    problem = faces_problem(k=5000)
    items = np.random.default_rng(0).choice(problem.n, 5000, replace=False)
    groups = measure(problem, items, "groups", max_attributes=1).witness.groups
    group = next(group for group in groups if group.name == "race=Others")
    assert group.share_reference == pytest.approx(0.26, abs=0.01)
    assert group.share_selected == pytest.approx(0.07, abs=0.02)
