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
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(sys.executable).parent
# Enough for receipts; Ray's default takes a third of the memory.
OBJECT_STORE_BYTES = 100 * 1024 * 1024


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
        self.token = self.folder / "token"
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
        """A clean shell's, with the token and this checkout's code."""
        return {
            "PATH": f"{BINARIES}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.token),
            "RAY_USAGE_STATS_ENABLED": "0",
        }

    def __enter__(self) -> RayNodes:
        return self

    def __exit__(self, *_: object) -> None:
        for session in self._sessions:
            _end(session)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_head(self, cpus: int = 2) -> None:
        """A head as the documentation starts it."""
        self.start(f"ray start --head --dashboard-host=127.0.0.1 --num-cpus={cpus}")

    def start(self, command: str) -> None:
        """Run a `ray start` command in a shell, in a session of its own."""
        is_head = "--head" in command
        options = f" --temp-dir={self.folder}/ray --object-store-memory={OBJECT_STORE_BYTES}"
        if is_head:
            options += f" --port={self.port} --dashboard-port={self.dashboard_port}"
            options += f" --dashboard-agent-listen-port=0 --ray-client-server-port={free_port()}"
        process = subprocess.Popen(
            ["bash", "-c", command + options],
            env=self.environment,
            cwd=self.folder,
            start_new_session=True,
            stdout=(log := (self.folder / f"start-{len(self._sessions)}.log").open("w+")),
            stderr=subprocess.STDOUT,
        )
        self._sessions.append(process.pid)
        code = process.wait(timeout=90)
        log.seek(0)
        assert code == 0, f"{command}: {log.read()}"

    def run(self, *command: str, timeout: float = 120, **environment: str | None) -> subprocess.CompletedProcess[str]:
        """A command of the client's shell; None takes a variable out of its environment."""
        changed = {name: value for name, value in (self.environment | environment).items() if value is not None}
        return subprocess.run(
            command, env=changed, cwd=self.folder, capture_output=True, text=True, timeout=timeout, check=False
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
