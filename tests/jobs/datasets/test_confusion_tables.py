"""Files of pairs of levels, what somebody counted of true and predicted ones, and where they are at fault."""

import re

import pandas as pd
import pytest

from jobs.datasets.confusions import read_confusion
from jobs.errors import UsageError


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("c.csv", "true,predicted,count\n\na,a,9\nb,b,x\n", "c.csv:4: column 'count' holds 'x': a number is expected"),
        ("c.csv", "true,predicted,count\na,a,9\n,b,1\n", "c.csv:3: column 'true' has no level"),
        ("c.csv", 'true,predicted,count\n"a\n1",a,9\na,b,-1\n', "c.csv:4: column 'count' holds -1: 0 or more"),
        ("c.csv", "true,predicted,share\na,a,1\nb,b,0.9\nb,a,0.3\n", "c.csv:3: shares of true 'b' sum to 1.2: 1 is"),
        ("c.csv", "true,predicted,count\na,a,9\na,bb,1\nb,b,9\n", "c.csv:3: no row has the predicted level 'bb'"),
        ("c.csv", "true,predicted,share\na,a,1\na,a,1\n", "c.csv:3: true 'a' and predicted 'a' are there a second"),
        ("c.jsonl", '{"true": "a", "predicted": "a", "count": 1}\n\n{"true": "a", "predicted": "b", "count": "x"}\n',
         "c.jsonl:3: column 'count' holds 'x'"),
    ],
)  # fmt: skip
def test_a_table_of_confusions_is_at_fault_in_a_line_of_its_file(tmp_path, name, content, said):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(said)):
        read_confusion(name, tmp_path)


def test_a_table_of_confusions_in_parquet_is_at_fault_in_a_row(tmp_path):
    table = pd.DataFrame({"true": ["a", "a"], "predicted": ["a", "a"], "count": [1, 2]})
    table.to_parquet(tmp_path / "c.parquet")
    with pytest.raises(UsageError, match="c.parquet, row 2: true 'a' and predicted 'a'"):
        read_confusion("c.parquet", tmp_path)
