from jobs.run.attempts import Limits, Loss, lost
from jobs.run.nodes import ASKED, Nodes
from jobs.stages.unit import WORKER_BYTES

GIGABYTE = 10**9


def nodes(*resources: dict) -> Nodes:
    return Nodes(lambda: [{"Alive": True, "Resources": one} for one in resources])


def test_cpus_of_living_machines_and_at_least_one():
    assert nodes({"CPU": 4.0}, {"CPU": 2.0}, {"memory": 1.0}).cpus == 6
    assert nodes().cpus == 1
    assert Nodes(lambda: [{"Alive": False, "Resources": {"CPU": 9.0}}]).cpus == 1


def test_a_unit_asks_for_its_share_and_after_running_out_for_twice_as_much_up_to_a_whole_machine():
    cluster = nodes({"CPU": 4.0, "memory": 8 * GIGABYTE}, {"CPU": 2.0, "memory": 16 * GIGABYTE})
    asked = [cluster.request_bytes(Limits(), halvings) for halvings in range(5)]
    assert asked == [int(ASKED * size * GIGABYTE) for size in (2, 4, 8, 16, 16)]


def test_a_limit_is_asked_for_where_it_is_more_than_a_share():
    cluster = nodes({"CPU": 4.0, "memory": 8 * GIGABYTE})
    assert cluster.request_bytes(Limits(memory_bytes=3 * GIGABYTE), 0) == 3 * GIGABYTE
    assert cluster.request_bytes(Limits(memory_bytes=GIGABYTE), 0) == int(ASKED * 2 * GIGABYTE)
    assert nodes({"CPU": 4.0}).request_bytes(Limits(), 0) is None


def test_a_unit_that_holds_more_than_a_share_asks_for_it():
    cluster = nodes({"CPU": 16.0, "memory": 32 * GIGABYTE})
    assert cluster.request_bytes(Limits(), 0, 0.5 * GIGABYTE) == int(ASKED * 2 * GIGABYTE)
    assert cluster.request_bytes(Limits(), 0, 7 * GIGABYTE) == int(7 * GIGABYTE + WORKER_BYTES)
    assert cluster.request_bytes(Limits(), 0, 100 * GIGABYTE) == int(ASKED * 32 * GIGABYTE)


def test_what_ray_says_of_a_loss():
    kinds = {"OutOfMemoryError": Loss.NODE_MEMORY, "NodeDiedError": Loss.NODE, "WorkerCrashedError": Loss.WORKER}
    for name, loss in (kinds | {"SomethingElse": Loss.ERROR}).items():
        assert lost(type(name, (Exception,), {})("gone")).loss is loss
    died = type("ActorDiedError", (Exception,), {})
    assert lost(died("its worker process has died")).loss is Loss.WORKER
    assert lost(died("The actor died because its node has died. Node Id: 1")).loss is Loss.NODE
    assert lost(died("killed due to the node running low on memory")).loss is Loss.NODE_MEMORY
    assert lost(died("x")).reason == "ActorDiedError: x"
