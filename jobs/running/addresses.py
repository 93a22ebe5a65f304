"""Does anything of Ray's answer at an address? Asked first, since Ray itself tries for a quarter of an hour."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

from jobs import interruption
from jobs.errors import UsageError

# Ray's port where none is named, and that of its clients.
CLIENT_SCHEME = "ray"
# Seconds for a name server and a handshake together; a head on the other side of the world needs one.
ANSWER_SECONDS = 10.0
# What begins every HTTP/2 connection, which gRPC is, and an empty frame of settings.
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
# A server's first frame is its settings: nine bytes of head, the fourth of which names the kind.
FRAME_HEAD_BYTES, KIND_AT, SETTINGS_KIND = 9, 3, 4


def host_and_port(address: str) -> tuple[str, int]:
    """Of HOST:PORT or ray://HOST:PORT.

    Raises:  UsageError for anything else, the address of a dashboard among it.
    """
    parts = urlsplit(address if "://" in address else f"//{address}")
    if parts.scheme in ("http", "https"):
        raise UsageError(
            "that is a dashboard's address, which `mpr-audit submit` takes; a run takes HOST:PORT of the cluster's "
            "head, 6379 by default"
        )
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    is_plain = parts.scheme in ("", CLIENT_SCHEME) and not parts.path.strip("/") and not parts.query
    if not host or not port or not is_plain:
        raise UsageError("HOST:PORT of the head of a running Ray cluster is expected, or ray://HOST:PORT")
    return host, port


def expect_answer(address: str, seconds: float = ANSWER_SECONDS) -> None:
    """Shake hands with the server at HOST:PORT or ray://HOST:PORT.

    Raises:  UsageError, why nothing of Ray's can be there.
    """
    host, port = host_and_port(address)
    found: list[str] = []
    if not interruption.bounded(f"asking {address}", lambda: found.append(_fault(host, port, seconds)), seconds):
        found.append(f"no answer within {seconds:g} s")
    if found[0]:
        raise UsageError(f"{found[0]}: is the cluster still running, and is this the address of its head?")


def _fault(host: str, port: int, seconds: float) -> str:
    """Why what listens there is not Ray, or nothing."""
    try:
        with socket.create_connection((host, port), timeout=seconds) as connection:
            if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
                return ""  # it speaks once it has seen a certificate
            connection.sendall(GREETING)
            said = b""
            while len(said) < FRAME_HEAD_BYTES:
                part = connection.recv(FRAME_HEAD_BYTES - len(said))
                if not part:
                    return "what answers there is not Ray"
                said += part
            return "" if said[KIND_AT] == SETTINGS_KIND else "what answers there is not Ray"
    except TimeoutError:
        return f"no answer within {seconds:g} s"
    except (OSError, UnicodeError) as error:  # a name that no name server takes is a UnicodeError
        return f"nothing answers there ({getattr(error, 'strerror', None) or error})"
