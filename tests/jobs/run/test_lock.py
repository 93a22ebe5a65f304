"""Two runs into one folder: who gets it, and what becomes of a dead run's lock."""

import json
import subprocess
import sys
import threading
import time
from dataclasses import asdict

import psutil
import pytest

from jobs.cli import main
from jobs.errors import RunError
from jobs.run import heartbeat
from jobs.run import lock as lock_module
from jobs.run.lock import LOCK, Lock
from jobs.run.process import Process, this_process
from jobs.store import Store


@pytest.fixture(params=["local", "memory"])
def store(request, tmp_path):
    return Store(str(tmp_path / "run") if request.param == "local" else f"memory://{tmp_path.name}")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    for module, name in ((heartbeat, "DISK_SECONDS"), (heartbeat, "OBJECT_SECONDS"), (lock_module, "SETTLE_SECONDS")):
        monkeypatch.setattr(module, name, 0.05)


def lock(store, run_id="second", said=None):
    return Lock(store, run_id, (said if said is not None else []).append)


def left_behind(store, process, **changes):
    """A lock whose holder is another process."""
    content = {"token": "x", "run_id": "first", "started": "before", "process": asdict(process), "beats": 0}
    store.write(LOCK, json.dumps(content | {"interval_seconds": 0.05} | changes).encode())


def dead_process():
    """One that has ended: its number may be anybody's by now."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        started = psutil.Process(child.pid).create_time()
        child.communicate(b"\n")
    here = this_process()
    return Process(host=here.host, machine=here.machine, pid=child.pid, started=started)


def elsewhere():
    return Process(host="node-7", machine="another", pid=1, started=0.0)


def test_a_second_run_is_refused_and_told_by_whom(store):
    refused = "in use by run first .process [0-9]+ on .*since .* UTC.: wait"
    with lock(store, "first"), pytest.raises(RunError, match=refused):
        lock(store).__enter__()
    with lock(store):
        pass
    assert not store.exists(LOCK)


def test_a_dead_process_of_this_machine_loses_its_lock_at_once(store):
    left_behind(store, dead_process(), interval_seconds=1000)
    said = []
    with lock(store, said=said) as mine:
        mine.expect_held()
    assert said == [said[0]]
    assert "took over the lock of run first" in said[0]


def test_a_number_that_is_used_again_is_another_process(store):
    here = this_process()
    left_behind(store, Process(host=here.host, machine=here.machine, pid=here.pid, started=here.started - 50))
    with lock(store):
        pass


def test_a_killed_process_that_nobody_has_asked_about_is_dead(store):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        here, started = this_process(), psutil.Process(child.pid).create_time()
        child.kill()
        while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
            pass
        left_behind(store, Process(host=here.host, machine=here.machine, pid=child.pid, started=started))
        with lock(store):
            pass


def test_another_machine_that_stopped_writing_loses_it_after_a_lease(store):
    left_behind(store, elsewhere())
    said = []
    with lock(store, said=said):
        pass
    assert ["watching" in said[0], "took over" in said[1]] == [True, True]


def test_another_machine_that_writes_keeps_it(store):
    left_behind(store, elsewhere())
    beating = threading.Timer(0.1, lambda: left_behind(store, elsewhere(), beats=1))
    beating.start()
    with pytest.raises(RunError, match="run first .process 1 on node-7"):
        lock(store).__enter__()
    beating.join()


def test_the_holder_writes_and_sees_that_it_was_thought_dead(store):
    with lock(store) as mine:
        mine.expect_held()
        beats = store.read_json(LOCK)["beats"]
        time.sleep(0.3)
        assert store.read_json(LOCK)["beats"] > beats
        # Stopped as a machine that hangs is: what it was about to write must not fall on what follows.
        mine._heartbeat.stop()
        left_behind(store, elsewhere())
        with pytest.raises(RunError, match="taken over by another run"):
            mine.expect_held()
    assert store.read_json(LOCK)["run_id"] == "first"  # not ours to remove


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}"])
def test_half_a_lock_is_nobodys(store, content):
    store.write(LOCK, content)
    with lock(store):
        pass


def test_of_many_that_find_a_dead_lock_one_gets_it(store):
    left_behind(store, dead_process())
    got, refused, release = [], [], threading.Event()

    def enter(number):
        try:
            with lock(store, f"run {number}"):
                got.append(number)
                release.wait(5)
        except RunError:
            refused.append(number)

    threads = [threading.Thread(target=enter, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    while len(got) + len(refused) < 6 and any(thread.is_alive() for thread in threads):
        release.wait(0.05)
        if len(refused) == 5:
            release.set()
    for thread in threads:
        thread.join()
    assert (len(got), len(refused)) == (1, 5)


@pytest.mark.usefixtures("cluster")
def test_the_command_line_refuses_a_folder_in_use(audit_file, tmp_path, capsys):
    output = tmp_path / "run"
    with lock(Store(str(output)), "monday"):
        assert main(["run", str(audit_file), "--output", str(output)]) == 1
    [line] = [line for line in capsys.readouterr().err.splitlines() if "in use" in line]
    assert "run monday" in line
    assert not (output / "results").exists()
