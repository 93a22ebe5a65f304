import numpy as np
import pytest

import mprlib
from mprlib import InputError, Problem

# Scores are first columns: the query is the first axis.
ITEMS = np.array([[0.9, 0.1], [0.8, 0.6], [0.1, 0.9], [0.2, 0.95]])


def problem_of(embeddings=ITEMS, k=2) -> Problem:
    rows = np.ones((len(embeddings), 1))
    return Problem(scores=embeddings[:, 0], labels=rows, reference=rows, k=k, embeddings=embeddings)


def test_ranks_by_the_debiased_query_and_reports_the_original_similarity():
    """Along (0, 1) items 3 and 2 are best; to the query itself they have 0.2 and 0.1."""
    selection = mprlib.select(problem_of(), "debias_clip", debiased_query=[0.0, 1.0])
    assert selection.items.tolist() == [3, 2]
    assert selection.similarity == pytest.approx(0.15)


def test_the_original_query_gives_top_k():
    problem = problem_of()
    top = mprlib.select(problem, "top_k")
    for length in (1.0, 7.0):
        assert mprlib.select(problem, "debias_clip", debiased_query=[length, 0.0]).items.tolist() == top.items.tolist()


def test_equal_merits_go_by_similarity_and_then_by_position():
    vectors = np.array([[0.1, 0.5], [0.3, 0.5], [0.3, 0.5]])
    assert mprlib.select(problem_of(vectors), "debias_clip", debiased_query=[0.0, 1.0]).items.tolist() == [1, 2]


@pytest.mark.parametrize("query", [[1.0], [1.0, np.nan], [0.0, 0.0], [[1.0, 0.0]], ["a", "b"]])
def test_a_debiased_query_that_cannot_rank(query):
    with pytest.raises(InputError, match="debiased_query"):
        mprlib.select(problem_of(), "debias_clip", debiased_query=query)
