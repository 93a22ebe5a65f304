"""Each query's order and similarities, solved by hand, and what is no result list in one sentence."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from jobs.errors import UsageError
from jobs.lists import load
from jobs.lists.ranking import Shown
from jobs.lists.table import ResultTable
from jobs.lists.trec import TrecRun

COLUMNS = {"query": "q", "item": "item", "rank": "rank", "score": "score"}


def shown(folder: Path, text: str, encoding: str = "utf-8", **columns: str) -> Shown:
    (folder / "list.csv").write_bytes(text.encode(encoding))
    header = text.removeprefix("\ufeff").splitlines()[0].split(",")
    named = {setting: name for setting, name in COLUMNS.items() if name in header} | columns
    return load(ResultTable(path="list.csv", **named), folder)


def lists(found: Shown) -> dict[str, list[str]]:
    names = found.items.take(found.codes).to_pylist()
    return {query: names[start:stop] for query, start, stop in zip(found.queries, found.starts, found.starts[1:])}


@pytest.mark.parametrize("base", [0, 1])
def test_ranks_from_0_or_1_give_the_discount_of_dcg(tmp_path, base):
    rows = [f"nurse,{name},{base + at}" for at, name in enumerate("abc")]
    found = shown(tmp_path, "\n".join(["q,item,rank", *reversed(rows)]))
    assert lists(found) == {"nurse": ["a", "b", "c"]}
    assert found.places.tolist() == [1, 2, 3]
    assert found.similarities == pytest.approx([1, 1 / np.log2(3), 0.5])


def test_one_list_from_0_makes_the_others_begin_there_too(tmp_path):
    found = shown(tmp_path, "q,item,rank\nnurse,a,0\nchef,b,2\n")
    assert found.places.tolist() == [1, 3]


def test_a_gap_is_a_place_that_was_seen(tmp_path):
    found = shown(tmp_path, "q,item,rank\nnurse,a,1\nnurse,b,4\n")
    assert found.similarities == pytest.approx([1, 1 / np.log2(5)])


def test_ties_go_by_id_without_scores_and_by_score_with_them(tmp_path):
    found = shown(tmp_path, "q,item,rank\nnurse,b,1\nnurse,a,1\nnurse,c,2\n")
    assert lists(found) == {"nurse": ["a", "b", "c"]}
    assert found.similarities[0] == found.similarities[1]
    assert any("1 item share a rank" in remark and "row 1 of" in remark for remark in found.remarks)
    found = shown(tmp_path, "q,item,rank,score\nnurse,b,1,0.9\nnurse,a,1,0.8\nnurse,c,2,0.1\n")
    assert lists(found) == {"nurse": ["b", "a", "c"]}


def test_scores_alone_order_and_are_the_similarity(tmp_path):
    found = shown(tmp_path, "q,item,score\nnurse,a,-1\nnurse,b,2.5\nchef,c,7\n")
    assert lists(found) == {"nurse": ["b", "a"], "chef": ["c"]}
    assert found.similarities.tolist() == [2.5, -1, 7]


def test_ranks_order_where_scores_say_otherwise_and_a_remark_says_so(tmp_path):
    found = shown(tmp_path, "q,item,rank,score\nnurse,a,1,0.9\nnurse,b,2,0.5\nnurse,c,3,0.6\nnurse,d,4,0.1\n")
    assert lists(found) == {"nurse": ["a", "b", "c", "d"]}
    assert any("0.6 in row 3" in remark and "as_shown goes by rank" in remark for remark in found.remarks)


def test_neither_rank_nor_score_is_the_order_of_the_file(tmp_path):
    found = shown(tmp_path, "q,item\nnurse,b\nnurse,a\n")
    assert lists(found) == {"nurse": ["b", "a"]}
    assert any("the order of the rows" in remark for remark in found.remarks)


def test_of_an_item_that_is_shown_twice_the_first_place_counts(tmp_path):
    found = shown(tmp_path, "q,item,rank\nnurse,a,3\nnurse,b,2\nnurse,a,1\nchef,a,5\n")
    assert lists(found) == {"nurse": ["a", "b"], "chef": ["a"]}
    assert found.places.tolist() == [1, 2, 5]
    assert any("1 row shows an item again" in remark and "row 1 of" in remark for remark in found.remarks)


def test_rows_without_an_item_are_items_of_their_own(tmp_path):
    found = shown(tmp_path, "q,rank\nnurse,0\nnurse,2\nchef,0\n")
    assert found.items.to_pylist() == ["nurse/0", "nurse/2", "chef/0"]
    found = shown(tmp_path, "q,rank\nnurse,1\nnurse,1\n")
    assert found.items.to_pylist() == ["nurse/1", "nurse/2"]


def test_a_mark_of_byte_order_is_no_part_of_a_name(tmp_path):
    assert lists(shown(tmp_path, "\ufeffq,item,rank\nnurse,a,1\n")) == {"nurse": ["a"]}


@pytest.mark.parametrize(
    ("text", "encoding", "expected"),
    [
        ("q;item;rank\nnurse;a;1\n", "utf-8", "list.csv has ';' between its fields"),
        ("q,item,rank\nnurse,a,1\ninfirmi\u00e8re,b,2\n", "latin-1", "list.csv:3: column 'q' holds"),
        ("q,item,rank\nnurse,a,1\nnurse,b,second\n", "utf-8", "column 'rank' holds 'second' in row 2 of "),
        ("q,item,rank\nnurse,a,1\nnurse,b,\n", "utf-8", "column 'rank' has no value in row 2 of "),
        ("q,item,rank\nnurse,a,-1\n", "utf-8", "column 'rank' has -1 in row 1 of "),
        ("q,item,rank\nnurse,,1\n", "utf-8", "column 'item' has no value in row 1 of "),
        ("q,item,rank\n ,a,1\n", "utf-8", "column 'q' has no value in row 1 of "),
        ("q,item,score\nnurse,a,nan\n", "utf-8", "column 'score' holds 'nan' in row 1 of "),
        (
            "q,item,rank,score\nx,a,1,0.1\nx,b,2,0.4\nx,c,3,0.9\n",
            "utf-8",
            "column 'score' rises with the rank, 0.4 in row 2",
        ),
        ("q,item,rank\n", "utf-8", "has no rows"),
    ],
)
def test_what_is_no_result_list_is_one_sentence(tmp_path, text, encoding, expected):
    named = {"query": "q", "item": "item", "rank": "rank"} if ";" in text else {}
    with pytest.raises(UsageError) as caught:
        shown(tmp_path, text, encoding, **named)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_csv_parquet_and_json_lines_are_the_same_list(tmp_path, suffix):
    rows = pd.DataFrame({"q": ["nurse", "nurse"], "item": [7, 8], "rank": [2, 1]})
    path = tmp_path / f"list.{suffix}"
    if suffix == "csv":
        rows.to_csv(path, index=False)
    elif suffix == "parquet":
        rows.to_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_dict("records")), encoding="utf-8")
    assert lists(load(ResultTable(path=path.name, query="q", item="item", rank="rank"), tmp_path)) == {
        "nurse": ["8", "7"]
    }


def run_of(folder: Path, text: str) -> Shown:
    (folder / "run.txt").write_text(text, encoding="utf-8")
    return load(TrecRun(path="run.txt"), folder)


def test_a_run_with_any_white_space(tmp_path):
    found = run_of(tmp_path, "51 Q0  d1\t1   3.5 bm25\n\n51\tQ0\td2\t2\t2.5\tbm25\r\n  52 Q0 d1 1 1e-2 bm25  \n")
    assert lists(found) == {"51": ["d1", "d2"], "52": ["d1"]}
    assert found.similarities.tolist() == [3.5, 2.5, 0.01]


def test_a_run_whose_ranks_are_all_0_goes_by_score(tmp_path):
    assert lists(run_of(tmp_path, "51 Q0 d1 0 1 x\n51 Q0 d2 0 2 x\n")) == {"51": ["d2", "d1"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("51 Q0 d1 1 2.5\n", "line 1 of "),
        ("51 Q0 d1 1 2.5 x\n\n51 Q0 d2 2 high x\n", "line 3 of "),
        ("", "has no lines"),
        ("51 Q0 d1 1 inf x\n", "has the score 'inf'"),
    ],
)
def test_what_is_no_run_names_the_line(tmp_path, text, expected):
    with pytest.raises(UsageError) as caught:
        run_of(tmp_path, text)
    assert expected in str(caught.value)
