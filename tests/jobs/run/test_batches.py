from jobs.run.batches import MOST_UNITS, TASK_SECONDS, Batches
from jobs.stages.unit import Unit
from tests.jobs.fake_units import fake_unit


def units(count: int, stage: str = "solve") -> list[Unit]:
    return [fake_unit(str(number), stage=stage) for number in range(count)]


def test_nothing_is_known_at_first_then_batches_fill_a_task():
    batches = Batches(units(1000), window=4)
    assert [len(batches.take()) for _ in range(4)] == [1] * 4
    batches.learn("solve", 1, TASK_SECONDS / 10)
    assert len(batches.take()) == 10
    batches.learn("solve", 10, 0.0)
    assert len(batches.take()) == 20  # what was measured before counts for half
    for _ in range(20):
        batches.learn("solve", 10, 0.0)
    assert len(batches.take()) == MOST_UNITS


def test_long_units_travel_alone():
    batches = Batches(units(100), window=4)
    batches.learn("solve", 1, 10.0)
    assert len(batches.take()) == 1


def test_every_unit_is_dealt_once_and_the_last_ones_evenly():
    batches = Batches(units(100), window=4)
    batches.learn("solve", 1, 0.0)
    sizes, seen = [], []
    while batches:
        taken = batches.take()
        sizes.append(len(taken))
        seen += [unit.key for unit in taken]
    assert sorted(seen) == sorted(str(number) for number in range(100))
    assert sizes[0] == 25
    assert sizes[-4:] == [1] * 4


def test_a_batch_holds_one_stage():
    batches = Batches([*units(3, "pool"), *units(3, "solve")], window=1)
    batches.learn("pool", 1, 0.0)
    batches.learn("solve", 1, 0.0)
    assert [{unit.stage for unit in batches.take()} for _ in range(2)] == [{"pool"}, {"solve"}]


def test_units_that_failed_together_go_alone():
    batches = Batches(units(8), window=1)
    batches.learn("solve", 1, 0.0)
    taken = batches.take()
    assert len(taken) == 8 and not batches
    batches.split(taken)
    assert [len(batches.take()) for _ in range(8)] == [1] * 8
    assert not batches
