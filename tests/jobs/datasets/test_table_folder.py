"""Folders as Arrow, Spark and pandas write them: what is data, what is not, and what folders' names say."""

import os

import pandas as pd
import pytest

from jobs.datasets.table_folder import NO_VALUE
from jobs.errors import UsageError
from tests.jobs.datasets.tables import codes, load


def put(path, ids="ab", codes="fm", **columns):
    """A table in the format of its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame({"item_id": list(ids), "code": list(codes)} | columns)
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


def items(folder, **changes):
    return load(folder, "d", text=None, **changes)


def test_markers_checksums_and_hidden_files_are_no_data(tmp_path):
    put(tmp_path / "d/part-0.parquet")
    for name in ("_SUCCESS", "_metadata", "_common_metadata", ".part-0.parquet.crc", "_committed_1", "notes.txt"):
        (tmp_path / "d" / name).write_bytes(b"x")
    for name in ("_temporary/0/part-1.parquet", ".ipynb_checkpoints/part-0.csv", "._part-0.csv", "_old.csv"):
        put(tmp_path / "d" / name)
    catalogue = items(tmp_path)
    assert catalogue.size == 2
    [remark] = catalogue.remarks
    assert "2 of the files whose names begin with _ or . are passed over, such as ._part-0.csv" in remark


def test_parts_without_a_byte_are_passed_over_and_told_of(tmp_path):
    put(tmp_path / "d/part-0.csv")
    put(tmp_path / "d/part-2.csv", ids="cd")
    (tmp_path / "d/part-1.csv").write_bytes(b"")
    (tmp_path / "d/part-3.csv").write_text("item_id,code\n")
    catalogue = items(tmp_path)
    assert catalogue.size == 4
    [remark] = catalogue.remarks
    assert "1 of the files without a byte is passed over, such as part-1.csv" in remark


def test_formats_and_depths_side_by_side(tmp_path):
    put(tmp_path / "d/a.parquet", ids="ab")
    put(tmp_path / "d/b/b.csv", ids="cd")
    put(tmp_path / "d/c/d/e.jsonl", ids="ef")
    assert items(tmp_path).items["item_id"].to_pylist() == list("abcdef")


def test_columns_in_the_names_of_folders(tmp_path):
    put(tmp_path / "d/sex=f/year=2024/part-0.parquet", ids="ab")
    put(tmp_path / "d/sex=m%2Fx/year=2024/part-0.csv", ids="cd")
    put(tmp_path / f"d/_sex=m/sex={NO_VALUE}/year=2025/part-0.jsonl", ids="ef")
    attributes = {"sex": {}, "year": {"bins": [2025]}, "code": {}}
    catalogue = items(tmp_path, attributes=attributes)
    assert catalogue.levels["sex"] == ("f", "m/x", "unknown")
    assert catalogue.items["attribute:sex"].to_pylist() == ["unknown", "unknown", "f", "f", "m/x", "m/x"]
    assert catalogue.levels["year"] == ("under 2025", "2025 and over")
    before = catalogue.fingerprint
    (tmp_path / "d/sex=f").rename(tmp_path / "d/sex=m")
    renamed = items(tmp_path, attributes=attributes)
    assert renamed.levels["sex"] == ("m", "m/x", "unknown")
    assert renamed.fingerprint != before


def test_names_of_folders_that_are_no_text_stay_apart(tmp_path):
    for place, name in enumerate(["%FE", "%FF", "\udcfe"]):
        put(tmp_path / f"d/sex={name}/part-0.csv", ids=f"{place}{place + 5}")
    assert len(items(tmp_path, attributes={"sex": {}}).levels["sex"]) == 2


def test_a_column_of_the_file_stands_before_its_folder_s_name(tmp_path):
    put(tmp_path / "d/code=x/part-0.csv", ids="ab")
    (tmp_path / "d/code=y").mkdir()
    (tmp_path / "d/code=y/part-0.csv").write_text("item_id\nc\n")
    assert codes(items(tmp_path)) == ["f", "m", "y"]


def test_a_part_that_lacks_the_column_of_the_folders_is_named(tmp_path):
    (tmp_path / "d/code=y").mkdir(parents=True)
    (tmp_path / "d/code=y/part-0.csv").write_text("item_id\nc\n")
    (tmp_path / "d/part-1.csv").write_text("item_id\nd\n")
    with pytest.raises(UsageError, match="part-1.csv lacks the column 'code' that .*part-0.csv has"):
        items(tmp_path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("people.csv.gz", "people.csv.gz is compressed: unpack it"),
        ("b/people.jsonl.zst", "people.jsonl.zst is compressed"),
        ("_delta_log/0.json", "is a table of Delta Lake"),
        (".hoodie/0", "is a table of Hudi"),
    ],
)
def test_what_would_be_lost_or_wrong_in_silence(tmp_path, name, words):
    put(tmp_path / "d/part-0.parquet")
    (tmp_path / "d" / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "d" / name).write_bytes(b"x")
    with pytest.raises(UsageError, match=words):
        items(tmp_path)


def test_links_to_files_are_followed_and_links_to_folders_told_of(tmp_path):
    put(tmp_path / "elsewhere/part.csv", ids="cd")
    put(tmp_path / "d/a.csv", ids="ab")
    (tmp_path / "d/b.csv").symlink_to(put(tmp_path / "blob.csv", ids="xy"))
    (tmp_path / "d/more").symlink_to(tmp_path / "elsewhere")
    catalogue = items(tmp_path)
    assert catalogue.items["item_id"].to_pylist() == list("abxy")
    assert "1 of the files that are links to folders is passed over, such as more" in catalogue.remarks[0]


def test_a_link_to_nothing_and_a_pipe_are_no_tables(tmp_path):
    put(tmp_path / "d/a.csv")
    (tmp_path / "d/b.csv").symlink_to(tmp_path / "nowhere.csv")
    with pytest.raises(UsageError, match="b.csv: No such file"):
        items(tmp_path)
    (tmp_path / "d/b.csv").unlink()
    os.mkfifo(tmp_path / "d/b.csv")
    with pytest.raises(UsageError, match="b.csv is no regular file"):
        items(tmp_path)


def test_a_folder_with_nothing_but_hidden_tables_says_so(tmp_path):
    put(tmp_path / "d/_part-0.csv")
    with pytest.raises(UsageError, match="nor a folder of them; 1 of the files whose names begin with _ or ."):
        items(tmp_path)
    assert load(tmp_path, "d/_part-0.csv", text=None).size == 2
