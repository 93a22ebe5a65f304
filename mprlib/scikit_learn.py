"""A clear message where scikit-learn is missing, since the library is installed without it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mprlib.errors import InputError


@contextmanager
def scikit_learn_for(what: str) -> Iterator[None]:
    """Imports of scikit-learn within this context are for that class, method or function.

    Raises:  InputError with the command that installs it.

    >>> with scikit_learn_for("function class forest"):
    ...     raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")
    Traceback (most recent call last):
    mprlib.errors.InputError: function class forest needs scikit-learn, which is not installed: pip install scikit-learn
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        raise InputError(f"{what} needs scikit-learn, which is not installed: pip install scikit-learn") from None
