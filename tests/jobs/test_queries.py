import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.config.audit import Queries
from jobs.errors import UsageError
from jobs.queries import article, query_remarks, read_queries
from jobs.queries.lists import NAMED


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("nurse", "a"),
        ("engineer", "an"),
        ("Architect", "an"),
        ("usher", "an"),
        ("urban planner", "an"),
        ("university professor", "a"),
        ("union leader", "a"),
        ("hourly worker", "an"),
        ("heir", "an"),
        ("euphonium player", "a"),
        ("one-man band", "a"),
        ("umpire", "an"),
        ("underwriter", "an"),
        ("MRI technologist", "an"),
        ("X-ray technician", "an"),
        ("EMT", "an"),
        ("HVAC technician", "an"),
        ("IT technician", "an"),
        ("UX designer", "a"),
        ("CEO", "a"),
        ("EU official", "an"),
        ("NASA engineer", "a"),
        ("T-shirt seller", "a"),
        ("union organiser", "a"),
        ("unit secretary", "a"),
        ("unicyclist", "a"),
        ("uninvited guest", "an"),
        ("undertaker", "an"),
        ("ultrasound technologist", "an"),
        ("urologist", "a"),
        ("usability tester", "a"),
        ("utility worker", "a"),
        ("utterly lost tourist", "an"),
        ("ukulele player", "a"),
        ("one-room school teacher", "a"),
        ("oyster farmer", "an"),
        ("honest broker", "an"),
        ("honorary consul", "an"),
        ("horse rider", "a"),
        ("European", "a"),
        ("hotel manager", "a"),
        ("yoga teacher", "a"),
    ],
)
def test_article_follows_the_sound(noun, expected):
    assert article(noun) == expected


def test_prompts(tmp_path):
    found = read_queries(Queries(list=["nurse", "engineer"]), tmp_path)
    assert [query.prompt for query in found] == ["A photo of a nurse", "A photo of an engineer"]


@pytest.mark.parametrize(
    "text", ["and/or", 'the "boss"', "it's", "\N{FIRE ENGINE} chief", "x" * 300, "{a} {query}", "a\\b"]
)
def test_odd_texts_are_queries_like_any_other(tmp_path, text):
    found = read_queries(Queries(list=[text], prompt="see {query}"), tmp_path)
    assert found[0].text == text
    assert found[0].prompt == f"see {text}"


def test_file_skips_blank_lines_and_comments_and_limits(tmp_path):
    (tmp_path / "queries.txt").write_text("# jobs\nnurse\n\n chef \nartist\n", encoding="utf-8")
    found = read_queries(Queries(file="queries.txt"), tmp_path, limit=2)
    assert [query.text for query in found] == ["nurse", "chef"]


@pytest.mark.parametrize(
    ("name", "fewest", "member"), [("ten", 10, "nurse"), ("forty-five", 45, "lab tech"), ("occupations", 400, "usher")]
)
def test_named_lists_are_sorted_distinct_and_singular(tmp_path, name, fewest, member):
    texts = [query.text for query in read_queries(Queries(named=name), tmp_path)]
    assert len(texts) >= fewest and member in texts
    assert texts == sorted(set(texts), key=str.casefold)
    assert len({text.casefold() for text in texts}) == len(texts)
    # No occupation of these lists ends in s but for words that are singular so.
    assert [text for text in texts if text.endswith("s")] == []


def test_every_named_list_is_tested_and_an_unknown_name_suggests_one():
    assert set(NAMED) == {"ten", "forty-five", "occupations"}
    with pytest.raises(ValueError, match="did you mean 'occupations'"):
        Queries(named="occupation")
    with pytest.raises(ValueError, match="known are ten, forty-five, occupations"):
        Queries(named="zzz")


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"list": []}, ["queries.list", "empty"]),
        ({"list": ["nurse", "  "]}, ["query 2", "empty"]),
        ({"list": ["nurse", "nurse"]}, ["'nurse'", "twice"]),
        ({}, ["exactly one"]),
        ({"list": ["a"], "file": "b"}, ["exactly one"]),
        ({"named": "ten", "file": "b"}, ["exactly one"]),
        ({"file": "absent.txt"}, ["absent.txt"]),
        ({"vectors": "absent.parquet"}, ["absent.parquet"]),
    ],
)
def test_bad_queries_name_the_place(tmp_path, block, words):
    with pytest.raises(UsageError) as caught:
        read_queries(Queries(**block), tmp_path)
    for word in words:
        assert word in str(caught.value)


def test_an_empty_file(tmp_path):
    (tmp_path / "queries.txt").write_text("\n# nothing\n", encoding="utf-8")
    with pytest.raises(UsageError, match="empty"):
        read_queries(Queries(file="queries.txt"), tmp_path)


LINES = (
    "\ufeff# jobs\r\nC# programmer\r\n#metoo\r\n#1 chef\r\n#\r\n  F# and C#  \r\n\ta\x0bb\x85c\u2028d\n#\tmore\nlast"
)


def test_only_a_line_that_begins_with_a_hash_and_a_space_is_a_comment(tmp_path):
    (tmp_path / "queries.txt").write_text(LINES, encoding="utf-8", newline="")
    block = Queries(file="queries.txt")
    found = [query.text for query in read_queries(block, tmp_path)]
    assert found == ["C# programmer", "#metoo", "#1 chef", "F# and C#", "a\x0bb\x85c\u2028d", "last"]
    [remark] = query_remarks(block, tmp_path)
    assert "queries.txt: 3 lines that begin with # and a space are comments, such as '# jobs'" in remark


def test_queries_without_comments_need_no_remark(tmp_path):
    (tmp_path / "queries.txt").write_text("nurse\n#metoo\n", encoding="utf-8")
    assert query_remarks(Queries(file="queries.txt"), tmp_path) == ()
    assert query_remarks(Queries(list=["# nurse"]), tmp_path) == ()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("nurse\n".encode("utf-16"), "queries.file: .*queries.txt: it is UTF-16 text"),
        ("nurse\n".encode("utf-32"), "it is UTF-32 text"),
        ("nurse\n".encode("utf-16-be"), "NUL characters"),
        ("nurse\nm\xe9decin\n".encode("latin-1"), "line 2 is not UTF-8 text"),
    ],
)
def test_queries_in_another_encoding(tmp_path, content, words):
    (tmp_path / "queries.txt").write_bytes(content)
    with pytest.raises(UsageError, match=words):
        read_queries(Queries(file="queries.txt"), tmp_path)


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
def test_query_vectors_name_their_queries_in_any_kind_of_text(tmp_path, kind):
    table = pa.table({"query": pa.array(["nurse", "chef"]).cast(kind), "vector": [[1.0, 0.0], [0.0, 1.0]]})
    pq.write_table(table, tmp_path / "queries.parquet")
    found = read_queries(Queries(vectors="queries.parquet"), tmp_path)
    assert [query.text for query in found] == ["nurse", "chef"]


@pytest.mark.parametrize(
    ("queries", "vectors", "words"),
    [
        ([1, 2], [[1.0], [2.0]], "column query must hold a text in every row"),
        (["a", None], [[1.0], [2.0]], "column query must hold a text in every row"),
        ([b"a", b"\xff"], [[1.0], [2.0]], "column query must hold a text in every row"),
        ([["a"], ["b"]], [[1.0], [2.0]], "column query must hold a text in every row"),
        (["a", "b"], [[1.0], [1.0, 2.0]], "column vector must hold lists of one length"),
        (["a", "b"], [[1e300], [1.0]], "column vector must hold lists of one length, of finite numbers"),
        (["a", "b"], [[None], [1.0]], "column vector must hold"),
        (["a", "b"], ["x", "y"], "column vector must hold"),
        (["a", "b"], [{"x": 1}, {"x": 2}], "column vector must hold"),
    ],
)
def test_query_vectors_that_are_none(tmp_path, queries, vectors, words):
    pq.write_table(pa.table({"query": queries, "vector": vectors}), tmp_path / "queries.parquet")
    with pytest.raises(UsageError, match=words):
        read_queries(Queries(vectors="queries.parquet"), tmp_path)


def test_query_vectors_without_a_column_or_with_one_twice(tmp_path):
    pq.write_table(pa.table({"text": ["a"], "vector": [[1.0]]}), tmp_path / "queries.parquet")
    with pytest.raises(UsageError, match="queries.parquet: it lacks the column 'query'"):
        read_queries(Queries(vectors="queries.parquet"), tmp_path)
    arrays = [pa.array(["a"]), pa.array(["b"]), pa.array([[1.0]])]
    pq.write_table(pa.Table.from_arrays(arrays, ["query", "query", "vector"]), tmp_path / "queries.parquet")
    with pytest.raises(UsageError, match="the column 'query' occurs 2 times"):
        read_queries(Queries(vectors="queries.parquet"), tmp_path)
