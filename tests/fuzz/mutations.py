"""Configurations as people and machines spoil them: one seed, one text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

# What stands where another value is expected.
VALUES = (
    *("0", "-1", "1", "2.5", "1e3", "1e-3", "1e999", "-1e-400", "9" * 30, "9" * 400, ".nan", ".inf", "-.INF", "0x1F"),
    *("012", "0o17", "0b11", "1_000", "12:30", "2024-01-01", "1,5", "+7", "5.", ".5", "1e", "0xZZ", "--1"),
    *("true", "false", "yes", "no", "on", "NO", "null", "~", "", "''", '""', "'5'", '"true"', "' '", "NaN", "None"),
    *("[]", "{}", "[[]]", "[null]", "[1, 1]", "[a, b, c]", "{a: 1}", "{kind: table}", "[{}]", "{null: null}", "{1: 2}"),
    *("&a [*a]", "*a", "&b x", "!!int 5", "!!python/name:os.system", "!mine {}", "<<", "? x", "| x", ">-", "@x", "`x`"),
    *("mopr", "[mopr, mopr]", "{mopr: {values: []}}", "{mmr: null}", "{tree: {depth: 99999999999}}", "[top_k, {}]"),
    *("{forest: {trees: 1e9}}", "{rkhs: {bandwidth: -1}}", "[{linear: {over: []}}]", "{clip_clip: {values: [1e9]}}"),
    *("people.parquet", "queries.parquet", ".", "..", "/", "/dev/null", "audit.yaml", "absent", "a/b/c", "foo://bar"),
    *(
        "x" * 300,
        "x" * 5000,
        "é",
        "日本",
        "\U0001f692",
        "e\u0301",
        "\u200b",
        "%s",
        "{0}",
        "{",
        "}",
        "{x.y}",
        "\\",
        "$HOME",
    ),
    *('"\\0"', '"\\ud800"', '"\\n"', '"\\x07"', '"{gender}"', '"{gender} {person!r}"', "gender=female", "gender=", "="),
)
# Numbers that may be meant.
NUMBERS = (
    *("0", "1", "2", "3", "5", "7", "10", "32", "50", "100", "119", "1000", "65536", "1000000", "4294967295"),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "1e18",
        "1e308",
        "0.0",
        "0.01",
        "0.5",
        "0.99",
        "1.0",
        "1e-9",
        "1e-320",
    ),
)
# What slips into a text.
SLIPS = (
    *("\t", "\0", "\x07", "\x85", "\u2028", "\ufeff", "\u00a0", "\r", "\n", "\n\n", " ", "    ", ":", ": ", ",", "-"),
    *("- ", "[", "]", "{", "}", "#", " #", "'", '"', "&x ", "*x", "!", "!!str ", "|", ">", "%", "@", "`", "? ", "<<: "),
    *("---\n", "...\n", "%YAML 1.1\n---\n", "é", "\U0001f692", "\\", "\\u"),
)
# A value: what follows a colon, a dash, a bracket or a comma.
SCALAR = re.compile(r"(?<=[:\-\[,{(] )[^\s,\[\]{}#]+|(?<=[\[{])[^\s,\[\]{}#:]+")
NUMBER = re.compile(r"(?<![\w.])\d+(\.\d+)?(?![\w.])")
KEY = re.compile(r"[A-Za-z_]+(?=:)")


def _value(text: str, dice: random.Random) -> str:
    return _replaced(text, SCALAR, dice, lambda found: dice.choice(VALUES))


def _number(text: str, dice: random.Random) -> str:
    return _replaced(text, NUMBER, dice, lambda found: dice.choice(NUMBERS))


def _key(text: str, dice: random.Random) -> str:
    def misspelt(found: str) -> str:
        place = dice.randrange(len(found))
        return dice.choice(
            [found[:place] + found[place + 1 :] or "x", found + "s", found.upper(), "name", "012", "no", ""]
        )

    return _replaced(text, KEY, dice, misspelt)


def _exchanged(text: str, dice: random.Random) -> str:
    """A value where another stands."""
    values = SCALAR.findall(text)
    return _replaced(text, SCALAR, dice, lambda found: dice.choice(values)) if values else text


def _slip(text: str, dice: random.Random) -> str:
    place = dice.randrange(len(text) + 1)
    return text[:place] + dice.choice(SLIPS) + text[place:]


def _lost(text: str, dice: random.Random) -> str:
    place = dice.randrange(len(text))
    return text[:place] + text[place + dice.randint(1, 5) :]


def _cut(text: str, dice: random.Random) -> str:
    return text[: dice.randrange(len(text))]


def _line_gone(text: str, dice: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    del lines[dice.randrange(len(lines))]
    return "".join(lines)


def _line_twice(text: str, dice: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    line = dice.choice(lines)
    lines.insert(dice.randrange(len(lines) + 1), line)
    return "".join(lines)


def _line_moved(text: str, dice: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    line = lines.pop(dice.randrange(len(lines)))
    lines.insert(dice.randrange(len(lines) + 1), line)
    return "".join(lines)


def _indented(text: str, dice: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    place = dice.randrange(len(lines))
    lines[place] = dice.choice([" ", "  ", "\t", "- "]) + lines[place] if dice.random() < 0.6 else lines[place].lstrip()
    return "".join(lines)


def _nested(text: str, dice: random.Random) -> str:
    depth = dice.choice([5, 60, 3000])
    opening, closing = dice.choice([("[", "]"), ("{a: ", "}")])
    return _replaced(text, SCALAR, dice, lambda found: opening * depth + found + closing * depth)


def _many(text: str, dice: random.Random) -> str:
    """A list that is longer than anybody writes."""
    count = dice.choice([100, 3000])
    return _replaced(
        text, SCALAR, dice, lambda found: "[" + ", ".join(f"{found}{place}" for place in range(count)) + "]"
    )


def _breaks(text: str, dice: random.Random) -> str:
    return text.replace("\n", dice.choice(["\r\n", "\r", "\n\n", "\x85", "\u2028"]))


MUTATIONS: Sequence[Callable[[str, random.Random], str]] = (
    *(_value,) * 8,
    *(_number,) * 5,
    *(_key, _exchanged) * 2,
    *(_slip, _lost, _cut, _line_gone, _line_twice, _line_moved, _indented, _nested, _many, _breaks),
)
ENCODINGS = ("utf-8",) * 20 + ("utf-8-sig", "utf-16", "utf-32-le", "latin-1", "cp037")


def mutated(text: str, seed: int) -> bytes:
    """A configuration with one to three mistakes in it, or in its encoding."""
    dice = random.Random(seed)
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        text = dice.choice(MUTATIONS)(text or "a", dice)
    return text.encode(dice.choice(ENCODINGS), errors="replace")


def _replaced(text: str, pattern: re.Pattern[str], dice: random.Random, by: Callable[[str], str]) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    one = dice.choice(found)
    return text[: one.start()] + by(one.group()) + text[one.end() :]
