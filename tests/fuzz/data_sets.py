"""Small data sets of every format that is read, some of them odd by themselves; each with its `dataset` block."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS, WIDTH = 24, 4
# A GIF of one pixel.
PICTURE = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
)
ATTRIBUTES: dict[str, Any] = {"sex": {}, "age": {"bins": [30, 40]}}
Block = dict[str, Any]


def rows(random: Random) -> list[dict[str, Any]]:
    """People whose ids are their part's own."""
    part = random.randrange(100_000)
    return [
        {
            "item_id": f"{part}-{number}",
            "sex": "fm"[number % 2],
            "age": 20 + number,
            "note": random.choice(["plain", "with, comma", 'with "quotes"', "two\nlines", "", "Grüße"]),
            "weight": 1 + number % 3,
        }
        for number in range(ROWS)
    ]


def write_csv(path: Path, random: Random) -> Block:
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, ["item_id", "sex", "age", "note", "weight"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(random))
    path.with_suffix(".csv").write_text(stream.getvalue(), encoding="utf-8", newline="")
    return table_block(path.with_suffix(".csv"))


def write_json_lines(path: Path, random: Random) -> Block:
    lines = [json.dumps(row | {"embedding": _vector(random)}) for row in rows(random)]
    path.with_suffix(".jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return table_block(path.with_suffix(".jsonl"))


def write_parquet(path: Path, random: Random) -> Block:
    """Columns of many types, in files of many forms."""
    table = pa.Table.from_pylist(rows(random))
    columns = _typed(table, random) | {"embedding": _vectors(random)}
    names, arrays = list(columns), list(columns.values())
    if random.random() < 0.2:
        names.append(random.choice(names))
        arrays.append(arrays[0])
    codec = random.choice(["none", "snappy", "zstd"])
    made = pa.Table.from_arrays(arrays, names).slice(0, random.choice([ROWS] * 8 + [1, 0]))
    pq.write_table(made, path.with_suffix(".parquet"), compression=codec, row_group_size=random.choice([7, 100]))
    return table_block(path.with_suffix(".parquet"))


def write_folder(path: Path, random: Random) -> Block:
    """Parts of several formats and types in a folder, some in folders of Hive's."""
    for part in range(random.randrange(1, 4)):
        folder = path / random.choice(["", "", "sex=f", "year=2024", "_hidden", "a/b"])
        folder.mkdir(parents=True, exist_ok=True)
        write = random.choice([write_csv, write_json_lines, write_parquet])
        write(folder / random.choice([f"part-{part}"] * 6 + [f"_part-{part}", f".part-{part}"]), random)
    if random.random() < 0.3:
        (path / random.choice(["_SUCCESS", "empty.csv", "empty.parquet", "notes.txt"])).write_bytes(b"")
    return table_block(path)


def write_tar(path: Path, random: Random) -> Block:
    with tarfile.open(path.with_suffix(".tar"), "w", format=random.choice([0, 1, 2])) as archive:
        for row in rows(random):
            key = row["item_id"] if random.random() < 0.9 else random.choice(["img.1", "img.2", "._p1", "a/../b", "é"])
            for ending, data in ((".gif", PICTURE), (".json", json.dumps(row).encode()), (".cls", b"1")):
                info = tarfile.TarInfo(f"{key}{ending}")
                info.size = len(data)
                info.type = random.choice([tarfile.REGTYPE] * 40 + [tarfile.SYMTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
                archive.addfile(info, io.BytesIO(data))
    return {"kind": "webdataset", "path": path.with_suffix(".tar").name, "attributes": ATTRIBUTES}


def write_clip_retrieval(path: Path, random: Random) -> Block:
    table = pa.Table.from_pylist(rows(random))
    (path / "img_emb").mkdir(parents=True)
    (path / "metadata").mkdir()
    for part in range(2):
        vectors = np.array([_vector(random) for _ in range(ROWS // 2)])
        dtype = random.choice(
            ["f2", "f4", "f8", ">f4", "i4", "c8", "U3"] if random.random() < 0.3 else ["f2", "f4", "f8"]
        )
        with np.errstate(all="ignore"):
            np.save(path / f"img_emb/img_emb_{part}.npy", vectors.astype(dtype))
        mine = table.slice(part * (ROWS // 2), ROWS // 2)
        pq.write_table(pa.table(_typed(mine, random)), path / f"metadata/metadata_{part}.parquet")
    return {"kind": "clip_retrieval", "path": path.name, "id": "item_id", "attributes": ATTRIBUTES}


def table_block(path: Path) -> Block:
    return {"path": path.name, "weight": "weight", "attributes": ATTRIBUTES}


def write_query_vectors(path: Path, random: Random) -> None:
    texts = pa.array(["nurse", "chef"])
    kind = random.choice([pa.string()] * 4 + [pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.binary()])
    vectors = pa.array([[random.gauss(0, 1) for _ in range(WIDTH)] for _ in texts])
    pq.write_table(pa.table({"query": texts.cast(kind), "vector": vectors}), path)


def write_queries(path: Path, random: Random) -> None:
    lines = random.sample(["nurse", "C# programmer", "#metoo", "# a comment", "#", "", "  chef  ", "\u2028"], 5)
    path.write_text("\n".join(["teacher", *lines]), encoding="utf-8")


WRITERS: dict[str, Callable[[Path, Random], Block]] = {
    "csv": write_csv,
    "json_lines": write_json_lines,
    "parquet": write_parquet,
    "folder": write_folder,
    "webdataset": write_tar,
    "clip_retrieval": write_clip_retrieval,
}


def _vector(random: Random) -> list[float]:
    odd = [float("nan"), float("inf"), 0.0, 1e300, -1e-300]
    return [random.gauss(0, 1) if random.random() < 0.995 else random.choice(odd) for _ in range(WIDTH)]


def _vectors(random: Random) -> pa.Array:
    vectors: list[Any] = [_vector(random) for _ in range(ROWS)]
    if random.random() < 0.2:
        vectors[random.randrange(ROWS)] = random.choice([None, [], [1.0], [None] * WIDTH])
    kinds = [pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_view(pa.float32()), pa.list_(pa.string())]
    try:
        return pa.array(vectors, random.choice([kinds[0]] * 4 + kinds))
    except (pa.ArrowException, TypeError):
        return pa.array(vectors)


def _typed(table: pa.Table, random: Random) -> dict[str, pa.Array]:
    """The columns, as a rule one of them in a type of another kind."""
    odd = random.sample(table.column_names, random.choice([0, 1, 1, 1, 2]))
    return {
        name: _retyped(table[name], random) if name in odd else table[name].combine_chunks()
        for name in table.column_names
    }


def _retyped(column: pa.ChunkedArray, random: Random) -> pa.Array:
    """The same column in another type, or with something else in it; as it is where that cannot be."""
    values: list[Any] = column.to_pylist()
    if random.random() < 0.3:
        values[random.randrange(len(values))] = None
    kind = random.choice(
        [
            *(pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int8(), pa.string()), pa.null()),
            *(pa.float16(), pa.float32(), pa.float64(), pa.decimal128(20, 3), pa.bool_(), pa.uint64(), pa.int8()),
            *(pa.date32(), pa.timestamp("us"), pa.timestamp("ns", "UTC"), pa.time64("us"), pa.duration("s")),
            *(pa.list_(pa.string()), pa.struct([("a", pa.string())]), pa.map_(pa.string(), pa.int64())),
        ]
    )
    odd: list[Any] = [
        float("nan"),
        float("inf"),
        2**60,
        -1,
        "",
        " f",
        "f\u200b",
        "unknown",
        b"\xff\xfe",
        [1],
        {"a": "b"},
    ]
    attempts = (
        lambda: pa.array(values, kind),
        lambda: pa.array(values).cast(kind),
        lambda: pa.array([random.choice(odd)] * len(values)),
    )
    for attempt in attempts:
        try:
            return attempt()
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            continue
    return pa.array(values)
