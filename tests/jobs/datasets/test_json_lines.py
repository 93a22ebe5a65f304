"""JSON lines: numbers are the text of the file, and a fault has its line."""

import json

import numpy as np
import pytest

from jobs.errors import UsageError
from tests.jobs.datasets.tables import codes, load


def lines(folder, *objects):
    content = [one if isinstance(one, (str, bytes)) else json.dumps(one) for one in objects]
    (folder / "p.jsonl").write_bytes(b"\n".join(one if isinstance(one, bytes) else one.encode() for one in content))
    return load(folder, "p.jsonl", text=None)


def test_json_lines_keep_the_text_of_numbers(tmp_path):
    written = ["1", "1.0", "1E2", "12345678901234567890123", "true", '"true"', '"007"', "null", "NaN", '""']
    catalogue = lines(
        tmp_path, *(f'{{"item_id": {place}, "code": {text}}}' for place, text in enumerate(written)), '{"item_id": 99}'
    )
    levels = codes(catalogue)
    assert levels == ["1", "1.0", "1E2", "12345678901234567890123", "true", "true", "007", *["unknown"] * 4]


def test_json_lines_with_a_mark_and_blank_lines_and_vectors(tmp_path):
    (tmp_path / "p.ndjson").write_bytes(
        b'\xef\xbb\xbf{"item_id": "a", "code": "f", "embedding": [1, 0.5]}\r\n\r\n'
        b'{"code": "m", "embedding": [0, 1e-3], "item_id": "b", "nested": {"code": "x"}}\n'
    )
    catalogue = load(tmp_path, "p.ndjson", "embedding", text=None)
    assert catalogue.items["vector"].to_pylist() == [[1, 0.5], [0, np.float32(1e-3)]]
    assert codes(catalogue) == ["f", "m"]


GOOD = {"item_id": "a", "code": "f"}


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        ([GOOD, "{"], "p.jsonl:2: is no JSON: Expecting"),
        ([GOOD, "[1]"], "p.jsonl:2: a JSON object is expected in every line"),
        (['[{"item_id": "a"}]'], "p.jsonl:1: a JSON object is expected"),
        ([GOOD, '{"item_id": "b", "code": {"a": 1}}'], "p.jsonl:2: 'code' is an object"),
        ([GOOD, '{"item_id": "b", "code": "f", "code": "m"}'], "p.jsonl:2: the key 'code' occurs twice"),
        ([GOOD, '{"item_id": "b", "code": "\\ud800"}'], "p.jsonl:2: 'code' holds half of a character"),
        ([GOOD, '{"item_id": "b", "code": "é"}'.encode("latin-1")], "p.jsonl:2: is no UTF-8 text"),
        ([GOOD, {"item_id": "b", "code": [1]}], "'code' is a list in some lines"),
        ([GOOD, {"item_id": "b", "code": ["x"]}], "p.jsonl:2: 'code' is a list of something else than numbers"),
        ([GOOD, '{"item_id": ' + "[" * 100_000], "p.jsonl:2: is nested too deeply"),
        ([json.dumps(GOOD).encode("utf-16")], "it is UTF-16 text"),
        ([{"item_id": "a", "sex": "f"}], "lacks the column 'code'; it has item_id, sex"),
        ([], "p.jsonl has no rows"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_json_lines_is_said_with_its_line(tmp_path, objects, words):
    with pytest.raises(UsageError, match=words):
        lines(tmp_path, *objects)
