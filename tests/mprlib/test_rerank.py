"""`rerank` gives what `select` gives, whatever was asked before and by how many threads."""

import gc
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mprlib
from mprlib import InputError, Mopr, Problem, Reference, rerank
from mprlib.kept import Kept
from mprlib.rerank import NODES
from tests.mprlib.people_frames import ATTRIBUTES, BINS, people

POPULATION = people(3000, 2)
LABELS = ("gender", "race", "age")


def reference() -> Reference:
    return Reference.from_frame(POPULATION, ATTRIBUTES, bins=BINS)


def request(seed: int, rows: int = 150) -> dict:
    candidates = people(rows, seed, tilt=0.3)
    return {
        "scores": candidates["score"],
        "labels": {name: candidates[name] for name in LABELS},
        "ids": candidates["person"],
    }


def answer(seed: int, population: Reference, function_class: str = "groups", rho: float | str = "chance"):
    return rerank(**request(seed), reference=population, k=10, rho=rho, function_class=function_class)


def told(found) -> tuple:
    return found.ids.tolist(), found.items.tolist(), found.status, found.mpr, found.rho, found.similarity_bound


@pytest.mark.parametrize("function_class", ["groups", "linear", "saturated", "tree"])
@pytest.mark.parametrize("rho", ["chance", 0.05])
def test_an_answer_is_that_of_select(function_class, rho):
    population = reference()
    for seed in range(3):
        asked = request(seed)
        candidates = {**asked["labels"], "score": asked["scores"], "person": asked["ids"]}
        problem = Problem.from_frames(candidates, reference(), score="score", attributes=ATTRIBUTES, k=10, id="person")
        plain = Problem(
            scores=asked["scores"], labels=problem.labels, reference=reference(), k=10, item_ids=asked["ids"]
        )
        found = answer(seed, population, function_class, rho)
        for one in (problem, plain):
            assert told(found) == told(mprlib.select(one, Mopr(nodes=NODES), rho, function_class))
        assert found.gap == mprlib.select(plain, Mopr(nodes=NODES), rho, function_class).gap
        assert found.status in ("optimal", "feasible", "infeasible")


def test_chance_is_that_of_measure_however_it_was_kept():
    population = reference()
    for function_class in ("groups", "linear", "saturated"):
        for seed in range(3):
            asked = request(seed)
            candidates = {**asked["labels"], "score": asked["scores"]}
            problem = Problem.from_frames(candidates, POPULATION, score="score", attributes=ATTRIBUTES, k=10, bins=BINS)
            level = mprlib.measure(problem, range(10), function_class).chance_level
            assert answer(seed, population, function_class).rho == pytest.approx(level, abs=1e-12)


def test_answers_do_not_depend_on_what_was_asked_before():
    first, second = reference(), reference()
    forwards = {seed: told(answer(seed, first)) for seed in range(6)}
    backwards = {seed: told(answer(seed, second)) for seed in reversed(range(6))}
    assert forwards == backwards
    # Levels that nobody in the reference has make other cells, for that request alone.
    for population in (first, reference()):
        odd = request(0)
        odd["labels"]["gender"][0] = "Other"
        found = rerank(**odd, reference=population, k=10)
        assert found.status == "optimal"
        assert told(answer(3, population)) == forwards[3]


@pytest.mark.parametrize("function_class", ["groups", "linear", "saturated"])
def test_eight_threads_on_one_reference_give_the_answers_of_one(function_class):
    alone, shared = reference(), reference()
    expected = [told(answer(seed, alone, function_class)) for seed in range(12)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda seed: told(answer(seed % 12, shared, function_class)), range(36)))
    assert found == expected * 3


def test_threads_share_a_reference_whose_memory_is_full():
    population = reference()
    object.__setattr__(population, "kept", Kept(most_bytes=60_000))
    expected = [told(answer(seed, reference())) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda seed: told(answer(seed, population)), range(4))) == expected
    assert population.kept.nbytes <= 60_000


def test_what_is_kept_is_bounded():
    kept = Kept(most_bytes=1000)
    for number in range(100):
        assert kept.get(number, lambda number=number: np.full(25, number))[0] == number
    assert kept.nbytes <= 1000
    assert kept.get(0, lambda: np.full(25, -1))[0] == -1
    assert kept.get("too large", lambda: np.zeros(1000)).size == 1000
    assert kept.nbytes <= 1000


def test_a_reference_travels_to_processes():
    population = reference()
    expected = told(answer(1, population))
    copy = pickle.loads(pickle.dumps(population))
    assert copy.kept.nbytes == 0
    assert told(answer(1, copy)) == expected
    assert (
        repr(copy) == repr(population) == f"Reference(gender, race, age: {len(copy.labels)} cells, a sample of 3,000)"
    )


def test_labels_may_be_frames_and_scores_a_column_of_theirs():
    population, asked = reference(), request(4)
    expected = told(answer(4, population))
    columns = {**asked["labels"], "score": asked["scores"], "person": asked["ids"]}
    for frame in (
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        {**columns, "race": np.array(columns["race"], dtype=object)},
    ):
        found = rerank("score", frame, population, k=10, ids="person")
        assert told(found) == expected


def test_arrays_and_what_makes_a_reference():
    levels = np.eye(2)[[0, 0, 1, 1]]
    found = rerank([0.9, 0.8, 0.7, 0.6], levels, np.eye(2), k=2, rho=0.1, ids=["a", "b", "c", "d"])
    assert found.ids.tolist() == ["a", "c"]
    labels = {"sex": ["man", "man", "woman", "woman"]}
    for given in (
        {"sex": {"woman": 0.5, "man": 0.5}},
        {"sex": ["woman", "man"]},
        pd.DataFrame({"sex": ["woman", "man"], "other": [1, 2]}),
        Reference.balanced({"sex": ["man", "woman"]}),
    ):
        assert rerank([0.9, 0.8, 0.7, 0.6], labels, given, k=2, rho=0.1).items.tolist() == [0, 2]


def test_a_fair_order_is_that_of_select():
    population, asked = reference(), request(6)
    candidates = {**asked["labels"], "score": asked["scores"], "person": asked["ids"]}
    problem = Problem.from_frames(candidates, population, score="score", attributes=ATTRIBUTES, k=10, id="person")
    found = rerank(**asked, reference=population, k=10, order="fair")
    assert told(found) == told(mprlib.select(problem, Mopr(nodes=NODES, order="fair"), "chance", "groups"))
    by_score = rerank(**asked, reference=population, k=10)
    assert found.ids.tolist() != by_score.ids.tolist() or found.message == by_score.message


def test_a_budget_of_nodes_keeps_the_best_set_so_far():
    population = reference()
    few = rerank(**request(5, 400), reference=population, k=25, rho=0.02, function_class="linear", nodes=1)
    many = rerank(**request(5, 400), reference=population, k=25, rho=0.02, function_class="linear")
    assert few.items.size == many.items.size == 25
    assert few.status in ("optimal", "feasible", "not_found")
    if few.status == "feasible":
        assert few.mpr <= 0.02
        assert few.similarity <= many.similarity_bound + 1e-12


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 151}, "k is 151: it must lie between 1 and the pool's 150 items"),
        ({"rho": -1}, "mopr's rho is -1"),
        ({"rho": "lucky"}, "mopr's rho is 'lucky': chance or a finite number of at least 0"),
        ({"function_class": "forest"}, "rho is 'chance', and forest is searched by a heuristic"),
        ({"order": "random"}, "order is 'random': one of score, fair is expected"),
        ({"nodes": 0}, "nodes is 0: a whole number"),
        ({"labels": {"gender": ["Male"] * 150}}, "labels has no column 'race'"),
        ({"labels": {"gender": ["Male"], "race": ["White"], "age": [30]}}, "labels has 1 row of levels, and"),
        ({"scores": [float("nan")] * 150}, "scores holds nan"),
        ({"scores": []}, "scores is empty"),
        ({"ids": ["a"] * 150}, "item_ids repeats 'a'"),
        ({"ids": ["a"]}, "item_ids has shape"),
        ({"reference": {"gender": ["Male", "Female"]}}, "reference has no column 'race'"),
        ({"reference": Reference.of(np.eye(2))}, "reference was made of an array of labels"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(changes, message):
    with pytest.raises(InputError, match=message):
        rerank(**{**request(1), "reference": reference(), "k": 10, **changes})


def test_a_service_is_not_warned_at_each_request():
    population = reference()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer(1, population, "linear")


def test_problems_are_not_kept_with_the_reference():
    population = reference()
    answer(1, population)
    gc.collect()
    before = population.kept.nbytes
    for seed in range(2, 12):
        answer(seed, population)
    assert population.kept.nbytes <= before + 1_000_000
