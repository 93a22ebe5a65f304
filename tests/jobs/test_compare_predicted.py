"""Two weeks whose labels are predicted: another labeller, or other knowledge of its errors, is no change of the engine.

Weeks are simulated: an engine's top k of people whose gender a classifier predicts, wrong for a known part. Corrected
shares are the inverse's, with a normal interval, so that a week costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from jobs.analysis.comparison.compare import Comparison, compare
from jobs.analysis.comparison.wording import to_json, to_markdown, to_text
from jobs.analysis.load import Chosen, Run
from jobs.analysis.systems.comparable import BY_PREDICTED_LABELS
from jobs.analysis.systems.compare import compare_systems
from jobs.analysis.systems.sides import Side

from .test_compare import ABOUT

PEOPLE, K, QUERIES = 600, 100, ("nurse", "chef", "pilot", "judge")
CASE = {"dataset": "photos", "reference": "stated", "k": K}
TRUE = np.random.default_rng(3).random(PEOPLE) < 0.5


def scores(lean: float = 0.0, seed: int = 0) -> np.ndarray:
    """Scores (queries, people); of the first query they lean to men."""
    found = np.random.default_rng(seed).standard_normal((len(QUERIES), PEOPLE))
    found[0] -= lean * TRUE
    return found


def predicted(error: float, seed: int) -> np.ndarray:
    return TRUE ^ (np.random.default_rng([seed, 7]).random(PEOPLE) < error)


def true_share(share: float, error: float) -> tuple[float, float]:
    """The true share of a level of which one part of labels is wrong, and half of its interval."""
    attenuation = 1.0 - 2.0 * error
    return (share - error) / attenuation, 1.96 * np.sqrt(error * (1.0 - error) / K) / attenuation


def result_of(query: str, women: float, error: float | None) -> dict[str, Any]:
    """What a row of results says of a query that shows this share of women."""
    low = high = mpr = None
    if error is not None:
        known, half = true_share(women, error)
        mpr, low, high = abs(known - 0.5), max(0.0, abs(known - 0.5) - half), abs(known - 0.5) + half
    return (
        {"unit": query, "prompt": query, "n_pool": PEOPLE, "reference_size": 1e4, "function_class": "groups"}
        | {"mpr": abs(women - 0.5), "chi": 1.0, "attention": "uniform", "status": "done", "rho": None, "p_rho": None}
        | {"similarity": 1.0, "similarity_top_k": 1.0, "precision": None, "mpr_chance": None}
        | {"mpr_corrected": mpr, "mpr_corrected_low": low, "mpr_corrected_high": high}
    )


def group_of(level: str, share: float, error: float | None) -> dict[str, Any]:
    """What a row of groups says of a gender that has this share."""
    true, low, high = None, None, None
    if error is not None:
        true, half = true_share(share, error)
        low, high = true - half, true + half
    return (
        {"group": f"gender={level}", "attributes": 1, "share_selected": share, "share_reference": 0.5}
        | {"p_chance": 0.5, "p_largest": 0.5, "largest_gap_chance": 0.1}
        | {"share_corrected": true, "share_corrected_low": low, "share_corrected_high": high}
        | {"share_reference_corrected": None if true is None else 0.5}
    )


def week(
    scored: np.ndarray, labels: np.ndarray, error: float | None, trained: dict[str, Any] | None = None, **attribute: Any
) -> Run:
    """A run of these labels. error: what is known of them; None for nothing."""
    rows, groups, chosen = [], [], []
    for query, own in zip(QUERIES, scored):
        items = np.argsort(-own, kind="stable")[:K]
        chosen.append([f"p{item}" for item in items])
        women = float(labels[items].mean())
        case = CASE | {"query": query, "method": "top_k", "parameter_value": None, "target_class": None}
        rows.append(case | result_of(query, women, error))
        groups += [case | group_of(*group, error) for group in (("female", women), ("male", 1.0 - women))]
    ids = sorted({item for own in chosen for item in own})
    labelled = {("photos", item): {"gender": "female" if labels[int(item[1:])] else "male"} for item in ids}
    settings: dict[str, Any] = {
        "dataset": [{"name": "photos", "attributes": {"gender": attribute}}],
        "reference": [{"name": "stated", "kind": "balanced"}],
        "k": [K],
        "function_classes": [{"name": "groups"}],
    }
    places = {item: number for number, item in enumerate(ids)}
    return Run(
        results=pd.DataFrame(rows),
        chosen=Chosen(
            ids=ids,
            codes=np.array([places[item] for own in chosen for item in own]),
            offsets=np.arange(len(QUERIES) + 1) * K,
        ),
        groups=pd.DataFrame(groups),
        items=pd.DataFrame(
            {"labels": list(labelled.values())},
            index=pd.MultiIndex.from_tuples(labelled, names=["dataset", "item_id"]),
        ),
        manifest={"settings": settings, "probes": [trained] if trained else [], "label_errors": []},
    )


def probe(accuracy: float) -> dict[str, Any]:
    return {"probe": "gender", "accuracy": accuracy, "temperature": accuracy}


def probed(scored: np.ndarray, error: float, seed: int, errors: str | None = "held_out") -> Run:
    labels, own = predicted(error, seed), {"probe": "gender", "errors": errors}
    return week(scored, labels, error if errors else None, probe(1.0 - error), **own)


def women(found: Comparison) -> pd.Series:
    return found.groups[found.groups["group"] == "gender=female"].set_index("query")["change_share"]


def test_a_probe_that_was_trained_anew_is_no_change_of_the_engine():
    # A quarter of the labels was wrong, and a twentieth is: every gap that there is grows by predicted labels.
    old, new = probed(scores(lean=1.0), 0.25, 1), probed(scores(lean=1.0), 0.05, 2)
    found = compare(old, new)
    nurse = found.cases.set_index("query").loc["nurse"]
    assert nurse["gap_rise"] > 0.05 and nurse["items_changed"] == 0
    assert not found.has_regression and not found.cases["is_moved"].any()
    assert nurse["may_be_labels"] and found.cases["do_labels_differ"].all()
    for said in (to_text(found, ABOUT), to_markdown(found, ABOUT)):
        assert "the probe gender was trained anew (75% of held-out items right in OLD, 95% in NEW)" in said
        assert "is then not the engine's" in said
        assert "by predicted labels, which errors of the labels may explain" in said


def test_label_errors_alone_are_no_regression_in_any_of_many_weeks():
    weeks = [
        compare(probed(scores(lean=0.6), 0.2, seed), probed(scores(lean=0.6), 0.1, 100 + seed)) for seed in range(4)
    ]
    assert sum(found.has_regression for found in weeks) == 0
    # False discoveries are held at 5%, and intervals are wide: hardly a week has one.
    assert sum(found.cases["is_moved"].any() for found in weeks) <= 1


def test_a_change_of_the_engine_is_found_through_a_new_labeller():
    old, new = probed(scores(), 0.1, 1), probed(scores(lean=2.0), 0.05, 2)
    found = compare(old, new)
    assert found.has_regression
    assert found.cases.set_index("query")["is_moved"].to_dict() == {query: query == "nurse" for query in QUERIES}
    assert women(found)["nurse"] < -0.25
    text = to_text(found, ABOUT)
    assert "by predicted labels; by the true ones largest gap" in text
    [worse] = to_json(found, ABOUT)["regressions"]
    assert worse["gap_corrected_rise"] > worse["gap_corrected_margin"] > 0


def test_without_values_by_the_true_labels_a_new_labeller_leaves_nothing_to_compare():
    for errors in ((None, None), (None, "held_out")):
        old, new = probed(scores(), 0.3, 1, errors[0]), probed(scores(lean=2.0), 0.05, 2, errors[1])
        found = compare(old, new)
        assert not found.has_regression and not found.cases["is_moved"].any()
        assert "nothing counts as moved or worse" in to_text(found, ABOUT)


def test_one_labeller_s_weeks_move_by_items_and_are_worse_by_the_true_labels():
    old, new = probed(scores(), 0.1, 1), probed(scores(lean=2.0), 0.1, 1)
    found = compare(old, new)
    assert found.has_regression and not found.cases["do_labels_differ"].any()
    assert "labels are predicted, by the same labeller in both runs" in to_text(found, ABOUT)
    # Errors of items in both selections cancel: less is left than the halves of both intervals.
    nurse = found.cases.set_index("query").loc["nurse"]
    assert 0 < nurse["gap_corrected_margin"] < np.sqrt(2) * 1.96 * np.sqrt(0.09 / K) / 0.8


def test_a_rise_within_the_errors_of_labels_is_no_regression():
    # Of few hand labels intervals are wide: what moved by predicted labels may be no change of the true ones.
    labels = predicted(0.1, 1)
    old, new = (week(scores(lean), labels, 0.1, confusion="c.csv") for lean in (0.0, 2.0))
    for run in (old, new):
        run.groups["share_corrected_low"] -= 0.5
        run.groups["share_corrected_high"] += 0.5
        run.results["mpr_corrected_low"], run.results["mpr_corrected_high"] = 0.0, 1.0
    found = compare(old, new)
    nurse = found.cases.set_index("query").loc["nurse"]
    assert nurse["is_moved"] and nurse["gap_rise"] > 0.05 and nurse["may_be_labels"]
    assert nurse["gap_corrected_rise"] < nurse["gap_corrected_margin"] and not found.has_regression


def test_what_a_new_labeller_makes_of_the_reference_is_no_rise():
    old, new = probed(scores(lean=2.0), 0.1, 1), probed(scores(lean=2.0), 0.05, 2)
    for run in (old, new):
        run.manifest["settings"]["reference"] = [{"name": "stated", "kind": "population"}]
    is_women = new.groups["group"] == "gender=female"
    for column in ("share_reference", "share_reference_corrected"):
        new.groups[column] = np.where(is_women, 0.65, 0.35)
    found = compare(old, new)
    assert not found.has_regression
    nurse = found.cases.set_index("query").loc["nurse"]
    assert nurse["gap_rise"] > 0.05 and abs(nurse["gap_corrected_rise"]) < 0.1


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"confusion": {"a": 0.9}}, {"confusion": {"a": 0.8}}, "confusion differs ({'a': 0.9} and {'a': 0.8})"),
        ({"column": "v1", "errors": "x"}, {"column": "v2", "errors": "x"}, "column differs (v1 and v2)"),
        ({}, {"hand_labels": "labels.csv"}, "hand_labels differs (none and labels.csv)"),
    ],
)
def test_other_knowledge_of_the_labels_is_said_and_not_refused(before: dict, after: dict, said: str):
    labels = predicted(0.1, 1)
    runs = [week(scores(), labels, 0.1, **own) for own in (before, after)]
    for run in runs:
        del run.manifest["label_errors"]  # type: ignore[attr-defined] # as earlier versions wrote it
    found = compare(*runs)
    assert found.labels.said == (f"dataset photos: labels of 'gender': {said}",)
    # The labels are the same but where another column has them.
    assert found.cases["do_labels_differ"].eq("column" in before).all()


def test_what_files_hold_counts_and_not_their_names():
    labels, stated = predicted(0.1, 1), {"role": "dataset", "name": "photos", "attribute": "gender", "sizes": [None]}
    runs: Sequence[Run] = [week(scores(), labels, 0.1, confusion=f"{name}.csv") for name in "abc"]
    for run, shares in zip(runs, (0.9, 0.9, 0.8)):
        run.manifest["label_errors"].append(stated | {"shares": [[shares, 1 - shares]]})
    assert compare(runs[0], runs[1]).labels.said == ()
    [said] = compare(runs[0], runs[2]).labels.said
    assert "what is known of their errors differs" in said


def test_items_that_were_labelled_anew_tell_of_another_classifier_behind_a_column():
    old, new = (week(scores(), predicted(0.1, seed), 0.1, confusion="c.csv") for seed in (1, 2))
    [said] = compare(old, new).labels.said
    assert "items that both runs show have another one in NEW" in said
    # Labels that nobody calls predicted are those of the items, and a new one is news.
    old, new = (week(scores(), predicted(0.1, seed), None) for seed in (1, 2))
    found = compare(old, new)
    assert found.labels.said == () and not found.cases["is_predicted"].any()
    assert (found.cases["items_changed"] > 0).all()


def test_two_systems_by_predicted_labels_are_said_to_be_so():
    sides = [Side.of(probed(scores(), 0.1, seed), None) for seed in (1, 2)]
    assert BY_PREDICTED_LABELS in compare_systems(*sides, minimum_share=0.01).remarks
    plain = [Side.of(week(scores(), predicted(0.1, 1), None), None) for _ in range(2)]
    assert BY_PREDICTED_LABELS not in compare_systems(*plain, minimum_share=0.01).remarks
