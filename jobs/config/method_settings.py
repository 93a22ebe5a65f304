"""What a configuration says of a method beside its values, in the words of a data set.

The library's methods take arrays (a class an item, an order of columns, a subspace); a configuration
names what these are made of. Each such keyword has its setting here; other keywords of a method
are numbers or words and pass through. `jobs.stages.extras` makes the arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import mprlib
from mprlib import registry

# Keyword of a method that takes an array -> the settings of a configuration that it is made from.
MADE_FROM: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "pbm": {"group_labels": ("attributes", "prompts", "probes")},
    "clip_clip": {"order": ("attributes",)},
    "debias_clip": {"debiased_query": ("tokens",)},
    "paths": {"subspace": ("phrases",)},
    "fair_top_k": {"protected": ("group",)},
}

# Settings that list texts: what they hold, and how many at least.
LISTS = {
    "attributes": ("names of attributes", 1),
    "prompts": ("a neutral text and one for each class", 2),
    "probes": ("names of probes", 1),
}


def known_settings(name: str) -> list[str]:
    """Settings of a method in a configuration, its values aside."""
    made = MADE_FROM.get(name, {})
    plain = [keyword for keyword in registry.METHODS[name].keywords if keyword not in made]
    return [*plain, *(setting for settings in made.values() for setting in settings)]


def check(name: str, settings: Mapping[str, Any]) -> None:
    """Refuse settings that the method would refuse, before anything is computed.

    Raises:  ValueError, one sentence.
    """
    sources = [setting for setting in LISTS if setting in settings]
    if len(sources) > 1:
        raise ValueError(f"method {name} has both {sources[0]} and {sources[1]}: one of them is expected")
    for setting in sources:
        expected, least = LISTS[setting]
        if not _is_list_of_texts(settings[setting], least):
            raise ValueError(f"method {name} has {setting} {settings[setting]!r}: a list of {expected} is expected")
    if "debiased_query" in MADE_FROM.get(name, {}) and "tokens" not in settings:
        raise ValueError(f"method {name} needs tokens, a file of learned tokens: `mpr-audit train-prompt` makes one")
    for setting in ("phrases", "group", "tokens"):
        if setting in settings and not (isinstance(settings[setting], str) and settings[setting]):
            raise ValueError(f"method {name} has {setting} {settings[setting]!r}: one text is expected")
    if "group" in settings and "=" not in settings["group"]:
        raise ValueError(f"method {name} has group {settings['group']!r}: the form attribute=level is expected")
    if "share" in settings and "group" not in settings:
        raise ValueError(f"method {name} has a share without a group: say whose share it is")
    _try(name, settings)


def _is_list_of_texts(value: Any, least: int) -> bool:
    return isinstance(value, list) and len(value) >= least and all(isinstance(text, str) and text for text in value)


def _try(name: str, settings: Mapping[str, Any]) -> None:
    """Numbers and words are checked by the method itself, on four items."""
    method = registry.METHODS[name]
    plain = {setting: value for setting, value in settings.items() if setting in method.keywords}
    if not plain or method.is_constrained:
        return
    arrays = {}
    if "subspace" in method.keywords:
        arrays["subspace"] = np.eye(2)
    if "protected" in method.keywords:
        arrays |= {"protected": [True, True, False, False], "share": 0.5}
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    problem = mprlib.Problem(
        scores=corners[:, 0], labels=corners, reference=corners, k=2, embeddings=corners, query=[1.0, 0.0]
    )
    value = None if method.parameter is None else 0
    try:
        mprlib.select(problem, name, value, **arrays | plain)
    except (mprlib.InputError, TypeError) as error:
        raise ValueError(f"method {name}: {error}") from None
