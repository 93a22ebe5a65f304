"""Stop at a signal: a flag that the work checks, and an end to the process where it does not check in time.

An exception that a signal handler raises may surface anywhere, also inside a library's lock, which then
stays held for ever. So the work runs in a thread, the main thread does nothing but wait for it and for
signals, and `check` raises where it is called. Work that reaches no check in time is abandoned: what is
registered with `at_leaving` is closed, and the process ends with the threads that still run.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import NoReturn, TypeVar

Result = TypeVar("Result")

# A closed terminal ends a run as well, unless it was started to outlive it (`nohup` has SIGHUP ignored).
_HANG_UP = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
SIGNALS = (signal.SIGINT, signal.SIGTERM, *_HANG_UP)
FAILED, USAGE, INTERRUPTED = 1, 2, 130
# Seconds for work that holds a folder or a terminal to end by itself; Ray alone may take half of them.
GRACE_SECONDS = 10.0
# The same for work that has nothing to lose; its end is not reported.
IDLE_GRACE_SECONDS = 1.0
# `timeout` and some schedulers send a signal twice at once; a later one means that the user will not wait.
SAME_SIGNAL_SECONDS = 1.0
# Seconds to close each resource of work that is abandoned: a store may no longer answer.
LAST_SECONDS = 3.0
# The same at the end of work that was not interrupted; a slow store may need some.
END_SECONDS = 60.0
# Seconds between settings of the handlers while other code may set its own; that code gets signals in between.
RECLAIM_SECONDS = 0.005
# Bytes that the work's thread writes among the numbers of signals: the work has ended; handlers may be replaced.
ENDED, CONTENDED = b"\0", b"\xff"

_is_asked = threading.Event()
_last: list[Callable[[], None]] = []
_left: list[str] = []
_contenders: list[threading.Event] = []
_is_expendable = False
_sending: int | None = None


def check() -> None:
    """Raise KeyboardInterrupt once a signal has asked for the end."""
    if _is_asked.is_set():
        raise KeyboardInterrupt


def pause(seconds: float) -> None:
    """Sleep, and raise KeyboardInterrupt as soon as a signal asks for the end."""
    if _is_asked.wait(seconds):
        raise KeyboardInterrupt


def at_leaving(close: Callable[[], None]) -> None:
    """Register a function that closes a resource if the work is abandoned; the last registered is called first."""
    _last.append(close)


def not_at_leaving(close: Callable[[], None]) -> None:
    """Unregister a resource that the work has closed itself."""
    with suppress(ValueError):
        _last.remove(close)


def bounded(what: str, step: Callable[[], None], seconds: float = END_SECONDS) -> bool:
    """Call a function that may never return, with a time limit; whether it returned. Its errors are ignored.

    One that has not returned keeps running: the process must then end without waiting for its threads.
    """

    def tried() -> None:
        with suppress(Exception):
            step()

    thread = threading.Thread(target=tried, name=what, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        _left.append(f"{what} did not end within {seconds:g} s and was left")
    return not thread.is_alive()


@contextmanager
def expendable() -> Iterator[None]:
    """Around work that may be left in its middle, though a folder or a terminal is held."""
    global _is_expendable  # noqa: PLW0603 - one process is stopped once
    _is_expendable = True
    try:
        yield
    finally:
        _is_expendable = False


@contextmanager
def keeping_handlers() -> Iterator[None]:
    """Context of code that sets its own signal handlers, in Python or native code: the previous ones are kept."""
    if threading.current_thread() is threading.main_thread():
        before = {sent: signal.getsignal(sent) for sent in SIGNALS}
        try:
            yield
        finally:
            for sent, handler in before.items():
                signal.signal(sent, handler)
        return
    is_over = threading.Event()
    _contenders.append(is_over)
    try:
        _notify_work(CONTENDED)
        yield
    finally:
        is_over.set()
        _notify_work(CONTENDED)


def supervised(work: Callable[[], Result], farewell: Callable[[str], None]) -> Result:
    """Run work in a thread while this one waits for signals; returns or raises what the work does.

    farewell gets what was left, before the process ends without the work: nothing where nothing was held.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    global _sending
    _is_asked.clear()
    outcome: list[Callable[[], Result]] = []
    receiving, _sending = os.pipe()
    # The system writes from a signal handler, which must never wait for a reader.
    os.set_blocking(_sending, False)

    def worked() -> None:
        try:
            result = work()
            outcome.append(lambda: result)
        except BaseException as error:  # noqa: BLE001 - it is raised where it was asked for
            outcome.append(partial(_raise, error))
        finally:
            _notify_work(ENDED)

    before = {sent: signal.getsignal(sent) for sent in SIGNALS}
    wakeup_before = signal.set_wakeup_fd(_sending, warn_on_full_buffer=False)
    _claim_signals()
    thread = threading.Thread(target=worked, name="command", daemon=True)
    try:
        thread.start()
        reason = _reason_to_abandon(receiving)
        if reason is not None:
            _abandon_work(reason, farewell)
        thread.join()
    finally:
        signal.set_wakeup_fd(wakeup_before)
        for sent, handler in before.items():
            signal.signal(sent, handler)
        _is_asked.clear()
        sending, _sending = _sending, None
    os.close(receiving)
    os.close(sending)
    return outcome[0]()


def end_process(code: int) -> NoReturn:
    """Exit with a code; without exit hooks if work was abandoned or interrupted, since they would wait for it."""
    for sent in SIGNALS:
        signal.signal(sent, lambda *_: os._exit(INTERRUPTED))
    flushed = bounded("writing the last output", _flush_output, LAST_SECONDS)
    # A failure has already been reported in one sentence.
    if code not in (FAILED, USAGE, INTERRUPTED) and flushed:
        for what in _left:
            print(f"mpr-audit: {what}", file=sys.stderr, flush=True)
    if code == INTERRUPTED or _left:
        os._exit(code)
    sys.exit(code)


def _claim_signals() -> None:
    """Set handlers that do nothing: the system writes the signal's number for them."""
    for sent in SIGNALS:
        signal.signal(sent, _do_nothing)


def _do_nothing(*_: object) -> None:
    """A handler, so that the signal is not ignored and its number is written."""


def _notify_work(what: bytes) -> None:
    if _sending is not None:
        os.write(_sending, what)


def _raise(error: BaseException) -> NoReturn:
    raise error


def _reason_to_abandon(receiving: int) -> str | None:
    """Wait until the work has ended; if it does not, the reason to abandon it."""
    asked = until = None
    is_idle, grace = False, 0.0
    while True:
        patience = None if until is None else max(0.0, until - time.monotonic())
        if _contenders:
            patience = RECLAIM_SECONDS if patience is None else min(patience, RECLAIM_SECONDS)
            # Contexts that have ended come first: their handlers were set earlier.
            _contenders[:] = [is_over for is_over in _contenders if not is_over.is_set()]
            _claim_signals()
        if not select.select([receiving], [], [], patience)[0]:
            if until is None or time.monotonic() < until:
                continue
            return "" if is_idle else f"what was running did not stop within {grace:g} s and was left"
        for number in os.read(receiving, select.PIPE_BUF):
            if number == ENDED[0]:
                return None
            if number not in SIGNALS:
                continue
            now = time.monotonic()
            if asked is None:
                is_idle = _is_expendable or not _last
                asked, grace = now, IDLE_GRACE_SECONDS if is_idle else GRACE_SECONDS
                until = now + grace
                _is_asked.set()
            elif now - asked > SAME_SIGNAL_SECONDS:
                return "what was running was left at the second signal"


def _abandon_work(reason: str, farewell: Callable[[str], None]) -> NoReturn:
    """Close the registered resources, report it, and end the process with everything that still runs in it."""
    for close in reversed(list(_last)):
        bounded("closing", close, LAST_SECONDS)
    bounded("saying so", lambda: farewell(reason), LAST_SECONDS)
    bounded("writing the last output", _flush_output, LAST_SECONDS)
    os._exit(INTERRUPTED)


def _flush_output() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
