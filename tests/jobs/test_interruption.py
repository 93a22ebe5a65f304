"""Work that stops at a signal, and work that does not look at it, in processes of their own."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from jobs import interruption
from jobs.interruption import GRACE_SECONDS, IDLE_GRACE_SECONDS, LAST_SECONDS, SAME_SIGNAL_SECONDS

# Starting Python, and being scheduled on a busy machine.
SLACK_SECONDS = 10.0

PROGRAM = """
import logging, signal, sys, threading, time
from jobs import interruption

def farewell(reason):
    print("left:", reason, flush=True)

def work():
{held}
    print("begun", flush=True)
{work}

interruption.end_process(interruption.supervised(work, farewell))
"""


def start(work: str, held: str = "pass") -> subprocess.Popen:
    """A process that is at such work, the body of a function that returns the exit code; what it holds comes first."""
    held, work = ("\n".join(f"    {line}" for line in part.strip().splitlines()) for part in (held, work))
    program = PROGRAM.format(held=held, work=work)
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begun\n", process.communicate()
    return process


def ended(process: subprocess.Popen, seconds: float) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=seconds + SLACK_SECONDS)
    assert "Traceback" not in err, err
    return process.returncode, out, err


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_work_that_looks_ends_by_itself(sent):
    process = start("""
try:
    while True:
        interruption.pause(0.05)
except KeyboardInterrupt:
    print("closed", flush=True)
    return 130
""")
    process.send_signal(sent)
    assert ended(process, 0)[:2] == (130, "closed\n")


def test_a_closed_terminal_does_not_end_what_nohup_started():
    program = "from jobs import interruption; import signal; print(signal.SIGHUP in interruption.SIGNALS)"
    command = ["nohup", sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


def test_work_that_is_done_counts_for_more_than_the_signal():
    process = start("time.sleep(0.5)\nreturn 0")
    process.send_signal(signal.SIGINT)
    assert ended(process, 0)[0] == 0


def test_nothing_is_raised_where_the_signal_arrives():
    # What a library does between taking a lock and freeing it is done to its end.
    process = start("""
lock = threading.Lock()
while not interruption._is_asked.is_set():
    lock.acquire()
    for _ in range(100):
        pass
    lock.release()
assert not lock.locked()
try:
    interruption.check()
except KeyboardInterrupt:
    return 130
""")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert ended(process, 0)[0] == 130


def test_work_that_holds_nothing_is_left_without_a_word_of_it():
    process = start("time.sleep(600)")
    process.send_signal(signal.SIGINT)
    assert ended(process, IDLE_GRACE_SECONDS)[:2] == (130, "left: \n")


@pytest.mark.system
def test_what_a_left_work_holds_is_closed_the_last_first_and_none_of_it_for_ever():
    held = """
interruption.at_leaving(lambda: print("first", flush=True))
interruption.at_leaving(lambda: time.sleep(600))
interruption.at_leaving(lambda: print("last", flush=True))
logging._acquireLock()  # as an exception out of a handler would leave it
"""
    process = start("time.sleep(600)", held)
    process.send_signal(signal.SIGTERM)
    code, out, _ = ended(process, GRACE_SECONDS + LAST_SECONDS)
    assert code == 130
    reason = f"what was running did not stop within {GRACE_SECONDS:g} s and was left"
    assert out.splitlines() == ["last", "first", f"left: {reason}"]


def test_a_second_signal_leaves_at_once_unless_it_is_the_first_one_sent_twice():
    process = start("time.sleep(600)", "interruption.at_leaving(lambda: print('closed', flush=True))")
    began = time.monotonic()
    for pause in (0.1, SAME_SIGNAL_SECONDS + 0.5, 0.0):
        process.send_signal(signal.SIGINT)
        assert process.poll() is None
        time.sleep(pause)
    code, out, _ = ended(process, 0)
    assert SAME_SIGNAL_SECONDS < time.monotonic() - began < GRACE_SECONDS
    assert (code, out) == (130, "closed\nleft: what was running was left at the second signal\n")


def test_handlers_that_a_library_sets_do_not_stay():
    process = start("""
import ctypes
# Below Python, as Ray does it: the system's own handler, which ends the process.
c_signal = ctypes.CDLL(None).signal
c_signal.argtypes, c_signal.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
with interruption.keeping_handlers():
    time.sleep(0.1)
    c_signal(15, 0)
    c_signal(2, 0)
time.sleep(0.3)
print("set", flush=True)
try:
    interruption.pause(600)
except KeyboardInterrupt:
    return 130
""")
    assert process.stdout.readline() == "set\n"
    process.send_signal(signal.SIGTERM)
    assert ended(process, 0)[0] == 130


def test_what_is_left_behind_is_said_and_ends_with_the_process():
    process = start("interruption.bounded('counting', lambda: time.sleep(600), 0.1)\nreturn 0")
    code, _, err = ended(process, 0)
    assert (code, err) == (0, "mpr-audit: counting did not end within 0.1 s and was left\n")


def test_in_another_thread_work_is_simply_done_and_handlers_are_given_back():
    found, handlers = [], [signal.getsignal(sent) for sent in interruption.SIGNALS]
    thread = threading.Thread(target=lambda: found.append(interruption.supervised(lambda: 7, print)))
    thread.start()
    thread.join()
    assert found == [7]
    with pytest.raises(ValueError, match="what the work raised"):
        interruption.supervised(lambda: int("what the work raised"), print)
    assert [signal.getsignal(sent) for sent in interruption.SIGNALS] == handlers
