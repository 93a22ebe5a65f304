"""Pictures decoded in processes of their own, in order, a bounded number ahead of whoever takes them."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np

from .. import own_code
from .decode_worker import FAULT, HEADER, READY
from .errors import ImageError, Reason
from .fit import Fit
from .limits import ImageLimits

# Pictures of one request: enough that a request costs nothing, few enough to share out a batch.
REQUEST_IMAGES = 8
# A picture on which the process ended this often is taken for the cause.
MOST_TRIES = 3
# A back-stop for native code that never returns; far above what a slow disk or the largest picture needs.
LONGEST_SECONDS = 300.0
# Starting Python on a busy machine with a cold disk.
LONGEST_START_SECONDS = 300.0

# Pixels (h, w, 3) uint8, or why there are none.
Picture = np.ndarray | ImageError


class WorkerDied(Exception):
    """The process ended, or had to be ended, before it answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where pictures come from and what they become. root: the folder that locators start from.

    is_fast lets large JPEGs be decoded at a half, a quarter or an eighth of their size.
    """

    root: str
    limits: ImageLimits
    fit: Fit
    is_fast: bool


class Decoders:
    """Decoding processes, started when the first picture is asked for; a context manager, or `close` it.

    A process that dies is replaced, and what it had not answered is asked again. `worker_ids` are the
    process ids of those that run.
    """

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="decode")
        self._slots: SimpleQueue[_Worker | None] = SimpleQueue()
        self._workers: set[_Worker] = set()
        for _ in range(workers):
            self._slots.put(None)
        self._count = workers
        self._is_closed = False

    def __enter__(self) -> Decoders:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def worker_ids(self) -> list[int]:
        """Process ids of the running workers."""
        return sorted(worker.process.pid for worker in list(self._workers))

    def pictures(self, source: Source, locators: Sequence[str | None], ahead: int) -> Iterator[Picture]:
        """The pictures in order; about `ahead` of them are decoded before they are taken.

        Raises:  RuntimeError when a decoding process cannot be started at all.
        """
        waiting = [locators[start : start + REQUEST_IMAGES] for start in range(0, len(locators), REQUEST_IMAGES)]
        waiting.reverse()
        most = max(2 * self._count, -(-ahead // REQUEST_IMAGES))
        running: deque[Future[list[Picture]]] = deque()
        try:
            while waiting or running:
                while waiting and len(running) < most:
                    running.append(self._threads.submit(self._decode, source, waiting.pop()))
                yield from running.popleft().result()
        finally:
            for future in running:
                future.cancel()

    def close(self) -> None:
        """End the processes; what they were at is lost."""
        self._is_closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in list(self._workers):
            worker.end()
        self._threads.shutdown(wait=True)

    def _decode(self, source: Source, locators: Sequence[str | None]) -> list[Picture]:
        found: list[Picture] = []
        tries = 0
        while len(found) < len(locators) and not self._is_closed:
            worker = self._slots.get()
            try:
                if worker is None:
                    worker = _started_worker()
                    self._workers.add(worker)
                for picture in worker.answers(source, locators[len(found) :]):
                    found.append(picture)
                    tries = 0
            except WorkerDied as error:
                if worker is not None:
                    self._workers.discard(worker)
                    worker.end()
                worker = None
                tries += 1
                if tries == MOST_TRIES:
                    found.append(ImageError(Reason.CRASHED, f"{error}, {MOST_TRIES} times"))
                    tries = 0
            finally:
                self._slots.put(worker)
        return found


def _started_worker() -> _Worker:
    """A process that is ready; one that is killed while it starts is started again.

    Raises:  RuntimeError when it dies every time.
    """
    for _ in range(MOST_TRIES):
        try:
            return _Worker()
        except WorkerDied as error:
            ending = error
    raise RuntimeError(f"a decoding process could not be started, {MOST_TRIES} times: {ending}")


class _Worker:
    """One process and its pipes.

    Raises:  WorkerDied when it ends before it is ready.
    """

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            own_code.module_command("images.decode_worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            # One picture, one core: numpy's threads would only be in the way of the model's.
            env=own_code.environment(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"),
        )
        try:
            said = self._read(len(READY), LONGEST_START_SECONDS)
        except WorkerDied:
            self.end()
            raise
        if bytes(said) != READY:
            self.end()
            raise RuntimeError(f"a decoding process said {bytes(said)!r} instead of being ready")

    def answers(self, source: Source, locators: Sequence[str | None]) -> Iterator[Picture]:
        """What the process says of each picture.

        Raises:  WorkerDied when it says no more.
        """
        to = source.fit
        request: dict[str, Any] = {
            "root": source.root,
            "limits": source.limits.model_dump(mode="json"),
            "fit": asdict(to),
            "is_fast": source.is_fast,
            "locators": list(locators),
        }
        self._write(json.dumps(request).encode() + b"\n")
        for _ in locators:
            status, size = HEADER.unpack(self._read(HEADER.size, LONGEST_SECONDS))
            body = self._read(size, LONGEST_SECONDS)
            if status == FAULT:
                reason, detail = json.loads(bytes(body))
                yield ImageError(Reason(reason), detail)
            else:
                yield np.frombuffer(body, dtype=np.uint8).reshape(to.height, to.width, 3)

    def end(self) -> None:
        """Kill the process and close its pipes."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _write(self, data: bytes) -> None:
        view, pipe = memoryview(data), self.process.stdin
        assert pipe is not None
        try:
            while view:
                view = view[os.write(pipe.fileno(), view) :]
        except (OSError, ValueError):
            raise WorkerDied(self._how_it_ended()) from None

    def _read(self, size: int, longest_seconds: float) -> bytearray:
        data = bytearray(size)
        view, until = memoryview(data), time.monotonic() + longest_seconds
        assert self.process.stdout is not None
        try:
            pipe = self.process.stdout.fileno()
            while view:
                if not select.select([pipe], [], [], max(0.0, until - time.monotonic()))[0]:
                    raise WorkerDied(f"the decoder gave no answer for {longest_seconds:.0f} seconds")
                got = os.readv(pipe, [view])
                if not got:
                    raise WorkerDied(self._how_it_ended())
                view = view[got:]
        except (OSError, ValueError):
            # Closed from another thread while this one was reading.
            raise WorkerDied("the decoder was ended") from None
        return data

    def _how_it_ended(self) -> str:
        try:
            code = self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return "the decoder closed its pipe"
        return f"the decoder was killed by signal {-code}" if code < 0 else f"the decoder ended with code {code}"
