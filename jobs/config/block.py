"""What every part of a configuration is, and the kinds of values that it holds."""

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Strict

from jobs.config.document import WrittenDecimal, WrittenWhole
from mprlib.settings import LARGEST_WHOLE

T = TypeVar("T")


def as_written(value: Any) -> Any:
    """A number as the text that it was written as; anything else as it is."""
    return value.written if isinstance(value, (WrittenWhole, WrittenDecimal)) else value


def _countable(value: int) -> int:
    if abs(value) > LARGEST_WHOLE:
        raise ValueError(f"a whole number of 64 bits is expected, got one of {len(str(abs(value)))} digits")
    return value


# A whole number that is written as one: neither true, nor "50", nor 50.0.
Whole = Annotated[int, Strict(), AfterValidator(_countable)]
# Text that stands in a table, a level or a column's name: 2024 and 1e3 are taken as they are written.
Label = Annotated[str, BeforeValidator(as_written)]
# YAML has lists, settings do not change: a tuple of them, whose members stay strict.
Many = Annotated[tuple[T, ...], Strict(False)]


class Block(BaseModel):
    """A part of the configuration: unknown keys are errors, types are strict, numbers finite, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
