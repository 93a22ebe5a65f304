import pytest

from jobs.config import Queries
from jobs.errors import UsageError
from jobs.queries import article, read_queries


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
    ("block", "words"),
    [
        ({"list": []}, ["queries.list", "empty"]),
        ({"list": ["nurse", "  "]}, ["query 2", "empty"]),
        ({"list": ["nurse", "nurse"]}, ["'nurse'", "twice"]),
        ({}, ["exactly one"]),
        ({"list": ["a"], "file": "b"}, ["exactly one"]),
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
