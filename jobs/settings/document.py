"""YAML 1.2 with places: the one reader of YAML, which refuses what people write by mistake.

Plain values are those of the core schema: null, true and false, whole numbers and decimals; all else is text.
What YAML 1.1 and 1.2 read as different numbers (012, 0o14, 1_000, 12:30) is text as well, so that it is never
a number by accident: whoever wants a number refuses it and says why. A key is the text that is written, for the keys
of an audit are names and levels. Aliases are for sharing, not for multiplying; tags and merge keys are not part of
the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

# Levels of nested blocks and lists; a configuration has eight.
DEEPEST = 50
# Values that aliases may add to those written; sharing a block of settings repeats tens.
MOST_REPEATED = 10_000
# Digits of a number; longer ones are identifiers.
MOST_DIGITS = 300

NULL = re.compile(r"|~|null|Null|NULL")
TRUTH = re.compile(r"true|True|TRUE|false|False|FALSE")
WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)|0x[0-9a-fA-F]+")
DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
# Truth values to YAML 1.1, texts to 1.2.
NO_TRUTH = re.compile(r"(?i)yes|no|on|off|y|n")
# Numbers that YAML 1.1 and 1.2, or their readers, read differently: the form, and what to write instead.
DOUBTFUL = (
    (re.compile(r"[-+]?0[0-9]+"), "a leading zero means base 8 to YAML 1.1 and nothing to 1.2: leave it out"),
    (re.compile(r"[-+]?0o[0-7]+|[-+]?0b[01]+"), "write it in base 10"),
    (
        re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9]*)?"),
        "to YAML 1.1 colons mean base 60: write it in base 10",
    ),
    (re.compile(r"[-+]?[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?"), "leave the underscores out"),
    (re.compile(rf"[-+]?[0-9]{{{MOST_DIGITS + 1},}}"), f"it has more than {MOST_DIGITS} digits"),
)
# Line breaks to YAML 1.1 and characters to 1.2.
DOUBTFUL_BREAKS = re.compile("[\x85\u2028\u2029]")
# NUL, which ends a file name, and surrogates, which are halves of characters.
NO_TEXT = re.compile("[\0\ud800-\udfff]")


class DocumentError(Exception):
    """Text that is not one YAML document of this kind; `line` counts from 1, None where no line is to blame."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class RepeatedKey(DocumentError):
    """A key that occurs twice in a block: other YAML readers silently keep the last value."""


class WrittenWhole(int):
    """A whole number that knows how it was written, in case a text was meant."""

    written: str


class WrittenDecimal(float):
    """A number that knows how it was written."""

    written: str


@dataclass(eq=False, slots=True, kw_only=True)
class Node:
    """A value of a document and its line: a scalar's text, a list's nodes, or a block's by their keys.

    is_plain: a scalar without quotes; lines: those of a block's keys; size: values in it, itself among them.
    """

    line: int
    content: str | list[Node] | dict[str, Node]
    is_plain: bool = False
    lines: dict[str, int] = field(default_factory=dict)
    size: int = 1

    def value(self) -> Any:
        """The value in Python's types; numbers know how they were written."""
        if isinstance(self.content, list):
            return [node.value() for node in self.content]
        if isinstance(self.content, dict):
            return {key: node.value() for key, node in self.content.items()}
        return scalar(self.content) if self.is_plain else self.content

    def remark(self, expected: str) -> str:
        """Why the value may not be what its writer meant, given what is expected, in words; empty where it may."""
        is_truth, is_number = "true or false" in expected, "number" in expected
        if not isinstance(self.content, str) or not self.content or not (is_truth or is_number):
            return ""
        meant = scalar(self.content)
        if not self.is_plain:
            return "" if isinstance(meant, str) else f"quotes make it a text: write {self.content}"
        if is_truth:
            return "write true or false" if NO_TRUTH.fullmatch(self.content) else ""
        if "whole number" in expected and isinstance(meant, float) and meant.is_integer():
            return f"write {meant:.0f}"
        return next((remark for form, remark in DOUBTFUL if form.fullmatch(self.content)), "")


def scalar(text: str) -> Any:
    """A plain scalar of the core schema."""
    if NULL.fullmatch(text):
        return None
    if TRUTH.fullmatch(text):
        return text.lower() == "true"
    if NOT_FINITE.fullmatch(text):
        return float(text.replace(".", ""))
    if len(text) > MOST_DIGITS:
        return text
    if WHOLE.fullmatch(text):
        return _written(WrittenWhole(text, 16 if text.startswith("0x") else 10), text)
    if DECIMAL.fullmatch(text) and not any(form.fullmatch(text) for form, _ in DOUBTFUL):
        return _written(WrittenDecimal(text), text)
    return text


def _written(number: Any, text: str) -> Any:
    number.written = text
    return number


def parse(text: str) -> Node:
    """The document of a text; one without a document is an empty scalar.

    Raises:  DocumentError, one sentence.
    """
    _refuse_characters(text)
    try:
        # The reader in Python: that of libyaml takes tabs for blanks in places.
        return _Composer(yaml.parse(text, Loader=yaml.SafeLoader)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        is_tab = mark is not None and mark.buffer is not None and mark.buffer[mark.pointer : mark.pointer + 1] == "\t"
        problem = "a tab is where YAML takes blanks only" if is_tab else str(error.problem or error.context)
        raise DocumentError(" ".join(problem.split()), mark.line + 1 if mark is not None else None) from None
    except yaml.YAMLError as error:
        raise DocumentError(" ".join(str(error).split())) from None


def _refuse_characters(text: str) -> None:
    found = yaml.reader.Reader.NON_PRINTABLE.search(text) or DOUBTFUL_BREAKS.search(text)
    if found:
        raise DocumentError(
            f"the character U+{ord(found.group()):04X} is in it: write it as an escape in double quotes, or not at all",
            _line_of(text, found.start()),
        )


def _line_of(text: str, position: int) -> int:
    return len(re.findall(r"\r\n|\r|\n", text[:position])) + 1


class _Composer:
    """Events to nodes."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events
        self._anchors: dict[str, Node | None] = {}
        self._repeated = 0

    def document(self) -> Node:
        """The stream's only document."""
        next(self._events)
        start = next(self._events)
        if not isinstance(start, yaml.DocumentStartEvent):
            return Node(line=1, content="", is_plain=True)
        if start.version not in (None, (1, 2)):
            raise DocumentError(f"%YAML {start.version[0]}.{start.version[1]} is declared: files are read as 1.2", 1)
        root = self._node(next(self._events), 1)
        next(self._events)
        following = next(self._events)
        if not isinstance(following, yaml.StreamEndEvent):
            raise DocumentError("a second document begins: one is expected", _line(following))
        return root

    def _node(self, event: yaml.Event, depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        assert isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent))
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            raise DocumentError(f"the tag {tag} is before a value: tags are not supported", _line(event))
        if depth > DEEPEST:
            raise DocumentError(f"nested too deeply: more than {DEEPEST} levels", _line(event))
        if event.anchor is not None:
            self._anchors[event.anchor] = None  # until it is complete, it cannot be in itself
        if isinstance(event, yaml.ScalarEvent):
            node = Node(line=_line(event), content=_text(event), is_plain=event.style is None)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._list(event, depth)
        else:
            node = self._block(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: yaml.AliasEvent) -> Node:
        node = self._anchors.get(str(event.anchor))
        if node is None:
            why = "it would contain itself" if event.anchor in self._anchors else "no &anchor before it has that name"
            raise DocumentError(f"*{event.anchor} cannot be replaced: {why}", _line(event))
        self._repeated += node.size
        if self._repeated > MOST_REPEATED:
            raise DocumentError(f"aliases repeat more than {MOST_REPEATED:,} values: write them out", _line(event))
        return node

    def _list(self, start: yaml.Event, depth: int) -> Node:
        items = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        return Node(line=_line(start), content=items, size=1 + sum(item.size for item in items))

    def _block(self, start: yaml.Event, depth: int) -> Node:
        content: dict[str, Node] = {}
        lines: dict[str, int] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            line = _line(event)
            key = self._key(event, depth)
            if key in content:
                raise RepeatedKey(f"{key}: this key occurs twice in its block", line)
            content[key], lines[key] = self._node(next(self._events), depth + 1), line
        size = 1 + sum(node.size for node in content.values())
        return Node(line=_line(start), content=content, lines=lines, size=size)

    def _key(self, event: yaml.Event, depth: int) -> str:
        key = self._node(event, depth + 1)
        if not isinstance(key.content, str):
            raise DocumentError("a list or block is where a key is expected", key.line)
        if key.is_plain and key.content == "<<":
            raise DocumentError("merge keys (<<) are not part of YAML 1.2: write the settings out", key.line)
        if not key.content:
            raise DocumentError("a key is empty", key.line)
        return key.content


def _text(event: yaml.ScalarEvent) -> str:
    """A scalar's text, without characters that no name, path or file can contain."""
    found = NO_TEXT.search(event.value)
    if found:
        raise DocumentError(f"a text contains U+{ord(found.group()):04X}, which no name or file can", _line(event))
    return event.value


def _line(event: yaml.Event) -> int:
    assert event.start_mark is not None
    return event.start_mark.line + 1
