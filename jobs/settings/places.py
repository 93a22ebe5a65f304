"""Where in a configuration a setting is, and what is wrong with it, in one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import BadSetting
from .block import SHOWN, UnknownKey
from .document import Node

Key = Sequence[str | int]
# What is expected, by pydantic's type of error.
EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "a text",
    "tuple_type": "a list",
    "dict_type": "a block of settings",
    "model_type": "a block of settings",
    "model_attributes_type": "a block of settings",
    "literal_error": "{expected}",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "a number of at least {ge}",
    "less_than": "a number below {lt}",
    "less_than_equal": "a number of at most {le}",
    "too_short": "a list of at least {min_length}",
}
# The same of a block: what it has too few of are its keys.
OF_BLOCKS = {"too_short": "a block with at least {min_length} entry"}


PYTHON_WORDS = {None: "null", True: "true", False: "false"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """The document of a configuration, and overrides in it.

    overridden: dotted keys that `--set` has put in.
    """

    path: Path
    root: Node
    overridden: frozenset[str]

    def where(self, key: Key) -> str:
        """File, line and key of a setting, or the override that it comes from."""
        line, names, _ = self._locate(key)
        named = ".".join(names)
        # The override holds the problem, or is in the block that the problem is about.
        for override in sorted(self.overridden):
            if _is_within(named, override) or _is_within(override, named):
                return f"--set {override}: {named}" if len(named) > len(override) else f"--set {override}"
        return f"{self.path}:{line}: {named}" if named else f"{self.path}:{line}"

    def explained(self, error: ValidationError, unknown_key: Callable[[str, Sequence[str]], str | None]) -> str:
        """The first problem as one line. unknown_key: what is said of a key that is none of its block's."""
        # An unknown key is often a misspelt required one, so it is reported before the missing key.
        problems = sorted(error.errors(), key=lambda problem: not isinstance(_cause(problem), UnknownKey))
        key, message = self._key_and_message(dict(problems[0]))
        cause = _cause(problems[0])
        if isinstance(cause, UnknownKey) and cause.known:
            message = unknown_key(str(cause.key[-1]), cause.known) or message
        return f"{self.where(key)}: {message}"

    def said_of(self, error: BadSetting, key: Key) -> str:
        """The message of an error, and why YAML may have read the value differently from what was meant."""
        _, _, node = self._locate(key)
        remark = node.remark(error.message) if node is not None else ""
        message = error.message if node is None else _in_yaml(error.message, node)
        return _one_line(f"{message}; {remark}" if remark else message)

    def _key_and_message(self, problem: Mapping[str, Any]) -> tuple[Key, str]:
        kind, key = problem["type"], tuple(part for part in problem["loc"] if part != "[key]")
        cause = _cause(problem)
        if isinstance(cause, BadSetting):
            key = (*key, *cause.key)
            return key, self.said_of(cause, key)
        if kind == "value_error":
            return key, _one_line(cause)
        if kind == "missing":
            return key, "missing, and it has no default"
        return key, self._expectation(problem, key)

    def _expectation(self, problem: Mapping[str, Any], key: Key) -> str:
        """The expected value, the value found, and why YAML may have read it differently from what was meant."""
        _, _, node = self._locate(key)
        expected = _expected(problem)
        got = _described(problem["input"]) if node is None else _yaml_text(node)
        remark = node.remark(expected) if node is not None else ""
        if problem["type"] == "string_type" and node is not None and isinstance(node.content, str) and node.content:
            remark = f'write "{node.content:.{SHOWN}}", in quotes'
        return f"{expected}, got {got}{f': {remark}' if remark else ''}"

    def _locate(self, key: Key) -> tuple[int, list[str], Node | None]:
        """Line of the deepest value along a key, the key as it is written in the file, and the value at its end."""
        node: Node | None = self.root
        line, names = self.root.line, list[str]()
        for part in key:
            content = None if node is None else node.content
            if isinstance(content, dict):
                if isinstance(part, int):
                    continue  # one block is where a list may be
                names.append(str(part))
                assert node is not None
                line, node = (node.lines[part], content[part]) if part in content else (line, None)
            elif isinstance(content, list) and isinstance(part, int) and part < len(content):
                names.append(str(part))
                line, node = content[part].line, content[part]
            elif not isinstance(part, int):
                names.append(str(part))
                node = None
        return line, names, node


def expectation(error: ValidationError) -> str:
    """The first problem of a value that is in no document, such as an option's."""
    problem = error.errors()[0]
    return f"{_expected(problem)}, got {problem['input']!s:.{SHOWN}}"


def _expected(problem: Mapping[str, Any]) -> str:
    known = EXPECTED | OF_BLOCKS if isinstance(problem["input"], dict) else EXPECTED
    words = known.get(problem["type"], "").format(**problem.get("ctx", {}))
    return f"{words} is expected" if words else _one_line(problem["msg"])


def _cause(problem: Mapping[str, Any]) -> BaseException | None:
    """The exception of a validator, where pydantic passes it on."""
    cause: BaseException | None = problem.get("ctx", {}).get("error")
    return cause


def _is_within(key: str, block: str) -> bool:
    return bool(block) and f"{key}.".startswith(f"{block}.")


def _yaml_text(node: Node) -> str:
    """A value as it is written in the file."""
    if isinstance(node.content, (list, dict)):
        return _described(node.content)
    if node.is_plain:
        return f"{node.content:.{SHOWN}}" if node.content else "nothing"
    return f"the text {node.content[:SHOWN]!r}"


def _described(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if isinstance(value, dict):
        return "a block of settings" if value else "an empty block"
    return "nothing" if value is None else f"{value!r:.{SHOWN}}"


def _in_yaml(message: str, node: Node) -> str:
    """The message with YAML's words for values in the node, however deep, that Python has other words for."""
    given = list(_scalars(node.value()))
    for word, written in PYTHON_WORDS.items():
        if any(one is word for one in given):
            message = re.sub(rf"\b{word}\b", written, message)
    return message


def _scalars(value: Any) -> Iterator[Any]:
    """The values of lists and blocks, or a value itself."""
    if isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _scalars(one)
    else:
        yield value


def _one_line(message: object) -> str:
    return " ".join(str(message).split())
