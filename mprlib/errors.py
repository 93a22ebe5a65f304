"""What can go wrong, by whose fault."""


class MprError(Exception):
    """Base of every error that mprlib raises on purpose."""


class InputError(MprError, ValueError):
    """An argument is unusable; the message names the argument and what was expected."""


class SettingError(InputError):
    """A setting holds what it may not, or does not exist; `setting` is its name."""

    def __init__(self, message: str, *, setting: str = "") -> None:
        super().__init__(message)
        self.setting = setting


class SolverError(MprError, RuntimeError):
    """A numerical solver gave no usable answer, twice; the message carries its status."""


class AssumptionWarning(UserWarning):
    """Something was taken for granted that the caller may see otherwise; the message says what to state."""
