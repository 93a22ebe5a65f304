"""What may happen to a file on its way: bytes turned, lost, doubled, or written in another way."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Damage = Callable[[bytes, Random], bytes]


def _place(data: bytes, random: Random) -> int:
    """A position, more often near an end, where formats have their headers and footers."""
    size = len(data)
    if not size:
        return 0
    near = random.choice([size, size, min(size, 64), min(size, 512)])
    at = random.randrange(near)
    return at if random.random() < 0.5 else size - 1 - at


def turned_bytes(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 8, 64])):
        if changed:
            changed[_place(data, random)] = random.randrange(256)
    return bytes(changed)


def turned_bits(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice([1, 2, 4])):
        if changed:
            changed[_place(data, random)] ^= 1 << random.randrange(8)
    return bytes(changed)


def cut_off(data: bytes, random: Random) -> bytes:
    return data[: _place(data, random)]


def headless(data: bytes, random: Random) -> bytes:
    return data[_place(data, random) :]


def without_a_piece(data: bytes, random: Random) -> bytes:
    start = _place(data, random)
    return data[:start] + data[start + random.choice([1, 7, 100, 512, 4096]) :]


def with_a_piece_twice(data: bytes, random: Random) -> bytes:
    start = _place(data, random)
    stop = start + random.choice([1, 7, 100, 512, 4096])
    return data[:stop] + data[start:stop] * random.choice([1, 1, 3]) + data[stop:]


def with_noise(data: bytes, random: Random) -> bytes:
    start = _place(data, random)
    return data[:start] + random.randbytes(random.choice([1, 3, 100, 5000])) + data[start:]


def with_nuls(data: bytes, random: Random) -> bytes:
    start, length = _place(data, random), random.choice([1, 8, 512, 2000])
    return data[:start] + b"\0" * length + data[start + random.choice([0, length]) :]


def with_ones(data: bytes, random: Random) -> bytes:
    start, length = _place(data, random), random.choice([1, 4, 8])
    return data[:start] + b"\xff" * length + data[start + length :]


def two_in_one(data: bytes, random: Random) -> bytes:
    return data + data


def empty(data: bytes, random: Random) -> bytes:
    return b""


# What may happen to any file, and to text files besides.
TO_BYTES: tuple[Damage, ...] = (
    *(turned_bytes, turned_bits, cut_off, headless, without_a_piece, with_a_piece_twice, with_noise, with_nuls),
    *(with_ones, two_in_one, empty),
)


def encoded_otherwise(data: bytes, random: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    encoding = random.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "utf-8-sig", "cp037", "utf-7"])
    return text.encode(encoding, "replace")


def other_line_ends(data: bytes, random: Random) -> bytes:
    return data.replace(b"\n", random.choice([b"\r\n", b"\r", b"\n\n", b"\x0b", b"\xe2\x80\xa8", b""]))


def other_separators(data: bytes, random: Random) -> bytes:
    return data.replace(random.choice([b",", b'"', b":"]), random.choice([b";", b"\t", b"|", b"", b",,", b'"', b'""']))


def other_word(data: bytes, random: Random) -> bytes:
    words = data.replace(b"\n", b",").replace(b":", b",").split(b",")
    return data.replace(random.choice(words) or b"p", random.choice(WORDS), random.choice([1, -1]))


WORDS = (
    *(b"", b" ", b"NA", b"null", b"None", b"nan", b"NaN", b"inf", b"-inf", b"1e400", b"1e-400", b"0x1", b"1,000"),
    *(b"007", b"true", b"True", b"12:30", b"2020-01-31", b'"', b'""', b'"a\nb"', b"'", b"\\", b"\\u0000", b"\\ud800"),
    *(b"\xff\xfe", b"\xe9", b"\xef\xbb\xbf", b"\xe2\x80\x8b", b"\x1a", b"\0", b"[1, 2]", b"{}", b"[" * 5000),
    *(b"x" * 3_000_000, b"9" * 5000, b"-1", b"12345678901234567890", b"unknown", b"missing", b"sex=f"),
    *(b" & ", b"#", b"../../etc/passwd"),
)  # fmt: skip
TO_TEXT: tuple[Damage, ...] = (*TO_BYTES, encoded_otherwise, other_line_ends, other_separators, other_word, other_word)
