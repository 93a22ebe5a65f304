"""Miniature copies of each data set's layout, as it is handed out, made of generated pictures.

`write(kind, folder)` writes one and returns the `dataset` block that reads it. Every level of every attribute occurs.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from jobs.datasets.fairface import AGES, GENDERS, RACES

SIDE = 40
OCCUPATIONS = ("nurse", "chef", "engineer")
CELEBA_ATTRIBUTES = ("Eyeglasses", "Male", "Smiling", "Young")


def face(*labels: int) -> bytes:
    """A JPEG whose colours depend on the labels, with some noise of its own."""
    generator = np.random.default_rng(labels)
    colours = np.random.default_rng(labels[1:]).integers(0, 256, (2, 2, 3)).repeat(SIDE // 2, 0).repeat(SIDE // 2, 1)
    pixels = np.clip(colours + generator.normal(0, 20, (SIDE, SIDE, 3)), 0, 255).astype(np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=90)
    return stream.getvalue()


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def write_celeba(folder: Path, count: int = 36) -> dict[str, Any]:
    """Anno, Eval and Img, as the authors hand it out; of six pictures four are train, one val, one test."""
    values = np.array([[(number >> bit) % 2 for bit in range(4)] for number in range(count)]) * 2 - 1
    names = [f"{number + 1:06d}.jpg" for number in range(count)]
    lines = [str(count), " ".join(CELEBA_ATTRIBUTES)]
    lines += [f"{name} " + " ".join(f"{value:2d}" for value in row) for name, row in zip(names, values)]
    _put(folder / "Anno/list_attr_celeba.txt", ("\n".join(lines) + "\n").encode())
    parts = [f"{name} {(0, 0, 0, 0, 1, 2)[number % 6]}" for number, name in enumerate(names)]
    _put(folder / "Eval/list_eval_partition.txt", ("\n".join(parts) + "\n").encode())
    for number, (name, row) in enumerate(zip(names, values)):
        _put(folder / "Img/img_align_celeba" / name, face(number, *(row + 1)))
    return {"kind": "celeba", "path": str(folder)}


def write_utkface(folder: Path, count: int = 40) -> dict[str, Any]:
    """Names of the aligned and cropped faces, and three that lack a part, as in the original."""
    for number in range(count):
        gender, race, age = number % 2, number // 2 % 5, 1 + number * 7 % 110
        name = f"{age}_{gender}_{race}_2017011{number:010d}.jpg.chip.jpg"
        _put(folder / name, face(number, gender, race, age // 30))
    for number, name in enumerate(MALFORMED_UTKFACE):
        _put(folder / name, face(count + number, 0))
    return {"kind": "utkface", "path": str(folder)}


MALFORMED_UTKFACE = (
    "39_1_20170116174525125.jpg.chip.jpg",
    "61_1_20170109142408075.jpg.chip.jpg",
    "61_3_20170109150557335.jpg.chip.jpg",
)


def write_fairface(folder: Path, count: int = 63, mangled: bool = True) -> dict[str, Any]:
    """Two label files and their folders; the train labels have been through a spreadsheet."""
    rows = []
    for number in range(count):
        part = "val" if number % 5 == 4 else "train"
        age, gender, race = number % 9, number % 2, number % 7
        rows.append((f"{part}/{number + 1}.jpg", AGES[age], GENDERS[gender], RACES[race], number % 2 == 0))
        _put(folder / rows[-1][0], face(number, age, gender, race))
    labels = pd.DataFrame(rows, columns=["file", "age", "gender", "race", "service_test"])
    for part in ("train", "val"):
        own = labels[labels["file"].str.startswith(part)]
        if mangled and part == "train":
            own = own.replace({"age": {"3-9": "03-Sep", "10-19": "Oct-19"}})
        own.to_csv(folder / f"fairface_label_{part}.csv", index=False)
    return {"kind": "fairface", "path": str(folder)}


def write_occupations(folder: Path, count: int = 36) -> dict[str, Any]:
    """The table of judged genders, and pictures by provider, occupation and rank."""
    rows = []
    for number in range(count):
        term, rank, gender = OCCUPATIONS[number % 3], number // 3, number // 3 % 2
        rows.append((term, rank, "google", ("woman", "man")[gender], 100_000, 0.5))
        _put(folder / "google" / term / f"{rank}.jpg", face(number, number % 3, gender))
    columns = ["search_term", "order", "search_provider", "image_gender", "bls_n", "bls_p_women"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "gender_labelled_images.csv", index=False)
    return {"kind": "occupations", "path": str(folder)}


def write_images(folder: Path, count: int = 30) -> dict[str, Any]:
    """A folder of pictures by country, with the same file names in each, and a table of labels."""
    rows = []
    for number in range(count):
        country, gender = number % 3, number % 2
        name = f"{('chile', 'ghana', 'nepal')[country]}/{number // 3}.jpg"
        _put(folder / name, face(number, country, gender))
        rows.append((name, ("woman", "man")[gender], 20 + number))
    pd.DataFrame(rows, columns=["file_name", "gender", "age"]).to_csv(folder / "metadata.csv", index=False)
    return {"kind": "images", "path": str(folder), "attributes": {"gender": {}, "age": {"bins": [30, 40]}}}


def write_table(folder: Path, count: int = 30) -> dict[str, Any]:
    """A table beside its pictures, with a column of their paths."""
    write_images(folder, count)
    labels = pd.read_csv(folder / "metadata.csv")
    labels.assign(item_id=[f"person {number}" for number in range(count)]).to_parquet(folder / "people.parquet")
    (folder / "metadata.csv").unlink()
    block = {"kind": "table", "path": str(folder / "people.parquet"), "image": "file_name"}
    return block | {"attributes": {"gender": {}, "age": {"bins": [30, 40]}}}


def write_webdataset(folder: Path, count: int = 30) -> dict[str, Any]:
    """Two shards whose keys are the same, with json, txt and cls beside each picture."""
    for shard in range(2):
        members: dict[str, bytes] = {}
        for number in range(count // 2):
            gender = number % 2
            labels = {"gender": ("woman", "man")[gender], "age": 20 + number, "crop": [0, 0, 1, 1], "source": None}
            members[f"{number:06d}.jpg"] = face(number, shard, gender)
            members[f"{number:06d}.json"] = json.dumps(labels).encode()
            members[f"{number:06d}.txt"] = f"person {number}".encode()
            members[f"{number:06d}.cls"] = str(shard).encode()
        write_tar(folder / f"shard-{shard:05d}.tar", members)
    return {"kind": "webdataset", "path": str(folder), "attributes": {"gender": {}, "cls": {}}}


def write_clip_retrieval(folder: Path, count: int = 36, width: int = 8) -> dict[str, Any]:
    """Twelve numbered parts of float16 vectors and their metadata: in the order of names, 10 would follow 1."""
    generator = np.random.default_rng(1)
    (folder / "img_emb").mkdir(parents=True)
    (folder / "metadata").mkdir()
    per_part = count // 12
    for part in range(12):
        vectors = generator.standard_normal((per_part, width))
        # The first number says which row this is.
        vectors[:, 0] = np.arange(part * per_part, (part + 1) * per_part)
        np.save(folder / f"img_emb/img_emb_{part}.npy", vectors.astype(np.float16))
        numbers = np.arange(part * per_part, (part + 1) * per_part)
        labels = {
            "image_path": [f"pictures/{number}.jpg" for number in numbers],
            "caption": [f"person {number}" for number in numbers],
            "gender": np.where(numbers % 2 == 0, "woman", "man"),
        }
        pd.DataFrame(labels).to_parquet(folder / f"metadata/metadata_{part}.parquet")
    return {"kind": "clip_retrieval", "path": str(folder), "attributes": {"gender": {}}}


def write_tar(path: Path, members: dict[str, bytes]) -> None:
    """A tar archive of files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


# Those whose items have pictures.
PICTURE_KINDS = ("celeba", "utkface", "fairface", "occupations", "images", "table", "webdataset")

LAYOUTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "celeba": write_celeba,
    "utkface": write_utkface,
    "fairface": write_fairface,
    "occupations": write_occupations,
    "images": write_images,
    "table": write_table,
    "webdataset": write_webdataset,
    "clip_retrieval": write_clip_retrieval,
}


def write(kind: str, folder: Path) -> dict[str, Any]:
    """Write a miniature of this kind and return its `dataset` block."""
    return LAYOUTS[kind](folder)
