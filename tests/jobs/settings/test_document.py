"""YAML 1.2 as it is read: what is a number, what is a text, and what is refused in one line with its place."""

import time

import pytest

from jobs.settings.document import DocumentError, RepeatedKey, parse


def value_of(text):
    return parse(f"x: {text}\n").content["x"].value()


def refusal(text):
    with pytest.raises(DocumentError) as caught:
        parse(text)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", 12),
        ("-0", 0),
        ("+7", 7),
        ("0x1F", 31),
        ("0.5", 0.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e-3", 0.001),
        ("1E3", 1000.0),
        ("-1.5e+2", -150.0),
        ("01.5", 1.5),
        (".inf", float("inf")),
        ("-.INF", float("-inf")),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
    ],
)
def test_plain_scalars_of_the_core_schema(text, expected):
    found = value_of(text)
    assert found == expected
    assert isinstance(found, type(expected))


@pytest.mark.parametrize(
    "text",
    "yes no on off Yes NO y n 012 00 -07 0o14 0b11 1_000 1_0.5 12:30 190:20:30 2024-01-01 12e NaN inf 0x 1e 1.2.3 "
    "2001-12-14t21:59:43Z = . - .e3 tRUE None nil 1,5 +-3".replace(" - ", " ").split(),
)
def test_all_else_is_the_text_that_is_written(text):
    assert value_of(text) == text


def test_a_number_too_long_to_be_one_is_a_text():
    assert value_of("9" * 301) == "9" * 301
    assert value_of("9" * 300) == int("9" * 300)


def test_quotes_make_texts():
    assert parse("{a: '12', b: \"true\", c: 'null', d: ''}").value() == {"a": "12", "b": "true", "c": "null", "d": ""}


def test_numbers_know_how_they_were_written():
    found = parse("[12, 1e3, 0x1F, 01.50]").value()
    assert [number.written for number in found] == ["12", "1e3", "0x1F", "01.50"]


def test_keys_are_the_text_that_is_written():
    found = parse("{012: a, 12: b, 1e1: c, no: d, true: e, 2024-01-01: f, null: g, 1.0: h, 1: i}")
    assert list(found.value()) == ["012", "12", "1e1", "no", "true", "2024-01-01", "null", "1.0", "1"]


def test_lines():
    found = parse("a: 1\nb:\n  - 2\n  - c: |\n      text\n\n")
    assert found.lines == {"a": 1, "b": 2}
    assert found.content["b"].content[1].lines == {"c": 4}


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "--- \n...\n"])
def test_no_document_is_nothing(text):
    assert parse(text).value() is None


def test_aliases_share_a_block():
    found = parse("a: &people {kind: table, map: {x: y}}\nb: *people\nc: [*people]\n").value()
    assert found["b"] == found["a"] == found["c"][0] == {"kind": "table", "map": {"x": "y"}}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: {c: 1, c: 2}\n", 2, "c: this key stands twice"),
        ("1: a\n'1': b\n", 2, "1: this key stands twice"),
        ("a: &r {b: *r}\n", 1, "stands in itself"),
        ("a: &r [1, [*r]]\n", 1, "stands in itself"),
        ("a: *nobody\n", 1, "no &anchor before it"),
        ("a: &x 1\n<<: *x\n", 2, "merge keys"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("a: 1\n...\n---\nb: 2\n", 3, "second document"),
        ("%YAML 1.1\n---\na: 1\n", 1, "read as 1.2"),
        ("a: 1\nb: !!str 5\n", 2, "tag !!str"),
        ("a: !mine 5\n", 1, "tag !mine"),
        ("a: ! 5\n", 1, "tag !"),
        ("!!map {a: 1}\n", 1, "tag !!map"),
        ("a:\n\tb: 1\n", 2, "a tab"),
        ("a:\n  b: 1\n\tc: 2\n", 3, "a tab"),
        ("a: [1,\n\t2]\n", 2, "a tab"),
        ("? [a, b]\n: 1\n", 1, "where a key is expected"),
        ("? {a: b}\n: 1\n", 1, "where a key is expected"),
        (": 1\n", 1, "expected"),
        ("? \n: 1\n", 1, "a key is empty"),
        ("'': 1\n", 1, "a key is empty"),
        ("a: [1\nb: 2\n", 2, "expected"),
        ("a: 'b\n", 2, "end of stream"),
        ("a: b: c\n", 1, "not allowed here"),
        ("a: @b\n", 1, "cannot start any token"),
        ("a: 1\nb: \x00\n", 2, "U+0000"),
        ("a: 1\nb: \x07\n", 2, "U+0007"),
        ("a: 'b\u2028c'\n", 1, "U+2028"),
        ('a: "x\\0y"\n', 1, "U+0000"),
        ('a: "\\ud800"\n', 1, "U+D800"),
        ("a: " + "[" * 2000 + "\n", 1, "nested too deeply"),
        ("a: " + "{b: " * 2000 + "\n", 1, "nested too deeply"),
        ("".join(f"{' ' * depth}a:\n" for depth in range(100)), 50, "nested too deeply"),
    ],
)
def test_what_is_refused(text, line, words):
    error = refusal(text)
    assert words in str(error)
    assert error.line == line


def test_a_repeated_key_is_told_apart_from_bad_yaml():
    with pytest.raises(RepeatedKey):
        parse("a: 1\na: 2\n")


@pytest.mark.parametrize("kind", ["lists", "blocks"])
def test_nested_aliases_are_refused_at_once(kind):
    """A kilobyte that stands for a thousand million values."""
    one, all_of = ("[x, x, x, x, x, x, x, x, x]", "[{}]") if kind == "lists" else ("{a: 1, b: 2, c: 3}", "{{{}}}")
    text = f"a0: &a0 {one}\n"
    for level in range(1, 10):
        aliases = [f"*a{level - 1}" if kind == "lists" else f"k{place}: *a{level - 1}" for place in range(9)]
        text += f"a{level}: &a{level} {all_of.format(', '.join(aliases))}\n"
    started = time.perf_counter()
    assert "aliases repeat more than 10,000 values" in str(refusal(text))
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("text", "expected", "remark"),
    [
        ("no", "true or false", "write true or false"),
        ("no", "a number", ""),
        ("012", "a number", "leading zero"),
        ("012", "true or false", ""),
        ("012", "a text", ""),
        ("0o14", "a number", "base 10"),
        ("12:30", "a whole number", "base 60"),
        ("1_000", "a number", "underscores"),
        ("9" * 301, "a number", "300 digits"),
        ("'5'", "a number", "write 5"),
        ('"true"', "true or false", "write true"),
        ("'nurse'", "a number", ""),
        ("nurse", "a number", ""),
        ("5", "a number", ""),
        ("1e3", "a number", ""),
        ("1e3", "a whole number", "write 1000"),
        ("1e-3", "a whole number", ""),
        ("[1]", "a number", ""),
    ],
)
def test_a_remark_says_why_a_text_is_not_what_is_expected(text, expected, remark):
    found = parse(f"x: {text}\n").content["x"].remark(expected)
    assert remark in found
    assert bool(remark) == bool(found)
