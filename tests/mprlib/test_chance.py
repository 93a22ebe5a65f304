"""p values and the chance level: against every lottery that there is, and over audits of fair draws."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.stats import kstest

import mprlib
from mprlib import registry
from mprlib.cells import cells_of, selection_weights
from mprlib.chance import chance_level_of, chance_of, gap_p_values
from mprlib.lotteries import drawn_cells
from mprlib.statistics import benjamini_yekutieli
from tests.populations import one_hot_problem

# The p values of these take many values; those of groups and of {-1, +1} trees few.
SMOOTH = ("linear", "saturated", "rkhs", "tree")
CLASSES = (*SMOOTH, "groups", "mlp", "tree(signed)")
# Deviations of this size have a probability below 0.001 in either direction.
RARE = 0.001


def of_name(name):
    return mprlib.Tree(signed=True, depth=2) if name == "tree(signed)" else registry.function_class(name)


def audited(k=50, seed=0, levels=(2, 3, 4)):
    """A problem whose pool holds k items of each cell that the reference has, so that every lottery is a selection."""
    base = one_hot_problem(seed, n=5, m=2_000, k=1, levels=levels)
    rows = np.unique(base.reference, axis=0)
    pool = np.repeat(rows, k, axis=0)
    return mprlib.Problem(
        scores=np.linspace(0.9, 0.1, len(pool)),
        labels=pool,
        reference=base.reference,
        k=k,
        attributes=base.attributes,
        label_names=base.label_names,
    )


def lottery(problem, random):
    """Items of k independent draws from the reference."""
    cells = cells_of(problem)
    drawn = random.multinomial(problem.k, cells.reference_shares)
    return np.concatenate([np.flatnonzero(cells.pool_cell == cell)[:count] for cell, count in enumerate(drawn)])


def audits(name, count, seed):
    problem, random = audited(seed=seed), np.random.default_rng([7, seed])
    return [mprlib.measure(problem, lottery(problem, random), of_name(name)) for _ in range(count)]


@pytest.mark.parametrize("name", ["groups", "linear", "saturated", "rkhs", "tree"])
def test_p_values_are_those_of_all_lotteries(name):
    # Two thirds: no share of lotteries is near 95%, where the draws would decide.
    reference = np.repeat([[1, 0], [0, 1]], [2, 1], axis=0)
    problem = mprlib.Problem(
        scores=np.arange(8) / 10,
        labels=np.repeat([[1, 0], [0, 1]], 4, axis=0),
        reference=reference,
        k=4,
        label_names=["a=x", "a=y"],
        attributes={"a": [0, 1]},
    )
    values = [mprlib.measure(problem, [*range(count), *range(4, 8 - count)], name).value for count in range(5)]
    chances = [comb(4, count) * 2**count / 3**4 for count in range(5)]
    for count, value in enumerate(values):
        exact = sum(one for other, one in zip(values, chances) if other >= value - 1e-12)
        found = mprlib.measure(problem, [*range(count), *range(4, 8 - count)], name)
        assert found.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9_999) + 1e-4)
    rising = sorted(zip(values, chances))
    within = np.cumsum([one for _, one in rising])
    # Measured values are cut after the twelfth decimal, the level is rounded there.
    assert found.chance_level == pytest.approx(rising[int(np.argmax(within >= 0.95))][0], abs=2e-12)


@pytest.mark.parametrize("name", CLASSES)
def test_p_values_of_fair_draws_are_uniform(name, cases):
    count = max(300, cases(2_000))
    values = np.array([found.p_value for found in audits(name, count, seed=1)])
    if name in SMOOTH:
        assert kstest(values, "uniform").pvalue > RARE
    # At no level more often than it says, discrete or not.
    assert kstest(values, "uniform", alternative="greater").pvalue > RARE


@pytest.mark.parametrize("name", CLASSES)
def test_95_of_100_fair_draws_are_within_the_chance_level(name, cases):
    count = max(400, cases(1_000))
    found = audits(name, count, seed=2)
    within = np.mean([one.value <= one.chance_level for one in found])
    # Three deviations of that many draws and of the lotteries behind the level.
    slack = 3 * np.sqrt(0.95 * 0.05 * (1 / count + 1 / 999))
    assert within >= 0.95 - slack
    if name in SMOOTH:
        assert within <= 0.95 + slack
    for one in found:
        assert (one.value > one.chance_level) == (one.p_value <= 0.05)


def test_lotteries_of_rows_with_continuous_labels_and_weights():
    random = np.random.default_rng(3)
    weights = random.random(900)
    problem = mprlib.Problem(
        scores=random.random(600),
        labels=random.standard_normal((600, 5)),
        reference=random.standard_normal((900, 5)),
        reference_weights=weights,
        k=30,
    )
    for name in ("linear", "saturated", "rkhs"):
        chance = chance_of(problem, registry.function_class(name))
        cells, oracle = cells_of(problem), registry.function_class(name).bind(problem)
        drawn = drawn_cells(cells.reference_shares, (200, 30), np.random.default_rng(5))
        gaps = np.array([np.bincount(row, minlength=cells.size) for row in drawn]) / 30 - cells.reference_shares
        within = np.mean(_by_definition(name, problem.scale, oracle, gaps) <= chance.level)
        assert within == pytest.approx(0.95, abs=0.07)


def _by_definition(name, scale, oracle, gaps):
    """MPR of each row of gaps between cells."""
    if name == "saturated":
        return np.sqrt(scale * (gaps**2 / oracle.cells.masses).sum(axis=1))
    if name == "linear":
        return np.linalg.norm(gaps @ oracle.features, axis=1)
    labels = oracle.cells.labels
    return np.sqrt(np.einsum("bi,ij,bj->b", gaps, oracle.kernel.matrix(labels, labels), gaps, optimize=True))


@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_many_trees_gaps_at_once_are_those_of_one_at_a_time(depth, is_signed):
    problem, random = audited(k=20), np.random.default_rng(0)
    oracle, cells = mprlib.Tree(depth=depth, signed=is_signed).bind(problem), cells_of(problem)
    sets = [selection_weights(problem, random.choice(problem.n, 20, replace=False)) for _ in range(5)]
    found = oracle.gaps(np.array([cells.differences(weights) for weights in sets]))
    assert found == pytest.approx([oracle.worst_case(weights).value for weights in sets], abs=1e-11)


def test_a_groups_p_value_is_exact():
    for k, share in product((1, 7, 20), (0.0, 0.01, 0.3, 0.5, 1.0)):
        mass = np.array([comb(k, hits) * share**hits * (1 - share) ** (k - hits) for hits in range(k + 1)])
        gaps = np.abs(np.arange(k + 1) - k * share)
        exact = [mass[gaps >= gap - 1e-9].sum() for gap in gaps]
        found = gap_p_values(np.arange(k + 1) / k, np.full(k + 1, share), k)
        assert found == pytest.approx(exact, abs=1e-12)


def test_what_no_lottery_shows_has_a_p_value_below_their_number():
    problem = audited()
    worst = np.flatnonzero(cells_of(problem).pool_cell == int(np.argmin(cells_of(problem).reference_shares)))
    found = mprlib.measure(problem, worst, "groups")
    assert 0 < found.p_value < 1e-9
    assert mprlib.measure(problem, worst, "linear").p_value == pytest.approx(1e-4)


def test_many_p_values_are_those_of_each():
    """Below, among and beyond all lotteries, where a bound may serve."""
    problem = audited()
    for name in ("groups", "linear"):
        chance = chance_of(problem, mprlib.FUNCTION_CLASSES[name]())
        observed = np.array([0.0, chance.level, chance.values[-1], 0.9, 1.0])
        assert chance.p_values(observed).tolist() == [chance.p_value(one) for one in observed.tolist()]
    assert gap_p_values(np.array([[0.5, 0.1], [0.2, 0.4]]), np.array([0.3, 0.3]), np.array([[10], [5]])).tolist() == [
        gap_p_values(np.array(selected), np.array([0.3, 0.3]), k).tolist()
        for selected, k in (([0.5, 0.1], 10), ([0.2, 0.4], 5))
    ]


def test_a_searched_class_has_no_p_value():
    problem = audited(k=5)
    found = mprlib.measure(problem, [0, 1, 2, 3, 4], "forest")
    assert (found.p_value, found.chance_level) == (None, None)
    with pytest.raises(mprlib.InputError, match="forest is searched by a heuristic"):
        mprlib.select(problem, "mopr", "chance", "forest")


@pytest.mark.parametrize("name", ["linear", "groups", "saturated", "tree"])
def test_rho_chance_is_the_level_and_says_so(name):
    problem = audited()
    level = mprlib.measure(problem, np.arange(problem.k), name).chance_level
    by_word, by_number = mprlib.sweep(problem, "mopr", ["chance", level], name)
    assert by_word.value == by_word.rho == level
    assert by_word.mpr <= level
    assert np.array_equal(by_word.items, by_number.items)
    assert "rho is chance" in by_word.message
    assert "chance" not in by_number.message


def test_other_words_and_other_methods_are_refused():
    problem = audited(k=5)
    with pytest.raises(mprlib.InputError, match="chance or a finite number of at least 0 is expected"):
        mprlib.select(problem, "mopr", "luck")
    with pytest.raises(mprlib.InputError, match="eps is 'chance'"):
        mprlib.select(problem, "pbm", "chance")


def test_the_false_discovery_rate_holds_over_dependent_groups_and_queries():
    """Half of the queries are fair draws; queries come in fives that share most of their draws."""
    problem, random = audited(k=50), np.random.default_rng(11)
    groups = registry.function_class("groups")
    chance, cells = chance_of(problem, groups), cells_of(problem)
    oracle = groups.bind(problem)
    tilted = cells.reference_shares * np.linspace(0.2, 2.0, cells.size)
    false, runs = 0.0, 150
    for _ in range(runs):
        p_values = []
        for shares in (cells.reference_shares, tilted / tilted.sum()):
            for _ in range(4):
                shared = drawn_cells(shares, (1, 40), random)
                for _ in range(5):
                    drawn = np.concatenate([shared[0], drawn_cells(shares, (1, 10), random)[0]])
                    gaps = np.bincount(drawn, minlength=cells.size) / 50 - cells.reference_shares
                    p_values.append(chance.p_value(float(np.abs(oracle.totals(gaps)).max())))
        found = benjamini_yekutieli(p_values) <= 0.05
        false += found[:20].sum() / max(found.sum(), 1) / runs
    assert false <= 0.05


@pytest.mark.parametrize("seed", range(12))
def test_the_level_by_the_lotteries_near_it_is_that_of_all(seed):
    """Of a ball only lotteries that may have the level are measured; rare levels and few people included."""
    random = np.random.default_rng(seed)
    people, levels = int(random.integers(3, 300)), int(random.integers(2, 6))
    codes = np.minimum(random.geometric(0.5, people) - 1, levels - 1), (random.random(people) < 0.05).astype(int)
    items = random.integers(0, levels, 150), random.integers(0, 2, 150)
    reference, labels = (np.hstack([np.eye(levels)[one], np.eye(2)[two]]) for one, two in (codes, items))
    weights = 10.0 ** -random.integers(0, 9, people) if seed % 3 == 0 else None
    problem = mprlib.Problem(
        scores=random.random(150), labels=labels, reference=reference, reference_weights=weights, k=7
    )
    linear = registry.function_class("linear")
    chance = chance_of(problem, linear)
    assert chance is not None
    assert chance_level_of(problem, linear) == pytest.approx(chance.level, rel=1e-11, abs=1e-12)
