"""Files that try to run code where they are read, or to write outside their folder; all they do is make a marker."""

from __future__ import annotations

import io
import os
import pickle
import tarfile
from pathlib import Path
from typing import Any


class Payload:
    """Unpickled, it makes the marker."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.marker),)


def pickled(marker: Path) -> bytes:
    """A pickle that makes the marker; `test_the_payload_works` shows that it does."""
    return pickle.dumps(Payload(marker))


def torch_file(path: Path, marker: Path) -> Path:
    """A torch file of weights that hold the payload."""
    import torch

    torch.save({"state_dict": {"weight": torch.zeros(2, 2)}, "weight": Payload(marker)}, path)
    return path


def climbing_archive(path: Path, picture: bytes) -> Path:
    """A shard with a good member, and members that climb out, link out and name absolute paths."""
    with tarfile.open(path, "w") as archive:
        for name in ("good.jpg", "../climbed.jpg", "a/../../climbed.jpg", f"{path.parent.parent}/absolute.jpg"):
            info = tarfile.TarInfo(name)
            info.size = len(picture)
            archive.addfile(info, io.BytesIO(picture))
        for name, kind, target in (
            ("out", tarfile.SYMTYPE, ".."),
            ("link.jpg", tarfile.SYMTYPE, "/etc/hostname"),
            ("hard.jpg", tarfile.LNKTYPE, "../../etc/hostname"),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            archive.addfile(info)
        info = tarfile.TarInfo("out/through-the-link.jpg")
        info.size = len(picture)
        archive.addfile(info, io.BytesIO(picture))
    return path
