"""A headless Chromium that a test can ask: what does the page say, what did the console print?

Speaks the DevTools protocol over a local socket with aiohttp, which Ray's dashboard brings along.
"""

from __future__ import annotations

import asyncio
import base64
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp

BINARY = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--remote-debugging-port=0",
)  # fmt: skip
# A loaded machine starts the browser slowly; the page itself is timed apart from this.
START_SECONDS = 60.0
READY_SECONDS = 60.0
CLOSE_SECONDS = 60.0


class Page:
    """One open page; `problems` collects exceptions, console errors and requests that left the page."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._next = 0
        self.problems: list[str] = []
        self.requests: list[str] = []

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._next += 1
        await self._socket.send_json({"id": self._next, "method": method, "params": parameters})
        while True:
            message = await self._socket.receive_json(timeout=READY_SECONDS)
            self._note(message)
            if message.get("id") == self._next:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    async def open(self, path: Path, fragment: str = "") -> float:
        """Load the file; seconds from navigation to interactive, by the page's own clock."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.call(f"{domain}.enable")
        await self.call("Page.navigate", url=path.as_uri() + fragment)
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end:
            state = await self.ask("[document.documentElement?.dataset.ready || '', performance.now()]")
            if state[0]:
                return await self.ask("performance.getEntriesByName('ready')[0]?.startTime ?? performance.now()") / 1000
            await asyncio.sleep(0.02)
        raise TimeoutError(f"{path} was not interactive after {READY_SECONDS} seconds; {self.problems}")

    async def ask(self, expression: str) -> Any:
        """Value of a JavaScript expression in the page."""
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    async def press(self, key: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            await self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    async def picture(self, path: Path) -> None:
        answer = await self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def _note(self, message: dict[str, Any]) -> None:
        method, about = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(about["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.problems.append(str(about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.problems.append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])


def browse(script: Any, profile: Path | None = None) -> Any:
    """What the coroutine function returns, given an empty Page of a fresh browser.

    profile: a folder of what the browser keeps, for browsers that are closed and started again.
    """
    if profile is None:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
            return browse(script, Path(temporary))
    # The port is of the browser that wrote it.
    (profile / "DevToolsActivePort").unlink(missing_ok=True)
    process = subprocess.Popen(
        [BINARY, *FLAGS, f"--user-data-dir={profile}", "--window-size=1400,1000", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        answer = asyncio.run(_run(profile, script))
        # Asked to close, the browser first writes what its pages keep, however long a loaded machine takes for it.
        process.wait(timeout=CLOSE_SECONDS)
        return answer
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


async def _run(profile: Path, script: Any) -> Any:
    port = await _port(profile / "DevToolsActivePort")
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
            target = next(one for one in await answer.json() if one["type"] == "page")
        async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            result = await script(Page(socket))
        async with session.get(f"http://127.0.0.1:{port}/json/version") as answer:
            browser = (await answer.json())["webSocketDebuggerUrl"]
        async with session.ws_connect(browser) as socket:
            await socket.send_json({"id": 1, "method": "Browser.close"})
            await socket.receive(timeout=CLOSE_SECONDS)
    return result


async def _port(path: Path) -> int:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if path.exists() and (lines := path.read_text().splitlines()):
            return int(lines[0])
        await asyncio.sleep(0.05)
    raise TimeoutError(f"{BINARY} did not start in {START_SECONDS} seconds")
