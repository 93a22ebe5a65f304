"""MPR where places do not count alike: by its definition on rows, against every lottery, and what is refused."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import mprlib
from mprlib import registry
from mprlib.attention import LOG2, UNIFORM, attended, attention_of
from mprlib.chance import chance_of
from mprlib.statistics import sampling_margin
from tests.populations import one_hot_problem

CLASSES = sorted(registry.FUNCTION_CLASSES)
CURVES = ("log2", "geometric(0.8)", [5.0, 0.0, 3.0, 1.0, 1.0, 0.5])
# Deviations of this size have a probability below 0.001 in either direction.
DEVIATIONS = 3.3
# Classes whose chance levels are known, for fair draws.
FAIR = ("linear", "saturated", "rkhs", "groups", "tree")


def selection(problem, size=6, seed=0):
    return np.random.default_rng(seed).choice(problem.n, size, replace=False)


def value_on_rows(problem, items, weights, functions):
    """sup over the span of functions (n + m, r) of |weighted mean - mean|, their squares scaled to sum to D."""
    size = 1.0 / np.sum(weights**2)
    scale = problem.m * size / (problem.m + size)
    signed = np.concatenate([np.zeros(problem.n), -problem.reference_weights])
    signed[items] = weights
    counts = np.sqrt(np.concatenate([np.ones(problem.n), problem.m * problem.reference_weights]))
    best = np.linalg.lstsq(functions * counts[:, None], signed / counts, rcond=None)[0]
    gap = signed @ (functions @ best)
    norm = np.sqrt(np.sum((functions @ best * counts) ** 2))
    return np.sqrt(scale) * gap / norm


@pytest.mark.parametrize("attention", CURVES)
def test_linear_and_saturated_are_those_of_rows(attention):
    for seed in range(5):
        problem = one_hot_problem(seed, n=40, m=30)
        items = selection(problem, seed=seed)
        weights = attention_of(attention).weights(6)
        rows = np.concatenate([problem.labels, problem.reference])
        _, cell = np.unique(rows, axis=0, return_inverse=True)
        for name, functions in (("linear", rows), ("saturated", np.eye(cell.max() + 1)[cell.ravel()])):
            found = mprlib.measure(problem, items, name, attention=attention)
            assert found.value == pytest.approx(value_on_rows(problem, items, weights, functions), abs=1e-9)


@pytest.mark.parametrize("attention", CURVES)
def test_groups_are_gaps_of_weighted_shares(attention):
    problem = one_hot_problem(3, n=40, m=30)
    items, weights = selection(problem), attention_of(attention).weights(6)
    gaps = []
    for columns in product(*problem.attributes.values()):
        pairs = [(one,) for one in columns] + [(one, other) for one in columns for other in columns if one < other]
        for group in pairs:
            shown = problem.labels[items][:, group].all(axis=1) @ weights
            gaps.append(abs(shown - problem.reference[:, group].all(axis=1).mean()))
    assert mprlib.measure(problem, items, "groups", attention=attention).value == pytest.approx(max(gaps), abs=1e-11)


@pytest.mark.parametrize("name", CLASSES)
def test_equal_weights_are_the_set_to_the_last_bit(name):
    problem = one_hot_problem(1)
    items = selection(problem, 20)
    plain = mprlib.measure(problem, items, name)
    for attention in ("uniform", [0.3] * 20, UNIFORM):
        found = mprlib.measure(problem, items, name, attention=attention)
        assert (found.value, found.upper_bound, found.chi, found.witness) == (
            plain.value, plain.upper_bound, plain.chi, plain.witness,
        )  # fmt: skip
        assert (found.p_value, found.chance_level) == (plain.p_value, plain.chance_level)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("attention", CURVES)
def test_bounds_witness_and_chi_go_with_the_weights(name, attention):
    problem = one_hot_problem(2, n=60, m=50)
    items = selection(problem)
    found = mprlib.measure(problem, items, name, attention=attention)
    shown = attended(problem, attention, 6)
    assert found.value <= found.upper_bound
    if found.chi is not None:
        assert found.upper_bound <= mprlib.measure(problem, items, "saturated", attention=attention).value + 1e-12 <= 1
        assert found.chi == pytest.approx(found.value * np.sqrt((problem.n + problem.m) / shown.scale))
    if name != "groups":
        cells = {group.name: group for group in found.witness.groups}
        assert sum(one.contribution for one in cells.values()) <= found.value + 1e-9 or len(cells) == 10


def test_one_seen_item_is_a_selection_of_that_item():
    problem = one_hot_problem(4)
    items = selection(problem)
    for name in CLASSES:
        first = mprlib.measure(problem, items, name, attention=[1, 0, 0, 0, 0, 0])
        alone = mprlib.measure(problem, items[:1], name)
        assert first.value == pytest.approx(alone.value, abs=1e-11)
        assert first.chi == pytest.approx(alone.chi, abs=1e-9) if alone.chi is not None else first.chi is None


def test_order_counts_where_places_do():
    problem = one_hot_problem(5)
    items = selection(problem)
    forward, back = (mprlib.measure(problem, one, "saturated", attention="log2") for one in (items, items[::-1]))
    assert forward.value != back.value
    assert mprlib.measure(problem, items, "saturated").value == mprlib.measure(problem, items[::-1], "saturated").value


@pytest.mark.parametrize("name", ["linear", "saturated", "rkhs", "groups", "tree"])
def test_chance_is_that_of_all_lotteries(name):
    reference = np.repeat([[1, 0], [0, 1]], [3, 1], axis=0)
    problem = mprlib.Problem(
        scores=np.arange(8) / 10,
        labels=np.repeat([[1, 0], [0, 1]], 4, axis=0),
        reference=reference,
        k=4,
        label_names=["a=x", "a=y"],
        attributes={"a": [0, 1]},
    )
    values, chances = [], []
    for drawn in product((0, 1), repeat=4):
        left = {0: iter(range(4)), 1: iter(range(4, 8))}
        items = [next(left[one]) for one in drawn]
        values.append(mprlib.measure(problem, items, name, attention="log2").value)
        chances.append(np.prod([0.25 if one else 0.75 for one in drawn]))
    found = mprlib.measure(problem, [0, 4, 1, 2], name, attention="log2")
    exact = sum(one for value, one in zip(values, chances) if value >= found.value - 1e-12)
    assert found.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9_999) + 1e-4)
    rising = sorted(zip(values, chances))
    within = np.cumsum([one for _, one in rising])
    assert found.chance_level == pytest.approx(rising[int(np.argmax(within >= 0.95))][0], abs=2e-12)


def fair_audits(name, attention, count, k=20):
    """What is measured of orders whose places are independent draws from the reference."""
    base = one_hot_problem(0, n=5, m=2_000, k=1, levels=(2, 3))
    cells, shares = np.unique(base.reference, axis=0, return_counts=True)
    problem = mprlib.Problem(
        scores=np.linspace(0.9, 0.1, len(cells) * k),
        labels=np.repeat(cells, k, axis=0),
        reference=base.reference,
        k=k,
        attributes=base.attributes,
    )
    random = np.random.default_rng(7)
    for _ in range(count):
        drawn = random.choice(len(cells), k, p=shares / shares.sum())
        yield mprlib.measure(problem, drawn * k + np.arange(k), name, attention=attention)


@pytest.mark.parametrize("name", FAIR)
def test_95_of_100_fair_draws_are_within_the_chance_level(name, cases):
    count = max(400, cases(2_000))
    found = list(fair_audits(name, "log2", count))
    within = np.mean([one.value <= one.chance_level for one in found])
    assert all((one.value > one.chance_level) == (one.p_value <= 0.05) for one in found)
    slack = DEVIATIONS * np.sqrt(0.95 * 0.05 * (1 / count + 1 / 999))
    assert 0.95 - slack <= within <= (1 if name == "groups" else 0.95 + slack)


def test_lotteries_of_many_cells_are_those_of_few():
    random = np.random.default_rng(0)
    problem = mprlib.Problem(
        scores=random.random(600),
        labels=random.standard_normal((600, 3)),
        reference=random.standard_normal((700, 3)),
        k=9,
    )
    for name in ("linear", "saturated", "rkhs"):
        chance = chance_of(attended(problem, "log2"), registry.function_class(name))
        plain = chance_of(problem, registry.function_class(name))
        assert chance.level != plain.level
        # Of nine places with those weights 8.0 are effective.
        assert chance.level == pytest.approx(plain.level, rel=0.15)


@pytest.mark.parametrize("name", ["linear", "saturated", "groups", "rkhs"])
def test_margins_are_in_the_units_of_the_weights(name):
    problem = one_hot_problem(0)
    margins = [sampling_margin(problem, name, attention=one, resamples=200) for one in (UNIFORM, LOG2)]
    is_normalised = registry.function_class(name).is_normalised
    expected = np.sqrt(attended(problem, LOG2).scale / problem.scale) if is_normalised else 1.0
    assert margins[1] / margins[0] == pytest.approx(expected)


def test_selections_are_measured_under_attention():
    problem = one_hot_problem(6)
    for method in ("top_k", "det_greedy", "fair_top_k"):
        plain = mprlib.select(problem, method, order="fair") if method != "top_k" else mprlib.select(problem, method)
        settings = {} if method == "top_k" else {"order": "fair"}
        found = mprlib.select(problem, method, attention="log2", **settings)
        assert found.items.tolist() == plain.items.tolist()
        assert found.mpr == mprlib.measure(problem, found.items, "linear", attention="log2").value != plain.mpr


@pytest.mark.parametrize("p", [0.123456789, 0.9999999, 1e-7, 1 / 3])
def test_the_name_of_geometric_weights_is_read_as_the_same_weights(p):
    asked = attention_of(f"geometric({p!r})")
    assert attention_of(asked.name) == asked and asked.p == p
    assert attention_of("geometric(.80)").name == "geometric(0.8)"


def test_a_bound_holds_for_the_weights_asked_for_to_their_last_digit():
    women, men = [1, 0], [0, 1]
    problem = mprlib.Problem(
        scores=[0.9, 0.8, 0.7, 0.6, 0.5, 0.4], labels=[women] * 3 + [men] * 3, reference=[women, men], k=3
    )
    asked = "geometric(0.123456789)"
    # Between the MPR of the best order under p = 0.123456789 and that under p cut to six digits.
    row = mprlib.select(problem, "mopr", 0.3781956, "groups", attention=asked)
    found = mprlib.measure(problem, row, "groups", attention=asked)
    assert row.mpr == found.value and (row.mpr <= row.rho) == (row.status in ("optimal", "feasible"))


@pytest.mark.parametrize(
    ("attention", "message"),
    [
        ("dcg", "attention is 'dcg': uniform, log2 or geometric"),
        ("geometric(1.5)", "geometric attention's p is 1.5: a finite number above 0 and below 1 is expected"),
        ("geometric(a)", "geometric attention's p is 'a'"),
        ([1, 0.5], "attention has 2 weights, 6 expected: one for each item"),
        ([1, 1, 1, 1, 1, -1], "attention holds weights that are negative"),
        ([0] * 6, "none above 0"),
        ([1, 1, 1, 1, 1, np.nan], "attention holds nan"),
        (3, "attention is 3: uniform, log2"),
        ([["a"]], "attention holds text"),
    ],
)
def test_what_is_no_attention_is_refused(attention, message):
    with pytest.raises(mprlib.InputError) as error:
        mprlib.measure(one_hot_problem(), range(6), attention=attention)
    assert message in str(error.value)


def test_methods_that_bound_sets_refuse_attention():
    with pytest.raises(mprlib.InputError, match="mopr_qp bounds MPR of sets: attention goes with mopr"):
        mprlib.select(one_hot_problem(), "mopr_qp", 0.1, attention="log2")


def test_problems_of_frames_have_attention_and_fair_orders():
    random = np.random.default_rng(0)
    people = pd.DataFrame({"sex": random.choice(["f", "m"], 300), "age": random.choice(["young", "old"], 300)})
    hits = people.sample(60, random_state=1).assign(score=np.linspace(0.9, 0.1, 60)).reset_index(drop=True)
    problem = mprlib.Problem.from_frames(hits, people, score="score", attributes=["sex", "age"], k=10)
    top = list(range(10))
    seen = mprlib.measure(problem, top, "groups", attention="log2")
    plain = mprlib.Problem(
        scores=problem.scores, labels=problem.labels, reference=problem.population, k=10, attributes=problem.attributes
    )
    assert seen.value == mprlib.measure(plain, top, "groups", attention="log2").value
    for settings in ({"order": "fair"}, {"attention": "log2"}):
        found, same = (mprlib.select(one, "mopr", 0.15, "groups", **settings) for one in (problem, plain))
        assert found.items.tolist() == same.items.tolist()
    reference = mprlib.Reference.from_frame(people, ["sex", "age"])
    chosen = mprlib.rerank(hits["score"], hits[["sex", "age"]], reference, k=10, rho=0.15, order="fair")
    limits = 0.15 * np.sqrt(10 / np.arange(5, 11))
    shown = [mprlib.measure(problem, chosen.items[:length], "groups").value for length in range(5, 11)]
    assert (np.array(shown) <= limits + 1e-12).all() or "no order of" in chosen.message
