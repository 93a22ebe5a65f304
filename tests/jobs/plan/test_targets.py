"""Targets of each query: read, checked, and compared with."""

import json

import pytest

from tests.jobs.lists.audits import SHOWN, notes, refused, run, shares, table, write

HEADER = "query,attribute,level,share"
NURSE = ["nurse,gender,woman,0.9", "nurse,gender,man,0.1"]
CHEF = ["chef,gender,woman,0.25", "chef,gender,man,0.75"]


def audit(folder, lines, header=HEADER, **changes):
    (folder / "targets.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return write(folder, SHOWN, reference={"name": "labour", "kind": "shares", "path": "targets.csv"}, **changes)


def test_each_query_is_compared_with_its_own(tmp_path):
    path = audit(tmp_path, [*CHEF, *NURSE])
    run(path)
    assert shares(path, "gender=woman") == {
        ("nurse", 2): (1.0, pytest.approx(0.9)),
        ("chef", 2): (0.0, pytest.approx(0.25)),
    }


def test_queries_without_a_target_are_listed(tmp_path):
    path = audit(tmp_path, [*NURSE, "pilot,gender,woman,0.1", "pilot,gender,man,0.9"])
    assert run(path)["query"].unique().tolist() == ["nurse"]
    assert any("1 query of 2 without a target, not compared with it: 'chef'" in note for note in notes(path))
    assert any("targets of 1 query not asked: 'pilot'" in note for note in notes(path))


def test_joint_shares_and_sizes(tmp_path):
    shown = SHOWN.assign(
        gender=["woman", "woman", "man", "woman", "man", "man", "woman"], age=["old", "young"] * 3 + ["old"]
    )
    shown["item"] = [f"i{row}" for row in range(len(shown))]
    lines = [f'nurse,gender & age,"{level}",{share},400' for level, share in (
        ("woman & old", 0.5), ("woman & young", 0.2), ("man & old", 0.3),
    )]  # fmt: skip
    (tmp_path / "targets.csv").write_text("\n".join([f"{HEADER},size", *lines]) + "\n", encoding="utf-8")
    path = write(tmp_path, shown, None, reference={"kind": "shares", "path": "targets.csv"}, results={
        "path": "list.csv", "item": "item", "rank": "rank", "attributes": {"gender": {}, "age": {}},
    })  # fmt: skip
    rows = run(path)
    assert shares(path, "gender=woman")["nurse", 2] == (1.0, pytest.approx(0.7))
    assert rows["reference_size"].tolist() == [400.0]
    crossed = table(path, "groups").set_index("group")["share_reference"]
    assert crossed["gender=man & age=old"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("lines", "header", "expected"),
    [
        (["nurse,gender,woman,0.9"], HEADER, "shares of 'gender' sum to 0.9"),
        (
            [*NURSE, "nurse,gender,woman,0.9"],
            HEADER,
            "the gender 'woman' of query 'nurse' has a second share in row 3 of",
        ),
        (["nurse,gender,woman,1.5"], HEADER, "column 'share' has 1.5 in row 1 of"),
        (["nurse,gender,woman,half"], HEADER, "column 'share' holds 'half' in row 1 of"),
        (["nurse,sex,woman,1"], HEADER, "'sex'"),
        (["nurse,gender,girl,1"], HEADER, "nobody in dataset people has the gender 'girl'"),
        (["nurse,gender,woman,1"], "query,attribute,level,part", "lacks the column 'share'"),
        (["pilot,gender,woman,1"], HEADER, "no query has a target"),
        (
            ["nurse,gender,woman,0.9,10", "nurse,gender,man,0.1,20"],
            f"{HEADER},size",
            "another value for query 'nurse' in row 2",
        ),
        (
            ["nurse,gender,woman,0.9,0", "nurse,gender,man,0.1,0"],
            f"{HEADER},size",
            "column 'size' has 0 in row 1 of",
        ),
    ],
)
def test_a_file_that_is_no_target_is_one_sentence(tmp_path, capsys, lines, header, expected):
    message = refused(audit(tmp_path, lines, header), capsys)
    assert expected in message and "reference" in message


def test_the_query_of_a_bad_target_is_named(tmp_path, capsys):
    assert "target of query 'chef'" in refused(audit(tmp_path, [*NURSE, "chef,gender,woman,0.5"]), capsys)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ({"kind": "shares"}, "shares go with"),
        ({"kind": "balanced", "path": "targets.csv"}, "shares go with"),
        ({"kind": "shares", "path": "targets.csv", "shares": {"gender": {"man": 1}}}, "one of shares and path"),
    ],
)
def test_a_path_goes_with_shares_alone(tmp_path, capsys, reference, expected):
    assert expected in refused(write(tmp_path, SHOWN, reference=reference), capsys)


def test_another_target_leaves_the_other_queries_selections(tmp_path, capsys):
    run(audit(tmp_path, [*NURSE, *CHEF]))
    run(audit(tmp_path, [*NURSE, "chef,gender,woman,0.5", "chef,gender,man,0.5"]))
    # The reference of one query, and its selection.
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["computed"] == 2
