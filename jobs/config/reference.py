"""The configuration reference, docs/configuration.md: `python -m jobs.config.reference` prints it.

Everything in it comes from the settings themselves: descriptions, types, defaults and limits from the blocks, function
classes and methods from the registries.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from jobs.config.audit import Audit
from jobs.config.prompts import PromptTraining
from jobs.datasets import DEFAULT_KIND, KINDS
from jobs.datasets.block import Dataset
from jobs.methods import arrays_of, known_settings
from jobs.settings.block import Block, OneOf
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
several documents, tabs as indentation and a key that occurs twice in its block are errors.
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
            for field in block.model_fields.values():
                waiting += _inside(field.annotation, field.metadata)


def _inside(annotation: Any, metadata: Sequence[Any] = ()) -> list[type[Block]]:
    """Blocks in a type; entries of classes and methods have chapters of their own."""
    if isinstance(annotation, type) and issubclass(annotation, Block):
        return _documented(annotation, metadata) if annotation.__module__ != "jobs.config.entries" else []
    inner = getattr(annotation, "__metadata__", ())
    return [block for part in get_args(annotation) for block in _inside(part, (*metadata, *inner))]


def _documented(block: type[Block], metadata: Sequence[Any]) -> list[type[Block]]:
    """The blocks that say what a setting holds: one, or what its kinds have in common, if anything, and each kind."""
    kinds = [kind for mark in metadata if isinstance(mark, OneOf) for kind in mark.kinds.values()]
    return [*([block] if not kinds or _shared(block) else []), *kinds]


def _shared(block: type[Block]) -> list[str]:
    """Settings that all kinds of a block have in common, beside the kind."""
    return [name for name in block.model_fields if name != "kind"]


def _own_fields(block: type[Block]) -> dict[str, FieldInfo]:
    """Settings that the block does not share with the other kinds of its parent, which has a table of its own."""
    inherited = [parent.model_fields for parent in block.__mro__[1:] if issubclass(parent, Block)]
    shared = {name for fields in inherited for name in fields if name != "kind"}
    return {name: field for name, field in block.model_fields.items() if name not in shared}


def _blocks(root: type[Block], seen: set[type[Block]]) -> Iterator[str]:
    for block in blocks(root):
        if block in seen:
            continue
        lines = [f"## {block.__name__}", "", inspect.getdoc(block) or "", ""]
        if issubclass(block, Dataset):
            lines += _kinds_of_data_sets() if block is Dataset else _shared_settings(Dataset)
        lines += ["| setting | value | default | what it is |", "|---|---|---|---|"]
        for name, field in _own_fields(block).items():
            value = _value(field) if (block, name) != (Dataset, "kind") else f"one of {', '.join(map(_code, KINDS))}"
            default = _default(field) if (block, name) != (Dataset, "kind") else _code(DEFAULT_KIND)
            cells = [f"`{name}`", value, default, field.description or ""]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        yield "\n".join(lines) + "\n"


def _kinds_of_data_sets() -> list[str]:
    """Every kind: what its items are, the attributes that it has by itself, and its terms."""
    lines = ["| kind | items | attributes without settings | terms |", "|---|---|---|---|"]
    for kind, block in KINDS.items():
        own = ", ".join(map(_code, block.own_attributes)) or "none, `attributes` is required"
        lines.append(f"| [{kind}](#{block.__name__.lower()}) | {block.items} | {own} | {block.terms} |")
    return [*lines, ""]


def _shared_settings(parent: type[Block]) -> list[str]:
    return [f"Its settings beside [those of every data set](#{parent.__name__.lower()}):", ""]


def _code(text: str) -> str:
    return f"`{text}`"


def _value(field: FieldInfo) -> str:
    limits = [
        text.format(getattr(one, key))
        for one in field.metadata
        for key, text in LIMITS.items()
        if getattr(one, key, None) is not None
    ]
    return ", ".join([_type(field.annotation, field.metadata), *limits])


def _type(annotation: Any, metadata: Sequence[Any] = ()) -> str:
    """A type in words; blocks are links to their tables."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(parts[0], (*metadata, *parts[1:]))
    if origin is Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_type(part) for part in parts if part is not type(None)))
    if origin in (tuple, list):
        return f"list of {_type(parts[0])}"
    if origin is dict:
        return f"block of {_type(parts[0])} to {_type(parts[1])}"
    if isinstance(annotation, type) and issubclass(annotation, Block):
        if annotation.__module__ == "jobs.config.entries":
            return "name, or `{name: {setting: value}}`"
        documented = _documented(annotation, metadata)
        linked = documented[:1] if _shared(annotation) else documented
        return " or ".join(f"[{one.__name__}](#{one.__name__.lower()})" for one in linked)
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
    named = arrays_of(method).settings[setting]
    return f"| `{setting}` | {named.expected} |  | {named.description} |"


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
