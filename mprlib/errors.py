"""Exceptions and warnings, by whose fault they are."""


class MprError(Exception):
    """Base of every error that mprlib raises on purpose.

    >>> import mprlib
    >>> issubclass(mprlib.InputError, mprlib.MprError), issubclass(mprlib.SolverError, mprlib.MprError)
    (True, True)
    """


# Characters of a wrong value that a message shows.
SHOWN = 60


def shown(value: object) -> str:
    """A wrong value as a message shows it, in one line; cut where it is long, by its kind where it is unwritable."""
    try:
        text = " ".join(repr(value).split()) if not isinstance(value, str) else repr(value)
    except ValueError:  # whole numbers of thousands of digits
        return f"a very large {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


class InputError(MprError, ValueError):
    """An argument is unusable; the message names the argument and what was expected.

    >>> import mprlib
    >>> try:
    ...     mprlib.Problem(scores=[0.9], labels=[[1]], reference=[[1]], k=2)
    ... except mprlib.InputError as error:
    ...     print(error)
    k is 2: it must lie between 1 and the pool's 1 item
    """


class SettingError(InputError):
    """A setting holds what it may not, or does not exist; `setting` is its name."""

    def __init__(self, message: str, *, setting: str = "") -> None:
        super().__init__(message)
        self.setting = setting


class SolverError(MprError, RuntimeError):
    """A numerical solver gave no usable answer, twice; the message carries its status.

    >>> import mprlib
    >>> str(mprlib.SolverError("HiGHS ended with status kUnknown"))
    'HiGHS ended with status kUnknown'
    """


class AssumptionWarning(UserWarning):
    """Something was assumed about an argument that may not hold; the message says how to state it.

    >>> import warnings
    >>> import mprlib
    >>> shares = mprlib.Problem(scores=[0.9, 0.8] * 40, labels=[[1, 0], [0, 1]] * 40, reference=[[1, 0], [0, 1]], k=2)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = mprlib.measure(shares, [0, 1])
    >>> [one.category.__name__ for one in caught]
    ['AssumptionWarning']
    """
