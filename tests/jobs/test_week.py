"""What a moved group owes to items that came and went, and to new scores and labels of the others."""

import json

import numpy as np
import pandas as pd
import pytest

from jobs.analysis.comparison.causes import CAUSES, Pooled, parts_of_moves
from jobs.cli import main

from .conftest import DIMENSION, write_audit

F, M = (("gender", "female"),), (("gender", "male"),)
GROUP = "gender=female"


def pooled(items, common):
    """A pool of (id, score, labels), the best first."""
    items = sorted(items, key=lambda item: (-item[1], item[0]))
    ids, scores, labels = zip(*items)
    return Pooled(ids=ids, scores=np.array(scores), labels=labels, is_common=np.array([one in common for one in ids]))


def parts(old, new, k):
    common = {item[0] for item in old} & {item[0] for item in new}
    found = parts_of_moves(pooled(old, common), pooled(new, common), k, [GROUP])[GROUP]
    return [found[cause] for cause in CAUSES]


def test_new_items_alone():
    old = [("a", 0.9, M), ("b", 0.8, M), ("c", 0.7, F)]
    assert parts(old, [*old, ("d", 0.95, F)], 2) == pytest.approx([0.5, 0, 0])


def test_removed_items_alone():
    old = [("a", 0.9, M), ("b", 0.8, M), ("c", 0.7, F)]
    assert parts(old, old[1:], 2) == pytest.approx([0.5, 0, 0])


def test_new_scores_alone():
    old = [("a", 0.9, M), ("b", 0.8, M), ("c", 0.7, F)]
    assert parts(old, [("a", 0.9, M), ("b", 0.6, M), ("c", 0.7, F)], 2) == pytest.approx([0, 0.5, 0])


def test_new_labels_alone():
    old = [("a", 0.9, M), ("b", 0.8, M), ("c", 0.7, F)]
    assert parts(old, [("a", 0.9, F), *old[1:]], 2) == pytest.approx([0, 0, 0.5])


def test_either_would_do_and_each_has_half():
    """k = 1: the new woman d passes the man a, and so does the woman c whose score rose: either would do."""
    old = [("a", 0.9, M), ("c", 0.7, F)]
    assert parts(old, [("a", 0.9, M), ("c", 0.95, F), ("d", 0.99, F)], 1) == pytest.approx([0.5, 0.5, 0])


def test_only_together_and_each_has_half():
    """k = 1: the woman c is best once a's score falls and b is gone."""
    old = [("a", 0.9, M), ("b", 0.8, M), ("c", 0.7, F)]
    assert parts(old, [("a", 0.1, M), ("c", 0.7, F)], 1) == pytest.approx([0.5, 0.5, 0])


def test_parts_sum_to_the_move():
    generator = np.random.default_rng(3)

    def draw(names):
        return [(name, float(generator.random()), (F, M)[generator.integers(2)]) for name in names]

    for _ in range(50):
        old, new = draw("abcdefgh"), draw("defghijkl")
        shares = [
            sum(labels == F for _, _, labels in sorted(side, key=lambda item: (-item[1], item[0]))[:3]) / 3
            for side in (old, new)
        ]
        assert sum(parts(old, new, 3)) == pytest.approx(shares[1] - shares[0])


def table(entered: int) -> pd.DataFrame:
    """Men near the queries; women who enter are nearer."""
    generator = np.random.default_rng(5)
    vectors = generator.standard_normal((300, DIMENSION))
    gender = generator.choice(["female", "male"], 300, p=[0.3, 0.7])
    vectors[:entered, 0] += 6
    gender[:entered] = "female"
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return pd.DataFrame(
        {
            "person": [f"{'new' if number < entered else 'p'}{number:03d}" for number in range(300)],
            "gender": gender,
            "age": generator.integers(18, 90, 300),
            "job": "nurse",
            "weight": 1.0,
            "embedding": list(vectors.astype(np.float32)),
        }
    )


def test_compare_says_what_entered_and_what_it_moved(tmp_path, capsys):
    changes = {"k": [40], "methods": ["top_k"], "prefilter": {"top": 200}, "function_classes": ["linear"]}
    changes["reference"] = {"kind": "balanced"}
    for name, entered in (("old", 0), ("new", 60)):
        path = write_audit(tmp_path, table(entered), **changes)
        assert main(["run", str(path), "--output", str(tmp_path / name), "--json"]) == 0
    capsys.readouterr()
    folders = [str(tmp_path / name) for name in ("old", "new")]
    main(["compare", *folders, "--json"])
    found = json.loads(capsys.readouterr().out)
    [change] = found["data_changes"]
    assert (change["entered"], change["left"], change["items_old"], change["items_new"]) == (60, 60, 300, 300)
    moved = [row for row in found["moved_groups"] if "female" in row["group"]]
    assert moved
    for row in moved:
        causes = [row[f"due_to_{cause}"] for cause in CAUSES]
        assert sum(causes) == pytest.approx(row["change_share"])
        assert causes[0] == pytest.approx(row["change_share"])
    main(["compare", *folders, "--markdown", str(tmp_path / "found.md")])
    text = capsys.readouterr().out
    assert "60 of the 300 items of data set" in text and "from items that came or went" in text
    assert "| Due to |" in (tmp_path / "found.md").read_text()
    # Without the pools the same comparison has no causes, and says so.
    for pool in (tmp_path / "old" / "units" / "pool").rglob("*.parquet"):
        pool.unlink()
    main(["compare", *folders])
    text = capsys.readouterr().out
    assert "items that came or went" not in text and "items that entered or left are not known" in text
