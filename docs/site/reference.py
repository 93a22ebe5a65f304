"""The reference of the library, made of its docstrings, signatures and declared settings: pages in Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import mprlib
from docs.site.docstrings import escaped, markdown
from docs.site.public import MODULES, Public, exported, kind_of, stands_for_its_module
from mprlib.attention import Attention
from mprlib.declarations import declarations

# Chapters of the reference by the kind of what is in them, in this order: title and first sentence.
CHAPTERS = {
    "functions": ("Functions", "What is asked of a problem: measure, select, sweep and what is built of them."),
    "objects": ("Problems and results", "What is asked about, and what comes back. All of them are immutable."),
    "methods": (
        "Methods",
        "By name in `mprlib.METHODS`: `select(problem, NAME, value)` or `select(problem, Class(...), value)`.",
    ),
    "function classes": ("Function classes", "By name in `mprlib.FUNCTION_CLASSES`: what a gap is looked for with."),
    "errors": ("Errors", "What is raised, and what is warned of."),
}
WIDEST = 88
# Before names that take any number of arguments.
STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
# What every dataclass has in its docstring where it has none of its own.
GENERATED = "("


def pages() -> dict[str, str]:
    """Markdown by the page's name."""
    every = exported()
    chapters = {
        kind.replace(" ", "_"): _page(title, first, [one for one in every if kind_of(one) == kind])
        for kind, (title, first) in CHAPTERS.items()
    }
    modules = {module.__name__.removeprefix("mprlib."): _module(module.__name__) for module in MODULES}
    return {**chapters, **modules}


def _module(name: str) -> str:
    module = next(one for one in MODULES if one.__name__ == name)
    return _page(f"`{name}`", markdown(inspect.getdoc(module) or ""), exported(module))


def _page(title: str, first: str, names: list[Public]) -> str:
    sections = [_section(one) for one in names]
    return "\n\n".join([f"# {title}", first, *sections]) + "\n"


def _section(one: Public) -> str:
    """A name: its signature, what it says, its settings, and its methods."""
    parts = [f"## `{one.name}`", _signature(one)]
    if stands_for_its_module(one):
        parts.append(markdown(inspect.getdoc(one.module) or ""))
    parts += [markdown(_docstring(one), _arguments_of(one)), *_settings(one)]
    if not stands_for_its_module(one):
        parts += [_member(member) for member in one.members()]
    return "\n\n".join(filter(None, parts))


def _member(one: Public) -> str:
    short = one.name.split(".", 1)[1]
    if isinstance(one.value, property):
        return f"### `{short}`\n\n{markdown(_docstring(one))}"
    return f"### `{short}()`\n\n{_signature(one)}\n\n{markdown(_docstring(one), _arguments_of(one))}"


def _arguments_of(one: Public) -> frozenset[str]:
    """Names of arguments, which are a class's fields as well; none where nobody calls it."""
    return frozenset(inspect.signature(one.value).parameters if _signature(one) else ())


def _docstring(one: Public) -> str:
    text = inspect.getdoc(one.value) or ""
    # A dataclass without a docstring has its signature there, which is shown already.
    return "" if text.startswith(one.name.rpartition(".")[2] + GENERATED) else text


def _signature(one: Public) -> str:
    """The call, one argument a line where it is long; nothing for errors and enumerations."""
    if one.is_class and (kind_of(one) == "errors" or not hasattr(one.value, "__dataclass_fields__")):
        return ""
    found = inspect.signature(one.value)
    shown = _arguments(found)
    returns = "" if one.is_class or found.return_annotation is found.empty else f" -> {_type(found.return_annotation)}"
    name = one.name.rpartition(".")[2] if one.name.count(".") > 1 else one.name
    line = f"{name}({', '.join(shown)}){returns}"
    if len(line) > WIDEST:
        body = "".join(f"    {argument},\n" for argument in shown)
        line = f"{name}(\n{body}){returns}"
    return f"```python\n{line}\n```"


def _arguments(found: inspect.Signature) -> list[str]:
    """Arguments as they are written, without what is declared of settings beside their types."""
    shown, is_keyword_only = [], False
    for name, parameter in found.parameters.items():
        if name in ("self", "cls") or name.startswith("_"):
            continue
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not is_keyword_only:
            is_keyword_only = True
            shown.append("*")
        is_keyword_only = is_keyword_only or parameter.kind in STARS
        stars = STARS.get(parameter.kind, "")
        kind = "" if parameter.annotation is parameter.empty else f": {_type(parameter.annotation)}"
        default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        shown.append(f"{stars}{name}{kind}{default}")
    return shown


def _default(value: object) -> str:
    """A default as a caller would write it."""
    return repr(value.name if isinstance(value, Attention) else value)


def _type(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    declared = re.match(r"Annotated\[(.*?), (?=[A-Z\"'f(])", text, flags=re.DOTALL)
    return declared[1] if declared else text


def _settings(one: Public) -> Iterator[str]:
    """The declared settings of a method or a function class."""
    if not stands_for_its_module(one):
        return
    declared = declarations(one.value)
    if declared:
        lines = [f"- `{name}`: {escaped(setting.description)}" for name, setting in declared.items()]
        yield "\n".join(["Settings:", "", *lines])


def _sentence(paragraph: str) -> str:
    """The first sentence of a paragraph."""
    return re.split(r"(?<=\.) ", paragraph, maxsplit=1)[0]


def index() -> str:
    """The page that leads to the others."""
    found = {page: text.split("\n\n") for page, text in pages().items()}
    links = [
        f"- [{title.removeprefix('# ')}]({page}.md): {_sentence(first)}" for page, (title, first, *_) in found.items()
    ]
    registries = (
        f"{len(mprlib.METHODS)} methods and {len(mprlib.FUNCTION_CLASSES)} function classes are registered by name; "
        "printing `mprlib.METHODS[NAME]` shows its settings."
    )
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *found, "```"])
    return "\n\n".join(["# The library", registries, "\n".join(links), toctree]) + "\n"
