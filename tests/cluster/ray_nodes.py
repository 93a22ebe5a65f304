"""Ray nodes started as an operator starts them, with `ray start`, on ports and in folders of their own.

`ray stop` would end every Ray of the machine: here the processes of each node are ended by their session.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(sys.executable).parent
# Enough for receipts; Ray's default takes a third of the memory.
OBJECT_STORE_BYTES = 100 * 1024 * 1024
START_SECONDS = 120.0
STARTED = "Ray runtime started"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RayNodes:
    """Nodes of one cluster with a token of its own; a context manager that ends what it started."""

    def __init__(self) -> None:
        # Short, because the path of a Unix socket may have 107 letters.
        self.folder = Path(tempfile.mkdtemp(prefix="nodes-"))
        # Where Ray looks for it by itself.
        self.token = self.folder / ".ray" / "auth_token"
        self.token.parent.mkdir()
        self.token.write_text(os.urandom(24).hex())
        self.token.chmod(0o600)
        self.port, self.dashboard_port = free_port(), free_port()
        self._sessions: list[int] = []

    @property
    def address(self) -> str:
        """Of the dashboard."""
        return f"http://127.0.0.1:{self.dashboard_port}"

    @property
    def environment(self) -> dict[str, str]:
        """A clean shell's, with this checkout's code."""
        return {
            "PATH": f"{BINARIES}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "RAY_USAGE_STATS_ENABLED": "0",
        }

    def __enter__(self) -> RayNodes:
        return self

    def __exit__(self, *_: object) -> None:
        for session in self._sessions:
            _end(session)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, command: str, ip: str | None = "127.0.0.1", **environment: str) -> None:
        """Run a `ray start` command in a shell, in a session of its own; own ports and folders come last and win."""
        own = [f"--node-ip-address={ip}"] if ip else []
        own += [f"--object-store-memory={OBJECT_STORE_BYTES}"]
        own += [f"--temp-dir={self.folder}/ray", "--metrics-export-port=0", "--dashboard-agent-listen-port=0"]
        if "--head" in command:
            own += [f"--port={self.port}", f"--dashboard-port={self.dashboard_port}"]
            own += [f"--ray-client-server-port={free_port()}"]
        else:
            # Eight CPUs would start eight processes on a machine that may have two; one is enough to see work done.
            own += [f"--address=127.0.0.1:{self.port}", "--num-cpus=1"]
        log = self.folder / f"start-{len(self._sessions)}.log"
        with log.open("w") as stream:
            process = subprocess.Popen(
                ["bash", "-c", " ".join([command, *own])],
                env=self.environment | environment,
                cwd=self.folder,
                start_new_session=True,
                stdout=stream,
                stderr=subprocess.STDOUT,
            )
        self._sessions.append(process.pid)
        deadline = time.monotonic() + START_SECONDS
        while STARTED not in log.read_text():
            assert process.poll() in (None, 0) and time.monotonic() < deadline, f"{command}: {log.read_text()}"
            time.sleep(0.1)

    def run(self, *command: str, timeout: float = 240, **environment: str | None) -> subprocess.CompletedProcess[str]:
        """A command of the client's shell; None takes a variable out of its environment."""
        changed = self.environment | {"RAY_AUTH_MODE": "token"} | environment
        return subprocess.run(
            command,
            env={name: value for name, value in changed.items() if value is not None},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


def _end(session: int) -> None:
    """End the processes of a session and their children, which may lead sessions of their own."""
    own = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session:
                own += [process, *process.children(recursive=True)]
        except (ProcessLookupError, PermissionError, psutil.Error):
            continue
    for process in own:
        try:
            process.kill()
        except psutil.Error:
            continue
    psutil.wait_procs(own, timeout=10)
