"""What a configuration says of a method beside its values, in the words of a data set.

The library's methods take arrays (a class an item, an order of columns, a subspace); a configuration
names what these are made of. Each such keyword has its setting here; other keywords of a method
are numbers or words and pass through. `jobs.stages.extras` makes the arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.config.block import as_written
from mprlib import registry
from mprlib.declarations import declarations
from mprlib.errors import SettingError
from mprlib.method import Method

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
# Settings that are one text.
TEXTS = ("phrases", "group", "tokens")


def known_settings(name: str) -> list[str]:
    """Settings of a method in a configuration, its values aside."""
    made = MADE_FROM.get(name, {})
    plain = [setting for setting in declarations(registry.METHODS[name]) if setting not in made]
    return [*plain, *(setting for settings in made.values() for setting in settings)]


def checked_settings(method: type[Method], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they are used; those that the method has itself are checked by the method.

    Raises:  SettingError, one sentence.
    """
    names = [name for name in declarations(method) if name in settings]
    instance = registry.method(method.name, **{name: settings[name] for name in names})
    own = {name: getattr(instance, name) for name in names}
    sources = [setting for setting in LISTS if setting in settings]
    if len(sources) > 1:
        raise SettingError(f"both {sources[0]} and {sources[1]} are given: one of them is expected", setting=sources[1])
    lists = {setting: texts_of(setting, settings[setting], *LISTS[setting]) for setting in sources}
    if "debiased_query" in MADE_FROM.get(method.name, {}) and "tokens" not in settings:
        raise SettingError(f"{method.name} needs tokens, a file of learned tokens: `mpr-audit train-prompt` makes one")
    texts = {setting: settings[setting] for setting in TEXTS if setting in settings}
    for setting, text in texts.items():
        if not (isinstance(text, str) and text):
            raise SettingError(f"{setting} is {text!r:.80}: one text is expected", setting=setting)
    if "=" not in texts.get("group", "="):
        raise SettingError(f"group is {texts['group']!r}: the form attribute=level is expected", setting="group")
    if "share" in own and "group" not in settings:
        raise SettingError("a share without a group is given: say whose share it is", setting="share")
    found = own | lists | texts
    return {name: found[name] for name in settings}


def texts_of(setting: str, value: Any, expected: str, least: int = 1) -> list[str]:
    """A list of that many texts, none of them empty; a number is taken as it is written.

    Raises:  SettingError for anything else.
    """
    texts = [as_written(one) for one in value] if isinstance(value, (list, tuple)) else []
    if len(texts) < least or not all(isinstance(text, str) and text for text in texts):
        raise SettingError(f"{setting} is {value!r:.80}: a list of {expected} is expected", setting=setting)
    return texts


def column_of(group: str, names: Sequence[str]) -> int:
    """The column of a group, `attribute=level`, among the names of all.

    Raises:  SettingError for a group that nobody belongs to.
    """
    if group not in names:
        raise SettingError(f"group {group!r} is unknown: known are {', '.join(names)}", setting="group")
    return names.index(group)
