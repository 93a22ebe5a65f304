"""Keywords of `select` and `sweep`, shared out between the method and the function class.

Names are short for instances with default settings, and keywords for settings: `select(p, "mmr", 0.5, "tree",
spread="nearest", depth=2)` is `select(p, Mmr(spread="nearest"), 0.5, Tree(depth=2))`. A keyword that both have
goes to neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mprlib import registry
from mprlib.declarations import declarations
from mprlib.errors import SettingError
from mprlib.function_classes.base import FunctionClass
from mprlib.method import Method
from mprlib.spelling import nearest

# What other packages, and papers, call a setting.
OTHER_WORDS = {
    "group": ("protected", "group_labels"),
    "groups": ("protected", "group_labels"),
    "protected_group": ("protected", "group_labels"),
    "sensitive": ("protected", "group_labels"),
    "sensitive_features": ("protected", "group_labels"),
    "labels": ("group_labels", "protected"),
    "p": ("share",),
    "proportion": ("share",),
    "target": ("share",),
    "alpha": ("significance",),
    "max_depth": ("depth",),
    "n_estimators": ("trees",),
    "random_state": ("seed",),
    "query": ("debiased_query",),
}
# How the two verbs call what belongs to the parameter.
VALUES = ("value", "values")


def resolved(
    method: str | Method, function_class: str | FunctionClass | Any, keywords: Mapping[str, Any]
) -> tuple[Method, FunctionClass]:
    """The method and the class that a caller means, with their settings.

    Raises:  InputError for unknown names, and for a keyword that neither has, or both.
    """
    kinds = registry.method_type(method), registry.function_class_type(function_class)
    own, other = map(declarations, kinds)
    for keyword in keywords:
        if keyword in own and keyword in other:
            raise SettingError(_ambiguous_text(*kinds, keyword), setting=keyword)
        if keyword not in own and keyword not in other:
            raise SettingError(_unknown_text(*kinds, keyword, keywords[keyword]), setting=keyword)
    settings = {name: value for name, value in keywords.items() if name in own}
    rest = {name: value for name, value in keywords.items() if name in other}
    return registry.method(method, **settings), registry.function_class(function_class, **rest)


def _ambiguous_text(method: type[Method], function_class: type[FunctionClass], keyword: str) -> str:
    return (
        f"{keyword} is a setting of method {method.name} and of function class {function_class.name}: pass instances, "
        f"{method.__name__}({keyword}=...) or {function_class.__name__}({keyword}=...), in the place of the names"
    )


def _unknown_text(method: type[Method], function_class: type[FunctionClass], keyword: str, given: Any) -> str:
    if method.parameter is not None and keyword in (method.parameter.replace(" ", "_"), *VALUES):
        values = given if isinstance(given, list) else [given]
        one = repr(values[0]) if values and isinstance(values[0], (int, float, str)) else "0.1"
        return (
            f"{keyword} is no keyword: {method.name}'s parameter {method.parameter} is the third argument, as in "
            f"select(problem, {method.name!r}, {one}) or sweep(problem, {method.name!r}, [{one}])"
        )
    meant = _suggestion(keyword, [*declarations(method), *declarations(function_class)])
    own, other = (", ".join(declarations(kind)) or "none" for kind in (method, function_class))
    return (
        f"neither the method nor the function class has a setting {keyword!r}: method {method.name!r} has {own}, "
        f"function class {function_class.name!r} has {other}{meant}"
    )


def _suggestion(keyword: str, known: Sequence[str]) -> str:
    """A setting that may have been meant."""
    meant = nearest(keyword, known) or next((name for name in OTHER_WORDS.get(keyword, ()) if name in known), None)
    return f"; did you mean {meant!r}?" if meant else ""
