"""Where in a configuration a setting stands, and what is wrong with it, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from jobs.config.block import Block
from jobs.config.document import Node
from jobs.errors import BadSetting

Key = Sequence[str | int]
# Characters of a wrong value that a message shows.
SHOWN = 80
# What pydantic's kinds of errors expect, in words.
EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """The document of a configuration, overrides in it, and what its settings may be.

    overridden: dotted keys that `--set` has put in.
    """

    path: Path
    root: Node
    overridden: frozenset[str]
    form: type[Block]

    def where(self, key: Key) -> str:
        """File, line and key of a setting, or the override that it comes from."""
        line, names, _ = self._locate(key)
        named = ".".join(names)
        # The override holds the problem, or stands in the block that the problem is about.
        for override in sorted(self.overridden):
            if _is_within(named, override) or _is_within(override, named):
                return f"--set {override}: {named}" if len(named) > len(override) else f"--set {override}"
        return f"{self.path}:{line}: {named}" if named else f"{self.path}:{line}"

    def explained(self, error: ValidationError) -> str:
        """The first problem as one line."""
        # An unknown key explains a missing one next to it, not the other way round.
        problems = sorted(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
        key, message = self._said(problems[0])
        return f"{self.where(key)}: {message}"

    def said_of(self, error: BadSetting, key: Key) -> str:
        """What an error says, and why the value at its key may not be what was meant."""
        _, _, node = self._locate(key)
        remark = node.remark(error.message) if node is not None else ""
        return _one_line(f"{error.message}; {remark}" if remark else error.message)

    def _said(self, problem: dict[str, Any]) -> tuple[Key, str]:
        kind, key = problem["type"], tuple(part for part in problem["loc"] if part != "[key]")
        cause = problem.get("ctx", {}).get("error")
        if kind == "union_tag_not_found" and not isinstance(problem["input"], dict):
            problem = problem | {"type": "dict_type"}
            kind = "dict_type"
        if isinstance(cause, BadSetting):
            key = (*key, *cause.key)
            return key, self.said_of(cause, key)
        if kind == "value_error":
            return key, _one_line(cause)
        if kind == "extra_forbidden":
            known = _known_keys(key[:-1], self.form)
            close = get_close_matches(str(key[-1]), known, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
            return key, f"unknown key; {hint}"
        if kind == "missing":
            return key, "missing, and it has no default"
        if kind in ("union_tag_invalid", "union_tag_not_found"):
            known = ", ".join(_kinds(key, self.form))
            found = f"unknown kind {problem['ctx'].get('tag')!r:.{SHOWN}}" if kind == "union_tag_invalid" else "missing"
            return (*key, "kind"), f"{found}: known are {known}"
        return key, self._expectation(problem, key)

    def _expectation(self, problem: dict[str, Any], key: Key) -> str:
        """What a value should be, what it is, and why it may not be what its writer meant."""
        _, _, node = self._locate(key)
        words = EXPECTED.get(problem["type"], "").format(**problem.get("ctx", {}))
        expected = f"{words} is expected" if words else _one_line(problem["msg"])
        got = _described(problem["input"]) if node is None else _written(node)
        remark = node.remark(expected) if node is not None else ""
        if problem["type"] == "string_type" and node is not None and isinstance(node.content, str) and node.content:
            remark = f'write "{node.content:.{SHOWN}}", in quotes'
        return f"{expected}, got {got}{f': {remark}' if remark else ''}"

    def _locate(self, key: Key) -> tuple[int, list[str], Node | None]:
        """Line of the deepest value on the way, the key as the file's author wrote it, and the value at its end."""
        node: Node | None = self.root
        line, names = node.line, []
        for part in key:
            content = None if node is None else node.content
            if isinstance(content, dict):
                if isinstance(part, int):
                    continue  # one block stands where a list may stand
                if part not in content and part in _UNION_TAGS:
                    continue
                names.append(str(part))
                line, node = (node.lines[part], content[part]) if part in content else (line, None)
            elif isinstance(content, list) and isinstance(part, int) and part < len(content):
                names.append(str(part))
                node = content[part]
                line = node.line
            elif part not in _UNION_TAGS and not isinstance(part, int):
                names.append(str(part))
                node = None
        return line, names, node


# Names that pydantic puts into a location for the chosen member of a union.
_UNION_TAGS = ("sentence", "precomputed", "open_clip")


def _is_within(key: str, block: str) -> bool:
    return bool(block) and f"{key}.".startswith(f"{block}.")


def _written(node: Node) -> str:
    """A value as its author wrote it."""
    if isinstance(node.content, (list, dict)):
        return _described(node.content)
    if node.is_plain:
        return f"{node.content:.{SHOWN}}" if node.content else "nothing"
    return f"the text {node.content[:SHOWN]!r}"


def _described(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if isinstance(value, dict):
        return "a block of settings"
    return "nothing" if value is None else f"{value!r:.{SHOWN}}"


def _known_keys(key: Key, form: type[Block]) -> list[str]:
    """Keys of the settings block at a place."""
    model: Any = form
    for part in key:
        if not isinstance(model, type) or not issubclass(model, BaseModel) or part not in model.model_fields:
            if part in _UNION_TAGS:
                model = _block_of(model, part)
            continue
        model = _block_of(model.model_fields[part].annotation)
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _kinds(key: Key, form: type[Block]) -> list[str]:
    """Kinds of block that a place takes, as far as they are told apart by `kind`."""
    model: Any = form
    for part in key:
        if isinstance(model, type) and issubclass(model, BaseModel) and part in model.model_fields:
            model = model.model_fields[part].annotation
        elif part in _UNION_TAGS:
            model = _block_of(model, part)
    return [kind for block in _blocks(model) for kind in block.model_fields["kind"].annotation.__args__]


def _blocks(annotation: Any) -> list[type[BaseModel]]:
    """Settings blocks inside an annotation such as tuple[Dataset, ...] or a tagged union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [block for inner in getattr(annotation, "__args__", ()) for block in _blocks(inner)]


def _block_of(annotation: Any, tag: str | None = None) -> Any:
    """The only settings block inside an annotation, or the one with that tag."""
    blocks = _blocks(annotation)
    if tag is not None:
        return next((block for block in blocks if tag in str(block.model_fields["kind"].annotation)), annotation)
    return blocks[0] if len(blocks) == 1 else annotation


def _one_line(message: object) -> str:
    return " ".join(str(message).split())
