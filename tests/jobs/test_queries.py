import pytest

from jobs.config.audit import Queries
from jobs.errors import UsageError
from jobs.queries import article, read_queries
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
