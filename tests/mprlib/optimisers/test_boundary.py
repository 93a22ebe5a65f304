"""A gap of exactly rho meets rho, whichever way its sum was rounded."""

import numpy as np
import pytest

import mprlib


@pytest.mark.parametrize("reference", [[0.5, 0.5], [0.3, 0.7], [1 / 3, 2 / 3]])
@pytest.mark.parametrize("k", [3, 10, 50])
def test_the_best_count_of_two_groups_at_every_reachable_gap(reference, k):
    generator = np.random.default_rng(k)
    is_first = generator.random(300) < 0.4
    problem = mprlib.Problem(
        scores=generator.random(300) + 0.5 * ~is_first,
        labels=np.column_stack([is_first, ~is_first]),
        reference=[[1, 0], [0, 1]],
        reference_weights=reference,
        k=k,
        attributes={"group": [0, 1]},
    )
    best = [np.sort(problem.scores[side])[::-1] for side in (is_first, ~is_first)]
    gaps = [abs(count / k - reference[0]) for count in range(k + 1)]
    totals = [best[0][:count].sum() + best[1][: k - count].sum() for count in range(k + 1)]
    for gap in gaps:
        selection = mprlib.select(problem, "mopr", gap, function_class="groups")
        expected = max(total for total, other in zip(totals, gaps) if other <= gap + 1e-9)
        assert selection.mpr <= selection.rho <= gap + 1e-15
        assert selection.similarity * k == pytest.approx(expected)
