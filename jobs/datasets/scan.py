"""Parts of a large data set read and checked by a few processes, which hand over what the driver keeps.

`python -m jobs.datasets.scan SETTINGS` reads lines of JSON, each a place and the file that its ids' hashes go to, and
answers each with a line: the part's summary, or what is wrong with it. Items never travel between the processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import psutil

from .. import interruption, own_code
from ..errors import BadSetting, UsageError
from .known_parts import SUMMARIES
from .part import Summary
from .reader import Reader
from .source import Place

# Seconds between looks for a signal.
LOOK_SECONDS = 0.2
# Memory of a process that reads parts.
PROCESS_BYTES = 600e6
# Characters of what a process said before it ended that a message repeats.
SHOWN = 300


def scanned(reader: Reader, asked: Sequence[tuple[Place, Path]]) -> Iterator[Summary]:
    """The summary of each place, in order; the hashes of its ids are then in the file beside it.

    Raises:  UsageError for the first place that cannot be audited.
    """
    with ExitStack() as stack:
        free: SimpleQueue[_Process] = SimpleQueue()
        room = int(psutil.virtual_memory().available // PROCESS_BYTES)
        for _ in range(max(1, min(len(os.sched_getaffinity(0)), len(asked), room))):
            process = _Process(reader.settings())
            stack.callback(process.end)
            free.put(process)
        threads = ThreadPoolExecutor(free.qsize())
        stack.callback(threads.shutdown, wait=False, cancel_futures=True)
        answers = [threads.submit(_read_by_free_process, free, place, file) for place, file in asked]
        for answer in answers:
            yield _interruptible_result(answer)


def _read_by_free_process(free: SimpleQueue[_Process], place: Place, file: Path) -> Summary:
    process = free.get()
    try:
        return process.ask(place, file)
    finally:
        free.put(process)


def _interruptible_result(answer: Future[Summary]) -> Summary:
    while not wait_for([answer], timeout=LOOK_SECONDS).done:
        interruption.check()
    return answer.result()


class _Process:
    """A process that reads one part after the other."""

    def __init__(self, settings: dict[str, Any]) -> None:
        # Closed with the process.
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            [*own_code.module_command("datasets.scan"), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            # A signal to the terminal's group is the driver's to answer.
            start_new_session=True,
            env=own_code.environment(),
        )

    def ask(self, place: Place, file: Path) -> Summary:
        assert self._process.stdin is not None and self._process.stdout is not None
        question = {"pieces": place.to_json(), "hashes": str(file)}
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = b""
        if not line:
            raise UsageError(f"{place.pieces[0].path}: {self._how_it_ended()}")
        return summary_of(json.loads(line))

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._said.close()

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        self._said.seek(0)
        said = self._said.read().strip().splitlines()
        last = f": {said[-1][:SHOWN]}" if said else ""
        return f"the process that read it ended with code {code}{last}"


def summary_of(answer: Mapping[str, Any]) -> Summary:
    """What an answer says.

    Raises:  UsageError for a part that cannot be audited.
    """
    if "summary" in answer:
        return SUMMARIES.validate_python(answer["summary"], strict=False)
    if answer["key"] is not None:
        raise BadSetting(answer["message"], *answer["key"])
    raise UsageError(answer["message"])


def answer_of(reader: Reader, question: dict[str, Any]) -> dict[str, Any]:
    """A part's summary as JSON values, once its hashes are written; or what is wrong with it."""
    try:
        part = reader.read(Place.from_json(question["pieces"]))
        _write(Path(question["hashes"]), part.id_hashes)
        return {"summary": SUMMARIES.dump_python(reader.summary(part), mode="json")}
    except BadSetting as error:
        return {"message": error.message, "key": list(error.key)}
    except UsageError as error:
        return {"message": str(error), "key": None}
    except OSError as error:
        return {"message": f"{error.filename or question['hashes']}: {error.strerror or error}", "key": None}


def _write(path: Path, hashes: np.ndarray) -> None:
    """The whole file or none: another command may read it."""
    written = path.with_name(f"{uuid.uuid4().hex}.tmp")
    with written.open("wb") as file:
        np.save(file, hashes, allow_pickle=False)
    written.replace(path)


def main() -> None:
    """Answer the lines of the standard input."""
    from . import reader_of

    reader = reader_of(json.loads(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(answer_of(reader, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
