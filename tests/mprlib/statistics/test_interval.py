"""Intervals of one selection: solved by hand, their proof's inequality, what may be taken as not fitted."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from mprlib import FUNCTION_CLASSES, METHODS, InputError, Problem, measure, select
from mprlib.cells import cells_of, selection_weights
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.registry import function_class
from mprlib.statistics import Chosen, Resamples, sampling_interval, sampling_intervals, sampling_margin
from mprlib.statistics.class_noise import ClassNoise
from mprlib.statistics.draws import Draws
from mprlib.statistics.noise_kinds import class_noise
from tests.populations import one_hot_problem

CLOSED = ("linear", "rkhs", "groups", "saturated", "tree")


def halves(m: int) -> Problem:
    return Problem(
        scores=[0.9, 0.8, 0.7, 0.6],
        labels=[[1, 0], [1, 0], [0, 1], [0, 1]],
        reference=[[1, 0], [0, 1]] * (m // 2),
        k=2,
        attributes={"gender": [0, 1]},
    )


def test_the_upper_end_is_that_of_one_share():
    """Half of 1,000 are women, all of 2 items: 1/2, a share's error by Wilson, and 2 of 1,000 that may be the same."""
    z = norm.ppf(0.975)
    error = z * np.sqrt(0.25 / 1000 + (z / 2000) ** 2)
    interval = sampling_interval(halves(1000), Chosen(items=[0, 1], is_fitted=False), "groups")
    assert interval.high == pytest.approx(0.5 + error + 0.5 * 2 / 998)
    assert interval.low == pytest.approx(0.5 - error, abs=0.003)
    apart = sampling_interval(halves(1000), Chosen(items=[0, 1], is_fitted=False, may_be_in_reference=False), "groups")
    assert apart.high == pytest.approx(0.5 + error)


def test_under_the_normalised_class_no_mean_varies_by_more_than_the_root_of_d_over_m():
    problem = one_hot_problem(m=500)
    for name in ("linear", "saturated", "tree"):
        found = measure(problem, problem.best_first[:20], name)
        _, high = sampling_interval(problem, Chosen(items=problem.best_first[:20], is_fitted=False), name)
        most = norm.ppf(0.975) * np.sqrt(problem.scale) / problem.m + found.value * 20 / 480
        assert found.value < high <= found.value + most


@pytest.mark.parametrize("name", CLOSED)
def test_noise_beside_a_gap_falls_as_the_gap_grows(name):
    """The inequality of the proof, for every resample: f falls, from the distance of MPR +- t."""
    problem = one_hot_problem()
    noise = class_noise(problem, function_class(name), 0.975, Draws(problem, 50, 3))
    weights = selection_weights(problem, problem.best_first[:20])
    differences, found = cells_of(problem).differences(weights), noise.oracle.worst_case(weights)
    parts = np.array([0.0, 0.2, 0.5, 1.0])
    drifts = noise.drifts(np.tile(differences, (4, 1)), [found] * 4, parts)
    for before, after in pairwise(drifts):
        # Of trees the worst one alone is scaled by each resample's masses: an upper bound.
        assert (after <= before + 1e-12).all() or name == "tree"
    assert noise.quantile(drifts[0]) == pytest.approx(noise.of_all)
    assert noise.quantile(drifts[-1]) < noise.of_all


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("is_fitted", [False, True])
def test_a_measurement_at_hand_changes_nothing(name, is_fitted):
    problem = one_hot_problem()
    items = problem.best_first[:20]
    with_it, without = (
        sampling_interval(problem, Chosen(items=items, is_fitted=is_fitted, found=found), name, resamples=50)
        for found in (measure(problem, items, name), None)
    )
    assert with_it == without


@pytest.mark.parametrize("name", ["groups", "tree"])
def test_what_is_left_out_as_never_the_worst_is_never_the_worst(name):
    problem = one_hot_problem()
    noise = class_noise(problem, function_class(name), 0.975, Draws(problem, 50, 3))
    weights = selection_weights(problem, problem.best_first[:20])
    differences, found = cells_of(problem).differences(weights), noise.oracle.worst_case(weights)
    [drifts], [block] = noise.drifts(differences[None], [found], np.ones(1)), noise.draws.blocks()
    if name == "groups":
        expected = closed_form_gaps(noise.oracle, differences - noise.draws.moved(block)) - found.value
        assert drifts == pytest.approx(expected, abs=1e-15)
    else:
        moved, masses = noise.draws.moved_and_masses(block)
        own = np.sqrt(problem.scale / (found.function**2 @ masses.T)) * found.value
        assert drifts == pytest.approx(noise.oracle.gaps(differences - moved, masses) - own, abs=1e-12)


@pytest.mark.parametrize("name", CLOSED)
def test_at_the_masses_of_the_sample_values_are_those_of_the_class(name):
    problem = one_hot_problem()
    noise = class_noise(problem, function_class(name), 0.975, Draws(problem, 50, 3))
    differences = cells_of(problem).differences(selection_weights(problem, problem.best_first[:20]))
    [block] = noise.draws.blocks()
    weighs_cells = name in ("saturated", "tree")
    moved = noise.draws.moved_and_masses(block)[0] if weighs_cells else noise.draws.moved(block)
    expected = [noise.oracle.worst_in(differences - row).value for row in moved]
    assert noise.values(differences[None])[0] == pytest.approx(expected, abs=2e-12)


@pytest.mark.parametrize("name", CLOSED)
def test_intervals_of_several_selections_are_those_of_each(name, monkeypatch):
    """To the last bit, whatever is beside them."""
    monkeypatch.setattr("mprlib.statistics.interval.TOGETHER", 4)
    problem, generator = one_hot_problem(), np.random.default_rng(2)
    chosen = [
        Chosen(items=generator.choice(problem.n, size, replace=False), is_fitted=is_fitted, may_be_in_reference=may_be)
        for size, is_fitted, may_be in [(20, True, True), (20, False, True), (5, True, False), (20, False, False)] * 2
    ]
    alone = [sampling_interval(problem, one, name, resamples=50) for one in chosen]
    assert sampling_intervals(problem, chosen, name, resamples=50) == alone
    assert sampling_intervals(problem, [], name) == []


@pytest.mark.parametrize("name", FUNCTION_CLASSES)
def test_every_class_has_an_interval_around_its_value(name):
    problem = one_hot_problem()
    items = problem.best_first[:20]
    found, margin = measure(problem, items, name), sampling_margin(problem, name, resamples=200)
    alone, fitted = (
        sampling_interval(problem, Chosen(items=items, is_fitted=one, found=found), name, resamples=200)
        for one in (False, True)
    )
    assert 0 <= alone.low <= found.value <= found.upper_bound < alone.high <= fitted.high
    if name not in CLOSED and name != "mlp":
        assert (fitted.low, fitted.high) == (max(0.0, found.value - margin), found.upper_bound + margin)
    elif found.value > 2 * margin:
        assert alone.high - alone.low < 2 * margin


def test_a_value_below_the_noise_may_be_nothing():
    problem = one_hot_problem(n=2000, m=400, k=100)
    target = cells_of(problem).reference_shares
    counts = np.floor(100 * target).astype(int)
    items = np.concatenate(
        [np.flatnonzero(cells_of(problem).pool_cell == cell)[:count] for cell, count in enumerate(counts)]
    )
    assert sampling_interval(problem, items, "saturated").low == 0.0


def test_items_that_are_much_of_the_reference_take_the_interval_for_all():
    problem = halves(4)
    low, high = sampling_interval(problem, Chosen(items=[0, 1], is_fitted=False), "groups")
    margin = sampling_margin(problem, "groups")
    assert (low, high) == (max(0.0, 0.5 - margin), 0.5 + margin)


def test_weights_of_the_reference_and_of_places_count():
    random = np.random.default_rng(0)
    weighted = one_hot_problem(m=800, reference_weights=random.lognormal(0, 1.5, 800))
    plain = one_hot_problem(m=800)
    widths = [np.ptp(sampling_interval(one, range(20), "linear")) for one in (weighted, plain)]
    assert widths[0] > 1.3 * widths[1]
    orders = [sampling_interval(plain, order, attention="log2") for order in (range(20), range(19, -1, -1))]
    assert orders[0] != orders[1]


def test_resamples_that_are_at_hand_are_of_one_call():
    problem = one_hot_problem()
    others = Resamples.drawn(problem.population, 50, [7, 0])
    of_others = sampling_interval(problem, range(20), "groups", drawn=others, resamples=50)
    own = sampling_interval(problem, range(20), "groups", resamples=50)
    assert of_others != own == sampling_interval(one_hot_problem(), range(20), "groups", resamples=50)
    assert of_others == sampling_interval(problem, range(20), "groups", drawn=others, resamples=50)


@pytest.mark.parametrize("given", [{"confidence": 1.0}, {"resamples": 0}])
def test_refuses_bad_settings(given):
    with pytest.raises(InputError, match=next(iter(given))):
        sampling_interval(one_hot_problem(), range(20), **given)
    with pytest.raises(InputError, match="items"):
        sampling_interval(one_hot_problem(), [0, 0])


# Methods that take arrays, which a caller makes of other things than the reference.
OF_ARRAYS = {"debias_clip", "paths", "orth_cali", "closed_form_debias", "clip_clip", "as_shown", "pbm"}


@pytest.mark.filterwarnings("ignore::mprlib.AssumptionWarning")
@pytest.mark.parametrize(
    "name", [name for name, kind in METHODS.items() if not kind.reads_reference and name not in OF_ARRAYS]
)
def test_methods_that_are_said_not_to_read_the_reference_do_not(name):
    """Of what they choose no error of the reference is allowed for: another reference must change nothing."""
    kind, found = METHODS[name], []
    for seed in (0, 1):
        other = one_hot_problem(seed, m=50)
        random = np.random.default_rng(5)
        problem = one_hot_problem(
            n=60, k=8, reference=other.population.labels, embeddings=random.standard_normal((60, 6)), query=np.ones(6)
        )
        value = None if kind.parameter is None else 0.5
        found.append(select(problem, name, value).items.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("values", ["random", "equal", "rising", "falling"])
def test_the_quantile_is_an_order_statistic(values):
    noise = object.__new__(ClassNoise)
    rows = np.random.default_rng(3).random((4, 1000)).round(2)
    rows = {"random": rows, "equal": np.ones_like(rows), "rising": np.sort(rows), "falling": -np.sort(-rows)}[values]
    for level in (0.975, 0.95, 0.5):
        noise.level = level
        expected = np.sort(rows, axis=1)[:, int(np.ceil(level * 999))]
        assert noise.quantiles(rows).tolist() == expected.tolist()
