"""Numbers whose sums and differences no number holds are answered as numbers are, and without a warning of numpy's."""

from decimal import Decimal

import numpy as np
import pytest

import mprlib
from mprlib import InputError, Reference
from mprlib.arrays import LARGEST, finite, mean_of

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

WOMEN, MEN = [1, 0], [0, 1]
# Methods that need no more than scores, labels and vectors; not mmr, which adds scores to distances.
METHODS = ("apportionment", "det_cons", "det_const_sort", "det_greedy", "det_relaxed", "dpp", "exposure_policy",
           "fair_top_k", "mopr", "mopr_integer", "mopr_qp", "pbm", "top_k")  # fmt: skip
SCORES = {
    "alike": [LARGEST] * 4,
    "of one sign": [1.7e308, 1.6e308, 1e308, 9e307],
    "of both": [1e308, 9e307, -1e308, -1.7e308],
}


def problem_of(scores, **others):
    return mprlib.Problem(
        scores=scores, labels=[WOMEN, WOMEN, MEN, MEN], reference=[WOMEN, MEN], k=2, reference_size=100,
        attributes={"sex": [0, 1]}, embeddings=[[1, 0], [0.9, 0.1], [0, 1], [0.2, 0.9]], query=[0.9, 0.3], **others,
    )  # fmt: skip


@pytest.mark.parametrize("scores", SCORES.values(), ids=list(SCORES))
@pytest.mark.parametrize("method", METHODS)
def test_methods_find_what_they_find_of_small_scores(method, scores):
    # A power of two changes no digit.
    small = mprlib.sweep(problem_of(np.ldexp(scores, -1000)), method, None, "linear")
    large = mprlib.sweep(problem_of(scores), method, None, "linear")
    for one, other in zip(large, small, strict=True):
        assert (one.items.tolist(), one.status, one.mpr) == (other.items.tolist(), other.status, other.mpr)
        for name in ("similarity", "similarity_bound", "relaxation_bound"):
            found, expected = getattr(one, name), getattr(other, name)
            assert found == expected is None or np.ldexp(found, -1000) == pytest.approx(expected, rel=1e-12)
        assert one.gap == pytest.approx(other.gap) if other.gap is not None else one.gap is None


@pytest.mark.parametrize("settings", [{}, {"order": "fair"}, {"attention": "log2"}])
def test_rerank_has_a_finite_similarity_bound_and_gap(settings):
    reference = mprlib.Reference.from_shares({"sex": {"w": 0.5, "m": 0.5}}, size=1000)
    labels = {"sex": ["w", "w", "m", "m"]}
    found = mprlib.rerank([1e308, 1e308, 0, 0], labels, reference, k=2, rho=0.5, **settings)
    assert found.status == "optimal" and found.items.tolist() == [0, 1]
    assert found.similarity == found.similarity_bound == 1e308 and found.gap == 0


def test_sets_that_may_claim_a_bound_are_compared_by_their_scores():
    problem = problem_of(SCORES["of one sign"], label_error={"sex": [[0.999, 0.001], [0.001, 0.999]]})
    found = mprlib.select(problem, "mopr", 0.6, "groups")
    small = problem_of(np.ldexp(SCORES["of one sign"], -1000), label_error={"sex": [[0.999, 0.001], [0.001, 0.999]]})
    assert found.items.tolist() == mprlib.select(small, "mopr", 0.6, "groups").items.tolist() == [0, 1]


def test_a_gap_between_the_largest_numbers_of_both_signs_is_one():
    row = mprlib.select(problem_of(SCORES["of both"]), "top_k")
    assert mprlib.Selection(
        items=row.items, status=row.status, method="", value=None, similarity=-1e308, mpr=0, mpr_upper_bound=0,
        similarity_bound=1e308,
    ).gap == 2  # fmt: skip


@pytest.mark.parametrize("large", [[1e308] * 3, [LARGEST, LARGEST, LARGEST / 2], [LARGEST, 1.0, 0.0]])
def test_weights_of_places_are_shares_of_their_sum(large):
    problem = problem_of([0.9, 0.8, 0.7, 0.6])
    found = mprlib.measure(problem, [0, 1, 2], "groups", attention=large)
    small = mprlib.measure(problem, [0, 1, 2], "groups", attention=np.ldexp(large, -100))
    assert found.value == small.value


def test_a_mean_lies_among_its_numbers():
    random = np.random.default_rng(0)
    for size in (1, 2, 3, 7, 1000):
        values = np.ldexp(random.uniform(-1, 1, size), 1024)
        weights = random.dirichlet(np.ones(size))
        for given in (None, weights):
            small = np.ldexp(values, -100)
            expected = small.mean() if given is None else given @ small
            assert np.ldexp(mean_of(values, given), -100) == pytest.approx(expected, rel=1e-9)
        assert mean_of(np.full(size, LARGEST), weights) == pytest.approx(LARGEST)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_many_numbers_are_finite_though_their_squares_overflow(precision):
    """Vectors of many numbers are looked at by the sum of their squares first."""
    large = np.full((200, 100), np.finfo(precision).max, dtype=precision)
    assert finite("embeddings", large, ndim=2, dtype=None).dtype == precision
    for number in (np.nan, np.inf, -np.inf):
        other = np.zeros((200, 100), dtype=precision)
        other[150, 30] = number
        with pytest.raises(mprlib.InputError, match=r"embeddings holds (nan|inf|-inf) at \(150, 30\)"):
            finite("embeddings", other, ndim=2, dtype=None)


def test_numbers_that_64_bits_round_are_cut_where_they_are():
    ages = [29, Decimal("29.99999999999999999999"), 30, 10**400, -(10**400)]
    reference = Reference.from_frame({"age": ages}, ["age"], bins={"age": [30, 50]})
    assert reference.label_names == ("age=under 30", "age=30 to under 50", "age=50 and over")
    assert (reference.shares @ reference.labels).tolist() == pytest.approx([0.6, 0.2, 0.2])
    # Next to each other, and two cuts all the same.
    cuts = [2**53, 2**53 + 2, 2**53 + 4]
    reference = Reference.from_frame({"born": cuts}, ["born"], bins={"born": cuts})
    assert reference.label_names == (
        "born=9007199254740992 to under 9007199254740994",
        "born=9007199254740994 to under 9007199254740996",
        "born=9007199254740996 and over",
    )


def test_a_reference_of_names_of_people_is_one_sentence():
    with pytest.raises(InputError, match="have 30,000 levels, of which 30,000 combinations occur"):
        Reference.from_frame({"name": [f"p{number}" for number in range(30_000)]}, ["name"])
    with pytest.raises(InputError, match="31 different numbers, from 0 to inf: state where they are cut"):
        Reference.from_frame({"number": [10**400, *range(30)]}, ["number"])
