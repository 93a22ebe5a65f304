"""Every method and every function class by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from mprlib.baselines.apportionment import Apportionment
from mprlib.baselines.as_shown import AsShown
from mprlib.baselines.bend_vlm import BendVlm
from mprlib.baselines.clip_clip import ClipClip
from mprlib.baselines.closed_form_debias import ClosedFormDebias
from mprlib.baselines.debias_clip import DebiasClip
from mprlib.baselines.det_cons import DetCons
from mprlib.baselines.det_const_sort import DetConstSort
from mprlib.baselines.det_greedy import DetGreedy
from mprlib.baselines.det_relaxed import DetRelaxed
from mprlib.baselines.dpp import Dpp
from mprlib.baselines.exposure_policy import ExposurePolicy
from mprlib.baselines.fair_top_k import FairTopK
from mprlib.baselines.mmr import Mmr
from mprlib.baselines.orth_cali import OrthCali
from mprlib.baselines.paths import Paths
from mprlib.baselines.pbm import Pbm
from mprlib.baselines.spd import Spd
from mprlib.baselines.top_k import TopK
from mprlib.declarations import DeclaredType, declarations
from mprlib.errors import InputError, SettingError
from mprlib.function_classes.base import FunctionClass
from mprlib.function_classes.classifier import Classifier
from mprlib.function_classes.forest import Forest
from mprlib.function_classes.groups import Groups
from mprlib.function_classes.linear import Linear
from mprlib.function_classes.linear_regression import LinearRegression
from mprlib.function_classes.mlp import Mlp
from mprlib.function_classes.mlp_trained import MlpTrained
from mprlib.function_classes.regressor import Regressor
from mprlib.function_classes.rkhs import Rkhs
from mprlib.function_classes.saturated import Saturated
from mprlib.function_classes.tree import Tree
from mprlib.function_classes.tree_greedy import TreeGreedy
from mprlib.html import table
from mprlib.method import Method
from mprlib.optimisers.integer import MoprInteger
from mprlib.optimisers.mopr import Mopr
from mprlib.optimisers.paper import MoprPaper
from mprlib.optimisers.quadratic import MoprQp
from mprlib.scikit_learn import scikit_learn_for
from mprlib.spelling import nearest

# What `mprlib` exports of methods and classes.
__all__ = [
    "FUNCTION_CLASSES",
    "METHODS",
    "Apportionment",
    "AsShown",
    "BendVlm",
    "Classifier",
    "ClipClip",
    "ClosedFormDebias",
    "DebiasClip",
    "DetCons",
    "DetConstSort",
    "DetGreedy",
    "DetRelaxed",
    "Dpp",
    "ExposurePolicy",
    "FairTopK",
    "Forest",
    "Groups",
    "Linear",
    "LinearRegression",
    "Mlp",
    "MlpTrained",
    "Mmr",
    "Mopr",
    "MoprInteger",
    "MoprPaper",
    "MoprQp",
    "OrthCali",
    "Paths",
    "Pbm",
    "Regressor",
    "Rkhs",
    "Saturated",
    "Spd",
    "TopK",
    "Tree",
    "TreeGreedy",
]

Kind = TypeVar("Kind", Method, FunctionClass)
Registered = TypeVar("Registered", bound=DeclaredType)


class Registry(dict[str, Registered]):
    """Kinds by name, which show their settings when they are printed."""

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {kind!r}" for name, kind in self.items())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        kinds = list(self.values())
        settings = ["; ".join(f"{one.name}={one.default!r}" for one in declarations(kind).values()) for kind in kinds]
        return table("", {"name": list(self), "settings": settings, "what": [kind.summary for kind in kinds]})


FUNCTION_CLASSES: Registry[type[FunctionClass]] = Registry(
    (kind.name, kind)
    for kind in (Linear, LinearRegression, Tree, TreeGreedy, Forest, Mlp, MlpTrained, Rkhs, Groups, Saturated)
)

METHODS: Registry[type[Method]] = Registry(
    (kind.name, kind)
    for kind in (
        TopK,
        AsShown,
        Mmr,
        Pbm,
        ClipClip,
        DebiasClip,
        Paths,
        OrthCali,
        Spd,
        BendVlm,
        ClosedFormDebias,
        Apportionment,
        Dpp,
        FairTopK,
        DetGreedy,
        DetCons,
        DetRelaxed,
        DetConstSort,
        ExposurePolicy,
        Mopr,
        MoprQp,
        MoprInteger,
        MoprPaper,
    )
)


def function_class(given: str | FunctionClass | Any, /, **settings: Any) -> FunctionClass:
    """The class of that name with these settings; an instance, or a scikit-learn model, is its own class.

    Raises:  InputError for an unknown name or setting, with the known ones.
    """
    if isinstance(given, str):
        return _instance("function class", function_class_type(given), settings)
    instance = _class_instance(given)
    _expect_none(settings, instance)
    return instance


def function_class_type(given: str | FunctionClass | Any) -> type[FunctionClass]:
    """The type behind a name or an instance.

    Raises:  InputError for what is neither.
    """
    return (
        _registered("function class", given, FUNCTION_CLASSES)
        if isinstance(given, str)
        else type(_class_instance(given))
    )


def method(given: str | Method, /, **settings: Any) -> Method:
    """The method of that name with these settings; an instance is itself.

    Raises:  InputError for an unknown name or setting, with the known ones.
    """
    kind = method_type(given)
    if isinstance(given, str):
        return _instance("method", kind, settings)
    _expect_none(settings, given)
    return given


def method_type(given: str | Method) -> type[Method]:
    """The type behind a name or an instance.

    Raises:  InputError for what is neither.
    """
    if isinstance(given, str):
        return _registered("method", given, METHODS)
    if isinstance(given, Method):
        return type(given)
    raise InputError(
        f"method is {_given_text(given)}: one of {', '.join(METHODS)}, or an instance of a method, is expected"
    )


def display_name(instance: FunctionClass) -> str:
    """Registry name, with the settings in brackets that differ from the default."""
    changed = [
        f"{name}={getattr(instance, name)}"
        for name, one in declarations(type(instance)).items()
        if getattr(instance, name) != one.default
    ]
    return f"{instance.name}({', '.join(changed)})" if changed else instance.name


def _class_instance(given: Any) -> FunctionClass:
    if isinstance(given, FunctionClass) or (not isinstance(given, type) and hasattr(given, "bind")):
        instance: FunctionClass = given
        return instance
    if not isinstance(given, type) and hasattr(given, "fit") and hasattr(given, "predict"):
        with scikit_learn_for("a model as function class"):
            from sklearn.base import is_classifier

        return Classifier(model=given) if is_classifier(given) else Regressor(model=given)
    raise InputError(
        f"function_class is {_given_text(given)}: a name, an instance of a function class, or a scikit-learn model is "
        "expected"
    )


def _registered(what: str, name: str, registry: Mapping[str, type[Kind]]) -> type[Kind]:
    if name in registry:
        return registry[name]
    close = nearest(name, registry)
    hint = f"; did you mean {close!r}?" if close else ""
    raise InputError(f"unknown {what} {name!r}: known are {', '.join(registry)}{hint}")


def _instance(what: str, kind: type[Kind], settings: Mapping[str, Any]) -> Kind:
    """An instance, with settings that it has."""
    known = declarations(kind)
    for setting in settings:
        if setting not in known:
            expected = f"it has {', '.join(known)}" if known else "it has no settings"
            raise SettingError(f"{what} {kind.name!r} has no setting {setting!r}: {expected}", setting=setting)
    return kind(**settings)


def _expect_none(settings: Mapping[str, Any], instance: Any) -> None:
    if settings:
        kind, names = type(instance).__name__, ", ".join(settings)
        example = f"{kind}({next(iter(settings))}=...)"
        raise InputError(f"{names} beside an instance of {kind}: state it there, as in {example}")


def _given_text(given: Any) -> str:
    return f"the class {given.__name__}, not {given.__name__}(...)" if isinstance(given, type) else repr(given)
