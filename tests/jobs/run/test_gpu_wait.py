"""GPUs that a cluster brings when it is asked."""

import pytest

from jobs.config.runtime import Runtime
from jobs.run.encoder_actors import encoder_actors
from jobs.run.gpu_wait import await_gpus

BARE, SIGHTED = (8.0, 0.0), (8.0, 1.0)


class GrowingCluster:
    """Brings one machine with a GPU a look, once it was asked."""

    def __init__(self, most: int) -> None:
        self.nodes, self.most, self.asked, self.pauses = [BARE], most, [], 0

    def offers(self):
        return self.nodes

    def pause(self, _):
        self.pauses += 1
        if len(self.nodes) - 1 < min(self.most, len(self.asked[-1])):
            self.nodes.append(SIGHTED)

    def run(self, kind="open_clip", **settings):
        await_gpus(Runtime(**settings), kind, self.offers, self.asked.append, self.pause)
        return self


def test_as_many_as_actors_are_awaited_and_the_order_ends():
    cluster = GrowingCluster(most=4).run(await_gpus_seconds=60, encoder_actors=3)
    assert cluster.nodes.count(SIGHTED) == cluster.pauses == 3
    assert cluster.asked == [[{"CPU": 1.0, "GPU": 1.0}] * 3, []]
    shape = encoder_actors(Runtime(encoder_actors=3), "open_clip", cluster.offers())
    assert (shape.count, shape.gpus) == (3, 1)


def test_one_is_enough_where_nothing_is_said():
    assert GrowingCluster(most=4).run(await_gpus_seconds=60).nodes == [BARE, SIGHTED]


def test_waiting_ends(monkeypatch):
    monkeypatch.setattr("jobs.run.gpu_wait.time.monotonic", iter(range(100)).__next__)
    cluster = GrowingCluster(most=0).run(await_gpus_seconds=10)
    assert 5 < cluster.pauses <= 10
    assert cluster.asked[-1] == []


@pytest.mark.parametrize(
    "settings",
    [{}, {"await_gpus_seconds": 60, "kind": "sentence"}, {"await_gpus_seconds": 60, "gpus_per_actor": 0}],
)
def test_nobody_is_asked_for_nothing(settings):
    assert GrowingCluster(most=1).run(**settings).asked == []


def test_the_run_says_that_it_waits():
    assert "is asked for" in encoder_actors(Runtime(await_gpus_seconds=60), "open_clip", [BARE]).note
