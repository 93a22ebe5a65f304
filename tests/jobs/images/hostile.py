"""A folder of pictures as real ones are: most are plain, some odd, and a share cannot be read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from jobs.images import Reason
from tests.jobs.images.pictures import BAD, ODD, SIDE, encoded

# Ways in which a path, not a file's content, is bad.
PATHS = {
    "link out.jpg": Reason.OUTSIDE,
    "link to nowhere.jpg": Reason.MISSING,
    "pipe.jpg": Reason.NOT_REGULAR,
    "folder.jpg": Reason.NOT_REGULAR,
    "absent.jpg": Reason.MISSING,
}
REASONS = {name: reason for name, (_, reason) in BAD.items()} | PATHS
# Every so many good pictures, one is of an odd kind.
ODD_EVERY = 10
COUNTRIES, GENDERS = ("chile", "ghana", "nepal"), ("woman", "man")


@dataclass(frozen=True, kw_only=True, slots=True)
class HostileFolder:
    """bad says which items cannot be read, and why; good is all others."""

    root: Path
    good: tuple[str, ...]
    bad: dict[str, Reason]

    @property
    def block(self) -> dict[str, Any]:
        """The `dataset` block that reads it."""
        return {"kind": "images", "path": str(self.root), "attributes": {"gender": {}, "country": {}}}


def write_hostile_folder(root: Path, count: int, bad_share: float = 0.05, seed: int = 0) -> HostileFolder:
    """A folder of `count` labelled items, that share of them bad, in random places."""
    generator = np.random.default_rng(seed)
    places = np.sort(generator.choice(count, round(count * bad_share), replace=False))
    bad_names = dict(zip(places.tolist(), (list(REASONS) * (len(places) // len(REASONS) + 1))))
    root.mkdir(parents=True, exist_ok=True)
    outside = root.parent / f"{root.name} outside.jpg"
    outside.write_bytes(ODD["plain.jpg"]())
    good, bad, rows = [], {}, []
    for number in range(count):
        country, gender = COUNTRIES[number % 3], GENDERS[int(generator.integers(2))]
        kind = bad_names.get(number)
        if kind is None:
            odd = list(ODD)[number // ODD_EVERY % len(ODD)] if number % ODD_EVERY == 0 else None
            name = f"{country}/{number:05d} {odd or 'face.jpg'}"
            data = ODD[odd]() if odd else _plain(number, generator)
            _write(root / name, data)
            good.append(name)
        else:
            name = f"{country}/{number:05d} {kind}"
            _write_bad(root / name, kind, outside)
            bad[name] = REASONS[kind]
        rows.append((name, gender, country))
    pd.DataFrame(rows, columns=["file_name", "gender", "country"]).to_csv(root / "metadata.csv", index=False)
    return HostileFolder(root=root, good=tuple(good), bad=bad)


def _plain(number: int, generator: np.random.Generator) -> bytes:
    pixels = generator.integers(0, 256, (4, 4, 3), dtype=np.uint8).repeat(SIDE // 4, 0).repeat(SIDE // 4, 1)
    return encoded(Image.fromarray(pixels), "JPEG", quality=90)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


def _write_bad(path: Path, kind: str, outside: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    if kind in BAD:
        path.write_bytes(BAD[kind][0]())
    elif kind == "link out.jpg":
        path.symlink_to(outside)
    elif kind == "link to nowhere.jpg":
        path.symlink_to("never.jpg")
    elif kind == "pipe.jpg":
        os.mkfifo(path)
    elif kind == "folder.jpg":
        path.mkdir()
