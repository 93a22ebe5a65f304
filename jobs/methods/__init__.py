"""What a configuration gives in the place of a method's arrays: one file a method that takes any.

The library's methods take arrays (a class an item, an order of columns, a subspace); a configuration names what
these are made of. Whatever else a method takes are numbers and words, which pass through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mprlib import registry
from mprlib.declarations import declarations
from mprlib.method import Method
from mprlib.registry import METHODS

from .as_shown import AsShownArrays
from .bend_vlm import BendVlmArrays
from .clip_clip import ClipClipArrays
from .closed_form_debias import ClosedFormDebiasArrays
from .debias_clip import DebiasClipArrays
from .fair_top_k import FairTopKArrays
from .named_arrays import Given, MethodNeeds, NamedArrays
from .orth_cali import OrthCaliArrays
from .paths import PathsArrays
from .pbm import PbmArrays
from .spd import SpdArrays

__all__ = [
    "ARRAYS",
    "Given",
    "MethodNeeds",
    "NamedArrays",
    "arrays_of",
    "checked_settings",
    "file_settings",
    "known_settings",
    "library_settings",
]

ARRAYS: dict[str, NamedArrays] = {
    "as_shown": AsShownArrays(),
    "pbm": PbmArrays(),
    "clip_clip": ClipClipArrays(),
    "debias_clip": DebiasClipArrays(),
    "paths": PathsArrays(),
    "orth_cali": OrthCaliArrays(),
    "spd": SpdArrays(),
    "bend_vlm": BendVlmArrays(),
    "closed_form_debias": ClosedFormDebiasArrays(),
    "fair_top_k": FairTopKArrays(),
}
_NONE = NamedArrays()


def arrays_of(method: str) -> NamedArrays:
    """What the configuration names for the method's arrays; nothing for a method without any."""
    return ARRAYS.get(method, _NONE)


def known_settings(method: str) -> list[str]:
    """Settings of a method in a configuration, its values aside."""
    arrays = arrays_of(method)
    return [*(name for name in declarations(METHODS[method]) if name not in arrays.keywords), *arrays.settings]


def file_settings(method: str) -> list[str]:
    """Settings of a method that are paths of files beside the configuration."""
    return [name for name, one in arrays_of(method).settings.items() if one.is_path]


def checked_settings(method: type[Method], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they are used; those that the method has itself are checked by the method.

    Raises:  SettingError, one sentence.
    """
    names = [name for name in declarations(method) if name in settings]
    instance = registry.method(method.name, **{name: settings[name] for name in names})
    found = {name: getattr(instance, name) for name in names} | arrays_of(method.name).checked(settings)
    return {name: found[name] for name in settings}


def library_settings(method: str, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """The settings of the library's method: its own, the audit's seed, and the arrays.

    Raises:  mprlib.InputError for a group that no item and no reference row belongs to.
    """
    own = declarations(METHODS[method])
    found = {name: value for name, value in settings.items() if name in own}
    if "seed" in own:
        found.setdefault("seed", given.seed)
    return found | arrays_of(method).arguments(settings, given)
