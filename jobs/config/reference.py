"""The configuration reference, docs/configuration.md: `python -m jobs.config.reference` prints it.

Everything in it comes from the settings themselves: descriptions, types, defaults and limits from the blocks, function
classes and methods from the registries.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from jobs.config.audit import Audit
from jobs.config.block import Block
from jobs.config.method_descriptions import DESCRIPTIONS
from jobs.config.method_settings import LISTS, known_settings
from jobs.config.prompts import PromptTraining
from mprlib import FUNCTION_CLASSES, METHODS
from mprlib.declarations import Declaration, declarations
from mprlib.method import Method

INTRODUCTION = """\
# Configuration reference

Every setting of an audit's YAML file, made by `python -m jobs.config.reference` from the settings' own descriptions. \
Only `dataset`, `encoder` and `queries` are required. An unknown key or a wrong value ends the command with exit code \
2 and one line that names file, line and key. `--set a.b=c` overrides a setting on the command line; quotes hold a \
name with dots together: `--set 'dataset.attributes."home.town".order=[north, south]'`. Paths are relative to the \
configuration file, but `output`, which is relative to where the command runs.

The file is read as YAML 1.2. Types are strict: a number in quotes is a text, `1` is no truth value and `50.0` is no \
whole number; truth values are `true` and `false`, and `yes`, `no`, `on`, `off` are texts. Numbers are written as \
`12`, `0.5` or `1e-3`; what readers of YAML disagree on (`012`, `0o14`, `1_000`, `12:30`) is a text, and is refused \
where a number is expected. A key is the text that is written, and so are levels, columns and queries: \
`{012: 0.5, 12: 0.5}` are the shares of two levels. Anchors and aliases may share a block; tags, merge keys (`<<`), \
several documents, tabs as indentation and a key that stands twice in its block are errors.
"""
PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "nothing", Any: "any"}
# Limits of a value, as pydantic's metadata name them.
LIMITS = {"ge": "at least {}", "gt": "above {}", "le": "at most {}", "lt": "below {}"}
OVER = (
    "Every class also takes `over`: `labels` (default), `embedding`, or a list of attributes that it sees, as in "
    "`{linear: {over: [gender]}}`."
)
VALUES = (
    "A method with a parameter takes `points` (the number of values of the method's own grid, 20 by default) or "
    "`values` (a list). A constrained method takes `targets`, the names of the classes whose MPR it bounds; by default "
    "each of `function_classes` that it can."
)


def reference() -> str:
    """The whole page, in Markdown."""
    parts = [INTRODUCTION, *_blocks(Audit, set()), *_function_classes(), *_methods()]
    parts.append("# Training tokens\n\nThe file that `mpr-audit train-prompt` reads.\n")
    seen = set(_reachable(Audit))
    parts += _blocks(PromptTraining, seen)
    return "\n".join(parts)


def blocks(root: type[Block]) -> list[type[Block]]:
    """Every block that a configuration of that root can hold, the root first."""
    return list(dict.fromkeys(_reachable(root)))


def _reachable(root: type[Block]) -> Iterator[type[Block]]:
    waiting, seen = [root], set()
    while waiting:
        block = waiting.pop(0)
        if block not in seen:
            seen.add(block)
            yield block
            waiting += [one for field in block.model_fields.values() for one in _inside(field.annotation)]


def _inside(annotation: Any) -> list[type[Block]]:
    """Blocks in a type; entries of classes and methods have chapters of their own."""
    if isinstance(annotation, type) and issubclass(annotation, Block):
        return [annotation] if annotation.__module__ != "jobs.config.entries" else []
    return [block for part in get_args(annotation) for block in _inside(part)]


def _blocks(root: type[Block], seen: set[type[Block]]) -> Iterator[str]:
    for block in blocks(root):
        if block in seen:
            continue
        lines = [f"## {block.__name__}", "", inspect.getdoc(block) or "", ""]
        lines += ["| setting | value | default | what it is |", "|---|---|---|---|"]
        for name, field in block.model_fields.items():
            cells = [f"`{name}`", _value(field), _default(field), field.description or ""]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        yield "\n".join(lines) + "\n"


def _value(field: FieldInfo) -> str:
    limits = [
        text.format(getattr(one, key))
        for one in field.metadata
        for key, text in LIMITS.items()
        if getattr(one, key, None) is not None
    ]
    return ", ".join([_type(field.annotation), *limits])


def _type(annotation: Any) -> str:
    """A type in words; blocks are links to their tables."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(parts[0])
    if origin is Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_type(part) for part in parts if part is not type(None)))
    if origin in (tuple, list):
        return f"list of {_type(parts[0])}"
    if origin is dict:
        return f"block of {_type(parts[0])} to {_type(parts[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation.__module__ == "jobs.config.entries":
            return "name, or `{name: {setting: value}}`"
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    return PLAIN[annotation]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    return _shown(field.default)


def _shown(value: Any) -> str:
    """A default as a reader of YAML knows it."""
    if value is None:
        return ""
    if isinstance(value, BaseModel):
        return "its defaults"
    if isinstance(value, (tuple, list)):
        if len(value) > 5:
            return f"{len(value)} of them"
        names = [getattr(one, "name", one) for one in value]
        return f"`[{', '.join(map(str, names))}]`"
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`"


def _function_classes() -> Iterator[str]:
    yield f"# Function classes\n\nEntries of `function_classes`: a name, or `{{name: {{setting: value}}}}`. {OVER}\n"
    for name, kind in FUNCTION_CLASSES.items():
        attained = "attained by one of the class's functions: a lower bound, with a proven upper one"
        lines = [inspect.getdoc(kind) or "", "", f"- Values: {'exact' if kind.is_exact else attained}."]
        yield _chapter(name, lines, map(_library_setting, declarations(kind).values()))


def _methods() -> Iterator[str]:
    yield f"# Methods\n\nEntries of `methods`: a name, or `{{name: {{setting: value}}}}`. {VALUES}\n"
    for name, method in METHODS.items():
        own = declarations(method)
        rows = [
            _library_setting(own[setting], of_audit=setting == "seed")
            if setting in own
            else _made_setting(name, setting)
            for setting in known_settings(name)
        ]
        yield _chapter(name, [inspect.getdoc(method) or "", "", *_traits(method)], rows)


def _chapter(name: str, lines: Iterable[str], rows: Iterable[str]) -> str:
    rows = list(rows)
    head = ["| setting | value | default | what it is |", "|---|---|---|---|"]
    return "\n".join([f"## `{name}`", "", *lines, *(["", *head, *rows] if rows else []), ""])


def _library_setting(one: Declaration, *, of_audit: bool = False) -> str:
    """A row of a table; of_audit: a configuration takes the audit's own setting of that name by default."""
    default = "the audit's" if of_audit else _shown(one.default)
    return f"| `{one.name}` | {one.expected} | {default} | {one.description} |"


def _made_setting(method: str, setting: str) -> str:
    """A setting that names something of a data set, which the job makes an array of."""
    expected = f"list of {LISTS[setting][0]}" if setting in LISTS else "text"
    return f"| `{setting}` | {expected} |  | {DESCRIPTIONS[method][setting]} |"


def _traits(method: type[Method]) -> list[str]:
    traits = []
    if method.parameter is not None:
        traits.append(f"- Parameter: {method.parameter}, {method.value.expected}.")
    if method.is_constrained:
        takes = ", ".join(f"`{one}`" for one in method.classes) if method.classes else "every class"
        traits.append(f"- Bounds the MPR of {takes}.")
    if method.needs_embeddings:
        traits.append("- Reads the items' vectors" + (" and the query's." if method.needs_query else "."))
    return traits or ["- No parameter."]


if __name__ == "__main__":
    print(reference(), end="")
