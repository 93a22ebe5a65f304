"""The address of a running cluster: what one looks like, and whether anything listens there."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from ..errors import UsageError

EXPECTED = "HOST:PORT of the head is expected, with port 6379 by default"
# What else addresses of clusters begin with, and what takes them.
OTHERS = {
    "http": "that is a dashboard's address, which `mpr-audit submit` takes",
    "https": "that is a dashboard's address, which `mpr-audit submit` takes",
    "ray": "a run hears of its units as they end, which Ray's clients outside a cluster cannot: start it on one of "
    "the cluster's machines, or send it there with `mpr-audit submit`",
}


def host_and_port(address: str) -> tuple[str, int]:
    """Of HOST:PORT.

    Raises:  UsageError for anything else, saying what takes it.
    """
    parts = urlsplit(address if "://" in address else f"//{address}")
    if parts.scheme in OTHERS:
        raise UsageError(f"{OTHERS[parts.scheme]}; {EXPECTED}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.scheme or parts.path or parts.query:
        raise UsageError(EXPECTED)
    return host, port


def listener_fault(host: str, port: int, seconds: float) -> str:
    """Why no connection can be made within `seconds`; empty where one can."""
    try:
        socket.create_connection((host, port), timeout=seconds).close()
    except TimeoutError:
        return f"no answer within {seconds:g} s"
    except (OSError, UnicodeError) as error:  # a name that no name server takes is a UnicodeError
        return f"nothing answers there ({getattr(error, 'strerror', None) or error})"
    return ""
