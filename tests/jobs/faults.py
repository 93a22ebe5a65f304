"""A store on which chosen units come to grief in their worker: real deaths, hangs and hunger, bounded."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from pathlib import Path

from jobs.store import Store

# What "eat" takes at most, in steps slow enough to be seen.
MOST_EATEN_BYTES = 1_500_000_000
STEP_BYTES = 50_000_000


class FaultyStore(Store):
    """fates: unit key -> exit, exit once, segfault, raise, hang or eat; happens when a worker first reads of it."""

    def __init__(self, root: str, fates: dict[str, str], owner: int | None = None) -> None:
        super().__init__(root)
        self.fates, self.owner = fates, owner or os.getpid()

    def __reduce__(self):
        return FaultyStore, (self.root, self.fates, self.owner)

    def read(self, name: str) -> bytes:
        fate = next((fate for key, fate in self.fates.items() if f"/{key}." in name), None)
        if fate is not None and os.getpid() != self.owner:
            self._suffer(fate, name)
        return super().read(name)

    def _suffer(self, fate: str, name: str) -> None:
        if fate.endswith(" once"):
            mark = Path(self.root) / "marks" / name.replace("/", "-")
            if mark.exists():
                return
            mark.parent.mkdir(exist_ok=True)
            mark.touch()
        match fate.removesuffix(" once"):
            case "exit":
                os._exit(1)
            case "segfault":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "raise":
                raise RuntimeError("out of luck\nand a second line")
            case "hang":
                # Native code that keeps Python's lock: no signal and no thread of Python's gets through.
                ctypes.PyDLL(None).sleep(600)
            case "eat":
                eaten = []
                while len(eaten) * STEP_BYTES < MOST_EATEN_BYTES:
                    eaten.append(b"x" * STEP_BYTES)
                    time.sleep(0.05)
