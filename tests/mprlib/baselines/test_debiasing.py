"""Methods that take an attribute off vectors: each against its definition, and what may not matter."""

import numpy as np
import pytest
from scipy.optimize import minimize

import mprlib
from mprlib import InputError
from mprlib.baselines.closed_form_debias import attribute_weight
from tests.method_arrays import needed

METHODS = ["orth_cali", "spd", "bend_vlm", "closed_form_debias"]
WIDTH = 8


def people(seed=0, n=400, **changes):
    """Two sexes that differ along the first two axes, and a query that leans to one of them."""
    random = np.random.default_rng(seed)
    women = random.random(n) < 0.5
    vectors = random.standard_normal((n, WIDTH))
    vectors[:, 0] += 2.0 * women
    vectors[:, 1] -= 1.0 * women
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = np.array([0.8, 0.0, 0.6, *[0.0] * (WIDTH - 3)])
    given = {
        "scores": vectors @ query,
        "labels": np.column_stack([women, ~women]).astype(float),
        "reference": np.eye(2),
        "reference_size": 1000,
        "attributes": {"sex": [0, 1]},
        "k": 40,
        "embeddings": vectors,
        "query": query,
    }
    return mprlib.Problem(**given | changes)


def women_among(problem, items):
    return float(problem.labels[items, 0].mean())


@pytest.mark.parametrize("method", METHODS)
def test_the_attribute_shows_less(method):
    problem = people()
    axes = np.eye(WIDTH)[:2]
    extras = {
        "orth_cali": {"attribute_prompts": axes},
        "closed_form_debias": {"prototypes": [axes[0], axes[1]]},
        "bend_vlm": {"neighbours": 50},
    }.get(method, {})
    top = women_among(problem, mprlib.select(problem, "top_k").items)
    found = women_among(problem, mprlib.select(problem, method, **extras).items)
    assert top > 0.85
    # The closed form keeps a share of the attribute by design.
    assert found < top - (0.05 if method == "closed_form_debias" else 0.2)


@pytest.mark.parametrize("method", METHODS)
def test_lengths_and_order_of_what_names_an_attribute_do_not_matter(method):
    problem, extras = people(), needed(method, WIDTH)
    scaled = {name: np.flip(2.5 * np.asarray(value), axis=0) for name, value in extras.items()}
    once = mprlib.select(problem, method, **extras).items.tolist()
    assert mprlib.select(problem, method, **scaled).items.tolist() == once


@pytest.mark.parametrize("method", METHODS)
def test_what_cannot_be_used_is_named(method):
    with pytest.raises(InputError, match="embeddings"):
        mprlib.select(people(embeddings=None, query=None), method)
    for name in {*needed(method, WIDTH), *({"variants", "attribute_prompts"} if method == "bend_vlm" else ())}:
        for wrong in (np.eye(3), np.zeros((2, WIDTH)), [["a"] * WIDTH], [[np.nan] * WIDTH]):
            with pytest.raises(InputError, match=name):
                mprlib.select(people(), method, **{name: wrong})
    if method in ("spd", "bend_vlm"):
        for wrong in ("sex", ["age"], 3):
            with pytest.raises(InputError, match="attributes is .*: a list of some of sex is expected"):
                mprlib.select(people(), method, attributes=wrong)


def test_levels_are_no_numbers():
    problem = people(labels=np.arange(800.0).reshape(400, 2), reference=[[1.0, 2.0]])
    for method in ("spd", "bend_vlm"):
        with pytest.raises(InputError, match="has 400 in the pool"):
            mprlib.select(problem, method)


@pytest.mark.parametrize("calibration", [0.0, 1.0, 1000.0])
def test_calibration_solves_its_least_squares(calibration):
    """The matrix of the source, by its own formula."""
    random = np.random.default_rng(1)
    problem = people(1)
    prompts, pairs = random.standard_normal((2, WIDTH)), random.standard_normal((6, WIDTH))
    off = np.eye(WIDTH) - prompts.T @ np.linalg.inv(prompts @ prompts.T) @ prompts
    differences = pairs[0::2] - pairs[1::2]
    matrix = off @ np.linalg.inv(np.eye(WIDTH) + calibration * differences.T @ differences / 3)
    expected = np.argsort(-(problem.embeddings @ (matrix @ problem.query)), kind="stable")[: problem.k]
    found = mprlib.select(problem, "orth_cali", attribute_prompts=prompts, pairs=pairs, calibration=calibration)
    assert set(found.items.tolist()) == set(expected.tolist())
    with pytest.raises(InputError, match="pairs has 5 rows"):
        mprlib.select(problem, "orth_cali", attribute_prompts=prompts, pairs=pairs[:5])


def test_the_closed_form_makes_both_losses_equal():
    inside = np.linspace(0.01, 0.99, 50)
    outside, alpha = np.sqrt(1 - inside**2), attribute_weight(inside)
    similarity = np.sqrt(1 - alpha**2) * outside + alpha * inside
    assert np.allclose(alpha / inside, (1 - similarity) / (1 - outside), atol=1e-7)
    assert (alpha > 0).all() and (alpha < inside).all()


def test_the_closed_form_of_pairs_is_that_of_vectors():
    problem, prototypes = people(2), np.random.default_rng(2).standard_normal((3, WIDTH))

    def turned(vector, basis):
        part = basis.T @ (basis @ vector)
        inside, outside = np.linalg.norm(part), np.linalg.norm(vector - part)
        alpha = attribute_weight(np.array([inside]))[0]
        return np.sqrt(1 - alpha**2) * (vector - part) / outside + alpha * part / inside

    directions = prototypes / np.linalg.norm(prototypes, axis=1, keepdims=True)
    basis = np.linalg.qr((directions[1:] - directions[0]).T)[0].T
    merits = np.array([turned(one, basis) for one in problem.embeddings]) @ turned(problem.query, basis)
    found = mprlib.select(problem, "closed_form_debias", prototypes=prototypes)
    assert set(found.items.tolist()) == set(np.argsort(-merits)[: problem.k].tolist())


def test_the_neutral_query_is_what_a_solver_finds():
    """Nearest unit vector that is as similar to the means of both sexes' neighbours."""
    problem = people(3)
    women = problem.labels[:, 0] == 1
    nearest = np.argsort(-problem.scores, kind="stable")
    means = [problem.embeddings[nearest[women[nearest] == sex][:20]].mean(axis=0) for sex in (True, False)]
    constraints = [
        {"type": "eq", "fun": lambda e: e @ e - 1},
        {"type": "eq", "fun": lambda e: e @ (means[0] - means[1])},
    ]
    solved = minimize(lambda e: -e @ problem.query, problem.query, method="SLSQP", constraints=constraints).x
    expected = np.argsort(-(problem.embeddings @ solved), kind="stable")[: problem.k]
    found = mprlib.select(problem, "bend_vlm", neighbours=20)
    assert len(set(found.items.tolist()) & set(expected.tolist())) >= problem.k - 1


def test_variants_take_their_difference_off_the_query():
    problem = people(4)
    variants = [np.eye(WIDTH)[0], -np.eye(WIDTH)[0]]
    # A level of one item has no say in what is near.
    alike = people(4, labels=np.eye(2)[[0] + [1] * 399])
    one_sex = {"attributes": ["sex"], "neighbours": 1}
    by_variants = mprlib.select(alike, "bend_vlm", variants=variants, **one_sex)
    by_prompts = mprlib.select(alike, "bend_vlm", attribute_prompts=[variants[0]], **one_sex)
    assert by_variants.items.tolist() == by_prompts.items.tolist()
    assert women_among(problem, by_variants.items) < women_among(problem, mprlib.select(problem, "top_k").items)


def test_spd_takes_off_what_is_read_and_no_more():
    random = np.random.default_rng(5)
    n = 2000
    codes = random.integers(0, 3, n)
    vectors = random.standard_normal((n, WIDTH))
    vectors[:, :2] += 4.0 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[codes]
    problem = people(
        n=n, embeddings=vectors, labels=np.eye(3)[codes], reference=np.eye(3), attributes={"race": [0, 1, 2]}
    )
    # Two hold the means; a classifier's directions are not quite these, and what they leave is read again.
    assert mprlib.select(problem, "spd").message in [
        f"{count} of {WIDTH} directions taken off" for count in (2, 3, 4, 5)
    ]
    assert mprlib.select(problem, "spd", axes=1).message == f"1 of {WIDTH} directions taken off"
    noise = people(n=n, labels=np.eye(2)[random.integers(0, 2, n)], embeddings=random.standard_normal((n, WIDTH)))
    assert mprlib.select(noise, "spd").message.startswith("0 of")


@pytest.mark.parametrize("method", ["orth_cali", "bend_vlm"])
def test_where_nothing_is_left_of_the_query_its_own_similarity_decides(method):
    random = np.random.default_rng(6)
    prompts = random.standard_normal((3, WIDTH))
    problem = people(6, query=prompts.T @ [0.3, 0.5, -1.0])
    for given in (prompts, prompts[::-1], prompts * 3):
        found = mprlib.select(problem, method, attribute_prompts=given)
        assert found.items.tolist() == problem.best_first[: problem.k].tolist()
        assert found.message.startswith("nothing is left of the query")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", METHODS)
def test_large_numbers_are_directions_like_others(method):
    problem, extras = people(), needed(method, WIDTH)
    large = people(embeddings=problem.embeddings * 1e200, query=problem.query * 1e200)
    once = mprlib.select(problem, method, **extras).items.tolist()
    assert mprlib.select(large, method, **extras).items.tolist() == once
    for name, value in extras.items():
        with pytest.raises(InputError, match=f"{name} holds numbers above"):
            mprlib.select(problem, method, **{name: value * 1e200})
