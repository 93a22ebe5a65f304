"""Two weeks of what an engine showed: what moved by the engine's own order, and what that is due to."""

import json
from pathlib import Path

import pandas as pd
import pytest

from jobs.analysis.comparison.causes import CAUSES
from jobs.cli import main

from .audits import write

# The engine shows men first in the later week, though no score changed.
PEOPLE = pd.DataFrame({"id": [f"p{number:02}" for number in range(40)], "gender": ["woman", "man"] * 20})


def shown(leans: bool, depth: int = 40) -> pd.DataFrame:
    order = PEOPLE.sort_values("gender", kind="stable") if leans else PEOPLE
    scores = {item: 1.0 - 0.01 * number for number, item in enumerate(PEOPLE["id"])}
    items = order["id"].tolist()[:depth]
    return pd.DataFrame(
        {"query": "nurse", "item": items, "rank": range(1, depth + 1), "score": [scores[item] for item in items]}
    )


def weeks(folder: Path, old: pd.DataFrame, new: pd.DataFrame, *methods: list[str], **changes) -> list[str]:
    """Folders of both weeks' runs, with the methods of each."""
    folders = []
    for name, listed, own in zip(("old", "new"), (old, new), methods):
        path = write(folder, listed, PEOPLE, methods=own, **changes)
        folders.append(str(folder / name))
        assert main(["run", str(path), "--output", folders[-1], "--json"]) == 0
    return folders


@pytest.mark.parametrize("methods", [["as_shown"], ["as_shown", "top_k"]])
def test_what_an_engine_showed_moved_by_its_own_order_whatever_the_scores_say(tmp_path, capsys, methods):
    folders = weeks(tmp_path, shown(False), shown(True), methods, methods, k=16)
    capsys.readouterr()
    assert main(["compare", *folders, "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    # 8 of the first 16 were men, and all are now: of the items that were there, at other places.
    [men] = found["moved_groups"]
    assert (men["group"], men["change_share"]) == ("gender=man", 0.5)
    assert [men[f"due_to_{cause}"] for cause in CAUSES] == pytest.approx([0.0, 0.5, 0.0])
    [change] = found["data_changes"]
    assert (change["items_old"], change["items_new"], change["entered"], change["left"]) == (40, 40, 0, 0)


def test_what_was_shown_is_not_compared_with_what_is_most_similar(tmp_path, capsys):
    folders = weeks(tmp_path, shown(True), shown(True), ["top_k"], ["as_shown", "top_k"], k=16)
    capsys.readouterr()
    assert main(["compare", *folders]) == 2
    assert "what is audited differs (top_k in OLD and as_shown in NEW)" in capsys.readouterr().err


def test_a_list_that_is_longer_now_is_the_same_query_at_another_k(tmp_path, capsys):
    methods = ["as_shown"]
    folders = weeks(tmp_path, shown(False), shown(False, depth=39), methods, methods, k=[16, "all"])
    capsys.readouterr()
    assert main(["compare", *folders]) == 0
    text = capsys.readouterr().out
    assert "only in OLD: nurse (k = 40)" in text and "only in NEW: nurse (k = 39)" in text


def test_whole_lists_that_all_have_another_length_are_said_to_be_so(tmp_path, capsys):
    methods = ["as_shown"]
    folders = weeks(tmp_path, shown(False), shown(False, depth=39), methods, methods, k=["all"])
    capsys.readouterr()
    assert main(["compare", *folders]) == 2
    said = capsys.readouterr().err
    assert "share no query at one k ('nurse' has k = 40 in OLD and 39 in NEW)" in said and "such as 39" in said


@pytest.mark.parametrize(("depth", "is_said"), [(39, False), (18, True)])
def test_lists_of_two_lengths_compare_by_gaps_where_mpr_depends_on_them(tmp_path, capsys, depth, is_said):
    methods, reference = ["as_shown"], {"kind": "balanced", "size": 40}
    changes = {"k": 16, "function_classes": ["groups", "linear"], "reference": reference}
    folders = weeks(tmp_path, shown(False), shown(True, depth=depth), methods, methods, **changes)
    capsys.readouterr()
    assert main(["compare", *folders, "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert [remark.split(",")[0] for remark in found["remarks"] if "is not compared" in remark] == [
        "MPR under linear is not compared for 1 of 1 cases"
    ][:is_said]
    # Shares of people do not depend on sizes.
    [worse] = found["regressions"]
    assert (worse["gap_old"], worse["gap_new"]) == (0.0, 0.5)
    assert not is_said or worse["function_class"] == "groups"


def test_mpr_that_does_not_compare_has_no_numbers(tmp_path, capsys):
    methods, reference = ["as_shown"], {"kind": "balanced", "size": 40}
    changes = {"k": 16, "function_classes": ["linear"], "reference": reference}
    folders = weeks(tmp_path, shown(False), shown(True, depth=18), methods, methods, **changes)
    capsys.readouterr()
    assert main(["compare", *folders, "--markdown", str(tmp_path / "note.md")]) == 4
    text = capsys.readouterr().out
    assert "largest gap 0.0 points before" in text and "MPR under linear is not compared for 1 of 1 cases" in text
    assert "nan" not in text + (tmp_path / "note.md").read_text() and "MPR under nan" not in text


def test_two_methods_of_one_run_have_similarities_that_compare(tmp_path, capsys):
    [folder] = weeks(tmp_path, shown(True), shown(True), ["as_shown", "top_k"], k=16)
    capsys.readouterr()
    assert main(["compare", folder, "--methods", "as_shown", "top_k", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    [similarity] = [one for one in found["measures"] if one["measure"] == "similarity"]
    means = (sum(range(1, 32, 2)) / 16, sum(range(16)) / 16)
    assert (similarity["mean_a"], similarity["mean_b"]) == pytest.approx([1.0 - 0.01 * mean for mean in means])
    assert not any("similarity is not compared" in remark for remark in found["remarks"])


def targets(folder: Path, **women: float) -> dict[str, str]:
    """A reference of each query's own share of women."""
    rows = [(query, "gender", level, share) for query, one in women.items() for level, share in
            (("woman", one), ("man", 1 - one))]  # fmt: skip
    table = pd.DataFrame(rows, columns=["query", "attribute", "level", "share"])
    path = folder / f"{'-'.join(women)}-{sum(women.values())}.csv"
    table.to_csv(path, index=False)
    return {"name": "labour", "kind": "shares", "path": path.name}


def test_a_target_of_each_query_is_compared_with_its_own(tmp_path, capsys):
    def run_of(name: str, queries: list[str], reference: dict[str, str]) -> str:
        listed = pd.concat([shown(False).assign(query=query) for query in queries])
        path = write(tmp_path, listed, PEOPLE, methods=["as_shown"], k=16, reference=reference)
        assert main(["run", str(path), "--output", str(tmp_path / name), "--json"]) == 0
        return str(tmp_path / name)

    old = run_of("old", ["chef", "nurse"], targets(tmp_path, chef=0.25, nurse=0.75))
    # Another query comes first, with a target of its own.
    other = run_of("other", ["actor", "nurse"], targets(tmp_path, actor=0.5, nurse=0.75))
    changed = run_of("changed", ["chef", "nurse"], targets(tmp_path, chef=0.25, nurse=0.5))
    capsys.readouterr()
    assert main(["compare", old, other]) == 0
    capsys.readouterr()
    assert main(["compare", old, changed]) == 2
    assert "gender=man was 25% of it and is 50%, asked for 'nurse'" in capsys.readouterr().err
