"""Another labeller is concluded from many labels, and neither chance nor a few labels then make or hide a move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from jobs.analysis.comparison.compare import Comparison, compare
from jobs.analysis.comparison.wording import change_sentence, to_text
from jobs.analysis.load import Run
from jobs.errors import UsageError

from . import test_compare_predicted
from .test_compare import ABOUT
from .test_compare_predicted import PEOPLE, QUERIES, TRUE, predicted, probe, scores, week

# Queries of a pair of weeks in which nothing changed but the scores' noise and the labeller. At a level of 5% four of
# them are expected below it, and nine or more come in one of fifty such weeks.
NOISY, MOST = 80, 8
# Whose errors a manifest states.
ERRORS = {"role": "dataset", "name": "photos", "attribute": "gender", "sizes": [None]}


@pytest.fixture
def noise(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Scores of two weeks of many queries, each week with noise of its own."""
    monkeypatch.setattr(test_compare_predicted, "QUERIES", [f"q{number}" for number in range(NOISY)])
    return [np.random.default_rng([2, side]).standard_normal((NOISY, PEOPLE)) for side in range(2)]


def labelled(scored: np.ndarray, error: float, seed: int) -> Run:
    """A week by a probe that was trained for it."""
    return week(scored, predicted(error, seed), error, probe(1.0 - error) | {"trained": seed}, probe="gender")


def assert_within_chance(found: Comparison) -> None:
    assert found.cases["do_labels_differ"].all() and (found.cases["items_changed"] > 20).all()
    assert (found.cases["p_value"] <= found.level).sum() <= MOST
    assert not found.cases["is_moved"].any() and not found.has_regression


@pytest.mark.parametrize(("before", "after"), [(0.02, 0.01), (0.1, 0.05), (0.0, 0.0)])
def test_items_exchanged_by_chance_are_no_move_under_another_labeller(noise, before: float, after: float):
    assert_within_chance(compare(labelled(noise[0], before, 1), labelled(noise[1], after, 2)))


def test_a_rare_group_of_which_a_few_more_are_shown_did_not_move(noise):
    labels = np.random.default_rng(5).random(PEOPLE) < 0.01
    old, new = (
        week(scored, labels, 0.0, probe(0.9) | {"trained": side}, probe="gender") for side, scored in enumerate(noise)
    )
    assert_within_chance(compare(old, new))


def test_a_fall_of_women_is_found_where_labels_are_right():
    found = compare(labelled(scores(), 0.0, 1), labelled(scores(lean=2.0), 0.0, 2))
    assert found.has_regression
    assert found.cases.set_index("query")["is_moved"].to_dict() == {query: query == "nurse" for query in QUERIES}


def test_the_same_items_are_no_move_whatever_their_labels_become():
    found = compare(*(week(scores(), TRUE ^ flip, 0.0, column=str(flip), errors="x") for flip in (False, True)))
    assert not found.cases["is_moved"].any() and not found.has_regression


def fall_of_women(relabelled: int, people: int = PEOPLE, **attribute: Any) -> Comparison:
    """Women fall from 50% to 20% of those shown for a query, and some people of both weeks have another label."""
    labels = predicted(0.1, 1)
    trained = probe(0.9) if "probe" in attribute else None
    old, new = (week(scores(lean), labels, None, trained, **attribute) for lean in (0.0, 2.0))
    common = sorted(set(old.items.index) & set(new.items.index))[:people]
    for side in (old, new):
        kept = side.items.index.isin(common) | (people == PEOPLE)
        object.__setattr__(side, "items", side.items[kept].copy())
    for key in common[:relabelled]:
        other = {"female": "male", "male": "female"}[new.items.loc[key, "labels"]["gender"]]
        new.items.at[key, "labels"] = {"gender": other}
    return compare(old, new)


@pytest.mark.parametrize("relabelled", [0, 1, 40])
def test_a_probe_that_is_the_same_is_one_labeller_whatever_it_calls_an_item(relabelled: int):
    found = fall_of_women(relabelled, probe="gender")
    assert found.labels.said == () and found.has_regression
    assert "by the same labeller in both runs" in to_text(found, ABOUT)


def test_a_column_with_a_few_other_labels_is_one_labeller_s():
    for relabelled in (0, 1, 5):
        found = fall_of_women(relabelled, column="gender", errors="held_out")
        assert found.labels.said == () and found.has_regression
    found = fall_of_women(40, column="gender", errors="held_out")
    assert "40 of the 2" in found.labels.said[0] and not found.has_regression


@pytest.mark.parametrize(("people", "said"), [(20, ""), (1, "1 of the 1 item that both runs show has another one")])
def test_one_item_of_few_is_no_other_labeller_and_its_message_agrees_in_number(people: int, said: str):
    found = fall_of_women(1, people, column="gender", errors="held_out")
    assert said in "".join(found.labels.said) and bool(found.labels.said) == bool(said)


@pytest.mark.parametrize("known", [None, 0.1])
def test_hand_labels_that_are_added_hide_no_fall_of_those_shown(known: float | None):
    """The labels are the same: a query moves by its items, and is worse by them where true values are not known."""
    labels = predicted(0.1, 1)
    old = week(scores(), labels, known)
    new = week(scores(lean=2.0), labels, 0.1, hand_labels="labels.csv")
    new.manifest["label_errors"] = [ERRORS | {"shares": [[0.9, 0.1], [0.1, 0.9]]}]
    found = compare(old, new)
    assert found.has_regression and not found.cases["do_labels_differ"].any()
    assert found.cases.set_index("query")["is_moved"].to_dict() == {query: query == "nurse" for query in QUERIES}
    text = to_text(found, ABOUT)
    assert "what is known of their errors differs" in text and "queries move by their items" in text


def test_a_confusion_that_is_revised_moves_nothing(noise):
    labels = predicted(0.1, 1)
    old, new = (week(scored, labels, error, confusion={"a": error}) for scored, error in zip(noise, (0.1, 0.15)))
    for run, error in ((old, 0.1), (new, 0.15)):
        run.manifest["label_errors"] = [ERRORS | {"shares": [[1 - error, error], [error, 1 - error]]}]
    found = compare(old, new)
    assert found.labels.said and not found.cases["is_moved"].any() and not found.has_regression
    # What is known differs, so that no errors cancel.
    margins = found.cases["gap_corrected_margin"].to_numpy()
    both = np.hypot(*(1.96 * np.sqrt(one * (1 - one) / 100) / (1 - 2 * one) for one in (0.1, 0.15)))
    assert margins == pytest.approx(np.full(NOISY, both))


def against(run: Run, reference: dict[str, Any]) -> Run:
    run.manifest["settings"]["reference"] = [{"name": "stated", **reference}]
    return run


@pytest.mark.parametrize(
    "reference",
    [{"kind": "shares", "path": "x.csv"}, {"kind": "dataset", "dataset": {"name": "b", "attributes": {"gender": {}}}}],
)
def test_another_reference_is_refused_under_another_labeller_of_the_items_too(reference: dict[str, Any]):
    old, new = (against(labelled(scores(), error, seed), reference) for error, seed in ((0.1, 1), (0.05, 2)))
    assert compare(old, new).cases["do_labels_differ"].all()
    new.groups["share_reference"] = np.where(new.groups["group"] == "gender=female", 0.9, 0.1)
    with pytest.raises(UsageError, match="reference stated differs"):
        compare(old, new)
    for run in (old, new):
        against(run, {"kind": "population"})
    assert compare(old, new).cases["do_labels_differ"].all()


@pytest.mark.parametrize(("seed", "is_said"), [(1, True), (2, False)])
def test_another_list_is_not_said_to_have_moved_where_another_labeller_labelled_it(seed: int, is_said: bool):
    old, new = (against(labelled(scores(), 0.1, one), {"kind": "results"}) for one in (1, seed))
    new.groups["share_reference"] = np.where(new.groups["group"] == "gender=female", 0.6, 0.4)
    found = compare(old, new)
    assert any("reference stated is what another engine showed" in one for one in found.remarks) == is_said
    assert found.cases["do_labels_differ"].all() != is_said


@pytest.mark.parametrize("lean", [0.0, 2.0])
def test_another_labeller_of_the_reference_alone_hides_no_fall_of_those_shown(lean: float):
    own = [{"name": "b", "attributes": {"gender": {"column": name, "errors": "x"}}} for name in ("one", "other")]
    old, new = (
        against(week(scored, TRUE, None), {"kind": "dataset", "dataset": block})
        for scored, block in zip((scores(), scores(lean)), own)
    )
    new.groups["share_reference"] = np.where(new.groups["group"] == "gender=female", 0.6, 0.4)
    found = compare(old, new)
    text = to_text(found, ABOUT)
    assert found.has_regression == (lean > 0)
    assert "nothing counts" not in text and "from the mean of both references" in text
    assert ", by predicted labels" not in text.partition("regressions,")[0]


def test_shares_of_a_group_that_nobody_predicts_are_not_said_to_be_predicted():
    old, new = (labelled(scores(lean), 0.1, seed) for lean, seed in ((0.0, 1), (2.0, 2)))
    for run in (old, new):
        run.manifest["settings"]["dataset"][0]["attributes"] |= {"age": {}}
        run.items["labels"] = [labels | {"age": "old"} for labels in run.items["labels"]]
        ages = run.groups[run.groups["group"] == "gender=female"].assign(group="age=old")
        object.__setattr__(run, "groups", pd.concat([run.groups, ages], ignore_index=True))
    found = compare(old, new)
    marks = found.groups.set_index("group")["is_predicted"].to_dict()
    assert marks["gender=female"] and not marks["age=old"]


def test_what_entered_and_left_agrees_in_number():
    change = {"dataset": "a", "items_old": 2, "items_new": 1, "entered": 1, "left": 2}
    assert change_sentence(change) == "1 of the 1 item of data set a is new, and 2 of the 2 before are gone."
    assert change_sentence(change | {"entered": 0, "left": 0}) == "No item entered or left data set a (1 item)."
