"""Every public name of the library has an example, which test_doctests runs and the site's reference shows."""

import pytest

from docs.site.public import every_name, examples, exported, kind_of, stands_for_its_module


@pytest.mark.parametrize("one", every_name(), ids=lambda one: one.name)
def test_every_class_and_function_has_an_example(one):
    assert examples(one), f"{one.name} has no example (>>>) in its docstring"


@pytest.mark.parametrize("one", every_name(), ids=lambda one: one.name)
def test_every_public_name_says_what_it_is(one):
    assert one.value.__doc__, f"{one.name} has no docstring"
    for member in one.members():
        assert member.value.__doc__ or stands_for_its_module(one), f"{member.name} has no docstring"


def test_registered_methods_and_classes_are_exported():
    kinds = {
        kind: {one.value for one in exported() if kind_of(one) == kind} for kind in ("methods", "function classes")
    }
    from mprlib import FUNCTION_CLASSES, METHODS

    assert set(METHODS.values()) <= kinds["methods"] and set(FUNCTION_CLASSES.values()) <= kinds["function classes"]
