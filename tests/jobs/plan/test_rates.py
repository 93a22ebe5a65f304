"""Estimates follow what this machine took in earlier runs, stage by stage."""

import json
from dataclasses import dataclass
from typing import ClassVar

import pytest

from jobs.audit import prepare, run
from jobs.config.file import read_config
from jobs.plan.estimate import estimate
from jobs.plan.rates import LARGEST_RATE, SECONDS_AROUND, Rate, Rates, learn, read_rates
from jobs.run.progress import Silent
from jobs.stages.unit import Cost, Unit, outside_key
from jobs.store import Receipt
from jobs.store.user_cache import VARIABLE, user_cache
from tests.jobs.conftest import write_audit


@dataclass(frozen=True, kw_only=True, slots=True)
class Small(Unit):
    """A unit of a second, whatever its work."""

    stage: ClassVar[str] = "small"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 1.0
    work: float = outside_key(0.0)
    number: int = 0

    def cost(self) -> Cost:
        return Cost(seconds=self.work)


@dataclass(frozen=True, kw_only=True, slots=True)
class Nothing(Small):
    """One whose stage says that it takes no time."""

    stage: ClassVar[str] = "nothing"
    seconds: ClassVar[float] = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Large(Small):
    """The same in another stage."""

    stage: ClassVar[str] = "large"


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def taken(units, seconds):
    return {
        unit.key: Receipt(stage=unit.stage, key=unit.key, title="", files={}, seconds=seconds, cpu_seconds=seconds)
        for unit in units
    }


def test_a_machine_that_nobody_has_timed():
    assert read_rates() == Rates()
    units = [Small(title="", number=number, work=3.0) for number in range(4)]
    assert Rates().seconds(units, cpus=2) == 4 * (1 + 3) / 2
    assert Rates().seconds(units[:1], cpus=2) == 4


def test_work_is_told_by_large_units_and_the_rest_by_small_ones():
    large = [Large(title="", number=number, work=9.0) for number in range(4)]
    learn(large, taken(large, 19.0), wall_seconds=100.0, cpus=2)
    assert read_rates().stages == {"large": Rate(unit=1.0, work=2.0)}
    assert read_rates().around == 100 - 4 * 19 / 2
    small = [Large(title="", number=number) for number in range(9)]
    learn(small, taken(small, 0.5), wall_seconds=12.0, cpus=2)
    rates = read_rates()
    assert rates.stages == {"large": Rate(unit=0.5, work=2.0)}
    assert rates.seconds(large, cpus=1) == 4 * (0.5 + 18)
    # No run has timed the other stage: it is as fast as those that are known.
    assert rates.of("small") == Rate(unit=0.5, work=2.0)


def test_a_stage_that_expects_to_take_nothing_tells_nothing():
    units = [Nothing(title="")]
    learn(units, taken(units, 0.5), wall_seconds=2.0, cpus=1)
    assert read_rates().stages == {"nothing": Rate()}


def test_a_disturbed_measurement_does_little():
    units = [Small(title="", work=9.0)]
    learn(units, taken(units, 1e9), wall_seconds=1e9, cpus=1)
    assert read_rates().of("small").work == LARGEST_RATE


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"x": 1}', "no json"])
def test_a_damaged_file_is_as_none(cache, content):
    cache.mkdir()
    (cache / "rates.json").write_text(content)
    assert read_rates() == Rates()
    units = [Small(title="", work=9.0)]
    learn(units, taken(units, 19.0), wall_seconds=100.0, cpus=2)
    assert read_rates().of("small").work == 2.0


def test_a_cache_that_cannot_be_written_is_done_without(cache):
    cache.write_text("a file")
    units = [Small(title="", work=9.0)]
    learn(units, taken(units, 19.0), wall_seconds=100.0, cpus=2)
    assert read_rates() == Rates()


def test_a_run_is_remembered_and_the_next_estimate_is_near_it(tmp_path):
    path = write_audit(tmp_path)
    config = read_config(path)
    summary = run(config, str(tmp_path / "run"), Silent())
    assert json.loads((user_cache() / "rates.json").read_text())
    _, plan = prepare(config)
    found = estimate(config.settings, plan, {unit.key for unit in plan.units})
    assert read_rates().around != SECONDS_AROUND
    assert summary.seconds / 1.5 <= found.wall_seconds <= 1.5 * summary.seconds
