from jobs.run.batches import LONGEST_SECONDS, MOST_UNITS, TASK_SECONDS, Batches
from jobs.stages.unit import Unit
from tests.jobs.fake_units import FakeOfACase, fake_unit


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


def of_cases(cases: int, methods: int) -> list[Unit]:
    return [
        FakeOfACase(title="", given=f"{case} {method}", case=str(case))
        for case in range(cases)
        for method in range(methods)
    ]


def cases_of(taken: list[Unit]) -> list[str | None]:
    return [unit.shared_reading for unit in taken]


def test_units_that_read_the_same_are_not_parted():
    batches = Batches(of_cases(100, methods=3), window=2)
    batches.learn("solve", 1, TASK_SECONDS / 2)
    assert [cases_of(batches.take()) for _ in range(2)] == [3 * ["0"], 3 * ["1"]]


def test_long_units_and_the_last_ones_are_parted_whatever_they_read():
    batches = Batches(of_cases(100, methods=3), window=2)
    assert cases_of(batches.take()) == ["0"]
    batches.learn("solve", 1, LONGEST_SECONDS)
    assert cases_of(batches.take()) == ["0"]
    few = Batches(of_cases(1, methods=4), window=4)
    few.learn("solve", 1, TASK_SECONDS / 2)
    assert [len(few.take()) for _ in range(4)] == [1] * 4
