"""What the driver takes to know a data set before a run: folders of pictures, WebDataset, CSV.

    python -m tests.benchmarks.listing [--items 100000] [--only pictures shards csv]

As many small pictures in a hundred folders, whose names are their labels; the same in shards of 5,000 with a JSON file
beside each; ten times as many rows of CSV with a text, in files of 100,000. `plan` is run twice. Seconds are by the
clock and of processors, of the command and of the processes that read for it, memory is the most of either; nothing is
embedded.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from jobs.store.user_cache import VARIABLE
from tests.tiny_clip import write_tiny_clip
from tests.watched_commands import watched

FOLDERS, SHARD_ITEMS, FILE_ROWS = 100, 5_000, 100_000
# A row of CSV is a small thing.
ROWS_FOR_A_PICTURE = 10
SIDE_PIXELS = 16
# What was just written is not remembered.
SETTLING_SECONDS = 3.0


def small_picture() -> bytes:
    """A JPEG of one colour."""
    buffer = io.BytesIO()
    Image.new("RGB", (SIDE_PIXELS, SIDE_PIXELS), (200, 60, 60)).save(buffer, "JPEG")
    return buffer.getvalue()


def write_folders(folder: Path, items: int) -> dict[str, Any]:
    """Pictures in folders named by group."""
    picture = small_picture()
    for group in range(FOLDERS):
        (folder / f"group {group % 5}" / f"{group:03d}").mkdir(parents=True)
    for item in range(items):
        group = item % FOLDERS
        (folder / f"group {group % 5}" / f"{group:03d}" / f"{item:08d}.jpg").write_bytes(picture)
    return {"kind": "images", "attributes": {"folder_1": {}}}


def write_shards(folder: Path, items: int) -> dict[str, Any]:
    """Tar files of pictures with labels."""
    picture = small_picture()
    for start in range(0, items, SHARD_ITEMS):
        with tarfile.open(folder / f"{start // SHARD_ITEMS:05d}.tar", "w") as shard:
            for item in range(start, min(items, start + SHARD_ITEMS)):
                label = json.dumps({"gender": ["female", "male"][item % 2], "caption": f"picture {item}"}).encode()
                for ending, content in (("jpg", picture), ("json", label)):
                    info = tarfile.TarInfo(f"{item:08d}.{ending}")
                    info.size = len(content)
                    shard.addfile(info, io.BytesIO(content))
    return {"kind": "webdataset", "attributes": {"gender": {}}}


def write_csv(folder: Path, items: int) -> dict[str, Any]:
    """Rows with a text and a label."""
    for start in range(0, items, FILE_ROWS):
        rows = (
            f"i{item:09d},{['female', 'male'][item % 2]},the text of item {item}"
            for item in range(start, min(items, start + FILE_ROWS))
        )
        (folder / f"{start // FILE_ROWS:05d}.csv").write_text("\n".join(["item_id,gender,about", *rows]) + "\n")
    return {"kind": "table", "text": "{about}", "attributes": {"gender": {}}}


KINDS: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "pictures": write_folders,
    "shards": write_shards,
    "csv": write_csv,
}


def measure(folder: Path, kind: str, items: int) -> None:
    """Write a data set and plan an audit of it twice."""
    (folder / kind).mkdir()
    block = KINDS[kind](folder / kind, items) | {"path": kind}
    architecture, weights = write_tiny_clip(folder / kind)
    settings = {
        "name": kind,
        "dataset": block,
        "encoder": {"kind": "open_clip", "model": str(architecture), "pretrained": str(weights)},
        "queries": {"list": ["a face", "a hat"]},
        "methods": ["top_k"],
    }
    audit = folder / f"{kind}.yaml"
    audit.write_text(yaml.safe_dump(settings), encoding="utf-8")
    time.sleep(SETTLING_SECONDS)
    for name in ("plan", "plan again"):
        ended = watched("plan", str(audit), "--output", str(folder / "run"))
        assert ended.said["datasets"] == {"items": items}
        print(
            f"{kind:12}{items:>12,}  {name:12}{ended.seconds:8.1f} s{ended.cpu_seconds:8.1f} s cpu   "
            f"driver {ended.peak('driver'):5.0f} MB   a process that reads {ended.peak('worker'):5.0f} MB",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
        os.environ[VARIABLE] = cache
        for kind in chosen.only:
            measure(Path(folder), kind, chosen.items * (ROWS_FOR_A_PICTURE if kind == "csv" else 1))


if __name__ == "__main__":
    main()
