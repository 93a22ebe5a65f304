"""Units of real stages' names with given keys, which nobody runs."""

from dataclasses import dataclass
from typing import ClassVar

from jobs.stages.unit import EncodingUnit, Unit, outside_key


@dataclass(frozen=True, kw_only=True, slots=True)
class Fake(Unit):
    """A unit whose key is given."""

    stage: ClassVar[str] = "solve"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.1

    given: str = outside_key()

    def __post_init__(self):
        object.__setattr__(self, "key", self.given)


@dataclass(frozen=True, kw_only=True, slots=True)
class FakeOfACase(Fake):
    """One that shares what it reads with others of the case."""

    case: str = outside_key()

    @property
    def shared_reading(self):
        return self.case


class FakePool(Fake):
    stage = "pool"


@dataclass(frozen=True, kw_only=True, slots=True)
class FakeEncoding(EncodingUnit):
    """One that is embedded."""

    stage: ClassVar[str] = "embed"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.1

    given: str = outside_key()

    def __post_init__(self):
        object.__setattr__(self, "key", self.given)


KINDS = {kind.stage: kind for kind in (Fake, FakePool, FakeEncoding)}


def fake_unit(key, title="", stage="solve"):
    """A unit of that stage with that key."""
    return KINDS[stage](title=title, given=key)
