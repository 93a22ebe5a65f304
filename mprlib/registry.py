"""What there is: every method and every function class by name, and nothing that is not real."""

from __future__ import annotations

import dataclasses
from difflib import get_close_matches
from typing import Any

from mprlib.baselines import apportionment, clip_clip, debias_clip, dpp, fair_top_k, mmr, paths, pbm, top_k
from mprlib.errors import InputError, SettingError
from mprlib.function_classes.base import FunctionClass
from mprlib.function_classes.classifier import Classifier
from mprlib.function_classes.forest import Forest
from mprlib.function_classes.groups import Groups
from mprlib.function_classes.linear import Linear
from mprlib.function_classes.linear_regression import LinearRegression
from mprlib.function_classes.mlp import Mlp
from mprlib.function_classes.regressor import Regressor
from mprlib.function_classes.rkhs import Rkhs
from mprlib.function_classes.saturated import Saturated
from mprlib.function_classes.tree import Tree
from mprlib.function_classes.tree_greedy import TreeGreedy
from mprlib.method import Method
from mprlib.optimisers import integer, mopr, paper, quadratic
from mprlib.settings import Number, Whole

FUNCTION_CLASSES: dict[str, type[FunctionClass]] = {
    "linear": Linear,
    "linear_regression": LinearRegression,
    "tree": Tree,
    "tree_greedy": TreeGreedy,
    "forest": Forest,
    "mlp": Mlp,
    "rkhs": Rkhs,
    "groups": Groups,
    "saturated": Saturated,
}

METHODS: dict[str, Method] = {
    "top_k": Method(name="top_k", summary="the k most similar items", sweep=top_k.sweep),
    "mmr": Method(
        name="mmr",
        summary="maximal marginal relevance: similarity against distance to the chosen",
        sweep=mmr.sweep,
        parameter="lambda",
        value=Number(least=0, most=1),
        grid=mmr.grid,
        needs_embeddings=True,
    ),
    "pbm": Method(
        name="pbm",
        summary="blocks of one item of each class or a neutral item, the best single one with probability eps",
        sweep=pbm.sweep,
        parameter="eps",
        value=Number(least=0, most=1),
        grid=pbm.grid,
    ),
    "clip_clip": Method(
        name="clip_clip",
        summary="similarity without the embedding columns that tell most about the labels",
        sweep=clip_clip.sweep,
        parameter="columns dropped",
        value=Whole(least=0),
        value_of_width=clip_clip.columns_dropped,
        grid=clip_clip.grid,
        needs_embeddings=True,
        needs_query=True,
    ),
    "debias_clip": Method(
        name="debias_clip",
        summary="similarity to the query behind tokens that were trained to hide an attribute",
        sweep=debias_clip.sweep,
        needs_embeddings=True,
    ),
    "paths": Method(
        name="paths",
        summary="similarity against the distance to the nearest chosen item, in the span of describing phrases",
        sweep=paths.sweep,
        needs_embeddings=True,
    ),
    "apportionment": Method(
        name="apportionment",
        summary="the most similar items with whole seats for every level of every attribute",
        sweep=apportionment.sweep,
    ),
    "dpp": Method(
        name="dpp",
        summary="determinantal point process: relevance and the volume that the items span, by greedy MAP",
        sweep=dpp.sweep,
        needs_embeddings=True,
    ),
    "fair_top_k": Method(
        name="fair_top_k",
        summary="top-k with at least as many items of one protected group as a fair lottery would show",
        sweep=fair_top_k.sweep,
    ),
    "mopr": Method(
        name="mopr",
        summary="the most similar items with MPR at most rho, with a proven bound on what is lost",
        sweep=mopr.sweep,
        parameter="rho",
        grid=mopr.grid,
        is_constrained=True,
    ),
    "mopr_qp": Method(
        name="mopr_qp",
        summary="mopr for unit balls with its relaxation solved as a cone programme, one rho at a time",
        sweep=quadratic.sweep,
        classes=("linear", "rkhs", "saturated"),
        parameter="rho",
        grid=mopr.grid,
        is_constrained=True,
    ),
    "mopr_integer": Method(
        name="mopr_integer",
        summary="mopr continued to a proof: exhaustive search, then branch and bound with lazy cuts",
        sweep=integer.sweep,
        parameter="rho",
        grid=mopr.grid,
        is_constrained=True,
    ),
    "mopr_paper": Method(
        name="mopr_paper",
        summary="the paper's Algorithm 1 as printed, for comparison; its sets may break rho",
        sweep=paper.sweep,
        parameter="rho",
        grid=mopr.grid,
        is_constrained=True,
    ),
}


def function_class(name: str | FunctionClass | Any, /, **settings: Any) -> FunctionClass:
    """The class of that name with these settings; an instance, or a scikit-learn model, is its own class.

    Raises:  InputError for an unknown name or setting, with the known ones.
    """
    if not isinstance(name, str):
        if settings:
            raise InputError(f"settings {', '.join(settings)} come beside an instance of a class: set them there")
        return _instance(name)
    known = _known("function class", name, FUNCTION_CLASSES)
    fields = {field.name for field in dataclasses.fields(known)}
    for setting in settings:
        if setting not in fields:
            expected = f"it has {', '.join(sorted(fields))}" if fields else "it has no settings"
            raise SettingError(f"function class {name!r} has no setting {setting!r}: {expected}", setting=setting)
    return known(**settings)


def _instance(given: Any) -> FunctionClass:
    if not isinstance(given, type) and hasattr(given, "bind"):
        return given
    if not isinstance(given, type) and hasattr(given, "fit") and hasattr(given, "predict"):
        from sklearn.base import is_classifier  # noqa: PLC0415 (slow to import; whoever has a model has it loaded)

        return Classifier(model=given) if is_classifier(given) else Regressor(model=given)
    raise InputError(
        f"function_class is {given!r}: a name, an instance of a function class, or a scikit-learn model is expected"
    )


def method(name: str) -> Method:
    """The method of that name.

    Raises:  InputError for an unknown name, with the known ones.
    """
    return _known("method", name, METHODS)


def display_name(instance: FunctionClass) -> str:
    """Registry name, with the settings in brackets that differ from the default."""
    changed = [
        f"{field.name}={getattr(instance, field.name)}"
        for field in dataclasses.fields(instance)
        if getattr(instance, field.name) != field.default
    ]
    return f"{instance.name}({', '.join(changed)})" if changed else instance.name


def _known(kind: str, name: str, registry: dict[str, Any]) -> Any:
    if not isinstance(name, str):
        raise InputError(f"{kind} is {name!r}: one of {', '.join(registry)} is expected")
    if name in registry:
        return registry[name]
    close = get_close_matches(str(name), registry, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise InputError(f"unknown {kind} {name!r}: known are {', '.join(registry)}{hint}")
