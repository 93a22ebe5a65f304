"""CSV as its makers mean it: texts stay texts, and only columns that the settings name are looked at."""

import pandas as pd
import pytest

from jobs.errors import UsageError
from tests.jobs.datasets.tables import codes, load

IDS = [f"p{number}" for number in range(6)]
SEXES = ["f", "m"] * 3


def csv(folder, values, name="p.csv", **changes):
    """A CSV whose column `code` has these fields, as they stand."""
    rows = "".join(f"p{number},{value},007\n" for number, value in enumerate(values))
    (folder / name).write_bytes(f"item_id,code,note\n{rows}".encode())
    return load(folder, name, **changes)


@pytest.mark.parametrize(
    "values",
    [
        ["01", "1", "2"],
        ["001", "010", "100"],
        ["0x1", "1", "2"],
        ["1E2", "100", "5"],
        ["1E10", "1E11"],
        ["1.0", "1", "1.00"],
        ["NA", "EU", "null"],
        ["None", "nan", "NaN", "N/A", "#N/A", "-"],
        ["12:30", "13:45"],
        ["2020-01-31", "2020-02-01", "2020-01-31 00:00:00"],
        ["True", "true", "TRUE"],
        ["+1", "1", "-0", "0"],
        ["inf", "-inf", "1e400"],
        ["9007199254740993", "9007199254740992"],
        [" f", "f", "f "],
        ["é", "e\u0301"],
    ],
)
def test_levels_of_a_csv_are_the_texts_that_stand_there(tmp_path, values):
    catalogue = csv(tmp_path, values)
    assert catalogue.levels["code"] == tuple(sorted(values))
    assert sorted(codes(catalogue)) == sorted(values)
    assert set(catalogue.items["text"].to_pylist()) == {"007"}


def test_quotes_change_no_text_and_an_empty_field_is_no_value(tmp_path):
    catalogue = csv(tmp_path, ['"NA"', "EU", "", '""', '"a, ""b"""', '"two\nlines"'], text="{code}")
    assert catalogue.levels["code"] == ("EU", "NA", 'a, "b"', "two\nlines", "unknown")
    assert codes(catalogue).count("unknown") == 2
    assert catalogue.items["text"].to_pylist() == ["NA", "EU", "unknown", "", 'a, "b"', "two\nlines"]


def test_a_text_is_made_missing_by_the_settings(tmp_path):
    for name in ("", "unknown"):
        catalogue = csv(tmp_path, ["NA", "EU", "AS"], attributes={"code": {"map": {"NA": name}}})
        assert catalogue.levels["code"] == ("AS", "EU", "unknown")
    dropped = csv(tmp_path, ["NA", "EU", "AS"], attributes={"code": {"map": {"NA": ""}}}, missing="drop")
    assert (dropped.levels["code"], dropped.size) == (("AS", "EU"), 2)


def test_ids_of_a_csv_are_texts(tmp_path):
    (tmp_path / "p.csv").write_text("item_id,code\nNA,a\nnull,b\n1E5,a\n0x10,b\n1.0,a\n1,b\n")
    assert load(tmp_path, "p.csv", text=None).items["item_id"].to_pylist() == ["NA", "null", "1E5", "0x10", "1.0", "1"]


def test_a_number_is_one_where_a_setting_asks_for_it(tmp_path):
    catalogue = csv(
        tmp_path, ["30.0", "029", "", "6.1e1"], text="{code}", attributes={"code": {"bins": [30, 60]}}, weight="note"
    )
    assert codes(catalogue) == ["30 to under 60", "under 30", "unknown", "60 and over"]
    assert catalogue.items["text"].to_pylist() == ["30", "29", "unknown", "61"]
    assert catalogue.items["weight"].to_pylist() == [7.0] * 4


def test_a_column_that_is_also_a_level_keeps_its_text(tmp_path):
    attributes = {"code": {"bins": [30]}, "written": {"column": "code"}}
    catalogue = csv(tmp_path, ["30.0", "029"], text="{code}", attributes=attributes)
    assert catalogue.levels["written"] == ("029", "30.0")
    assert catalogue.items["text"].to_pylist() == ["30.0", "029"]


@pytest.mark.parametrize("field", ['"1,023"', "old", "NA", "0x1F", "12:30", '"1.000,5"'])
def test_a_text_among_numbers_is_named_with_file_and_row(tmp_path, field):
    with pytest.raises(UsageError) as caught:
        csv(tmp_path, ["20", field, "40"], attributes={"code": {"bins": [30]}})
    assert f"attributes.code needs numbers, but column 'code' holds {field.strip(chr(34))!r} in row 2 of" in str(
        caught.value
    )
    assert "p.csv" in str(caught.value)


def test_the_row_is_that_of_its_own_file(tmp_path):
    (tmp_path / "d").mkdir()
    for name, ages in (("a", "1\n2\n3"), ("b", "4\nx\n6")):
        rows = "".join(f"{name}{age},{age},{age}\n" for age in ages.split())
        (tmp_path / f"d/{name}.csv").write_text(f"item_id,code,weight\n{rows}")
    for changes in ({"attributes": {"code": {"bins": [3]}}}, {"weight": "weight"}):
        with pytest.raises(UsageError, match="'x' in row 2 of .*b.csv"):
            load(tmp_path, "d", text=None, **changes)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"item_id;code\np,1\n", "p.csv has ';' between its fields: commas are expected"),
        (b"item_id\tcode\np\t1\n", "between its fields"),
        (b"item_id, code\np,1\n", "lacks the column 'code'; it has item_id, ' code'; white space around a name"),
        (b"item_id,Code\np,1\n", "did you mean 'Code'"),
        (b"item_id,code,code\np,1,2\n", "p.csv: the column 'code' occurs 2 times"),
        (b"item_id,code\np,1\nq,2,3\n", "p.csv: row 2 has 3 fields and the header 2"),
        (b"item_id,code\np,1\nq\n", "p.csv: row 2 has 1 fields and the header 2"),
        (b"item_id,code\np,1,\nq,2,\n", "p.csv: row 1 has 3 fields and the header 2"),
        (b'item_id,code\np,1\nq,"2\nr,3\ns,4\n', "p.csv: a quote that opens in row 2 is never closed"),
        (b'item_id,code\np,1\nq,2\nr,"3', "p.csv: a quote that opens in row 3 is never closed"),
        ("item_id,code\np,f\nq,m\nr,é\n".encode("latin-1"), "p.csv:4: column 'code' holds b'.xe9', which is no UTF-8"),
        ('item_id,code\n"two\nlines",f\nr,é\n'.encode("latin-1"), "p.csv:4: column 'code'"),
        ("item_id,code\np,1\nq,2\n".encode("utf-16"), "p.csv: it is UTF-16 text, and UTF-8 is expected"),
        ("item_id,code\np,1\nq,2\n".encode("utf-16-le"), "p.csv: it holds NUL characters"),
        ("item_id,code\np,1\nq,2\n".encode("utf-32"), "p.csv: it is UTF-32 text"),
        (b"", "p.csv: it is empty"),
        (b"\n\n", "p.csv: it is empty"),
        (b"item_id,code\n", "p.csv has no rows"),
        (b"item_id,code\np,f\nq,f\0\n", "a NUL character in row 2 of .*p.csv"),
        (b"item_id,code\np,f\nq," + b"x" * 1001 + b"\n", "1,001 characters, more than 1,000 in row 2 of .*p.csv"),
        (b"item_id,code\np,f\n,m\n", "no id in row 2 of .*p.csv"),
        (b'item_id,code\np,f\n"",m\n', "no id in row 2 of .*p.csv"),
        (b"item_id,code\np,f\n" + b"i" * 4097 + b",m\n", "more than 4,096 characters in row 2 of .*p.csv"),
        (b"item_id,code\np,f\n", "attribute 'code' has one value, 'f'"),
    ],
)
def test_what_is_wrong_with_a_csv_is_said_with_its_place(tmp_path, content, words):
    (tmp_path / "p.csv").write_bytes(content)
    with pytest.raises(UsageError, match=words) as caught:
        load(tmp_path, "p.csv", text=None)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: b"\xef\xbb\xbf" + text.replace(b"item_id", b'"item_id"'),
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b"\n", b"\r"),
        lambda text: text.rstrip(b"\n"),
        lambda text: text.replace(b"\n", b"\n\n"),
        lambda text: text.replace(b"\n", b",\n"),
        lambda text: text.replace(b"\n", b",x,x,x\n").replace(b"note,x,x,x", b"note,again,again,"),
        lambda text: text.replace(b"note\n", b"note,n\xf6te\n").replace(b"007\n", b"007,\xe9\n"),
        lambda text: text.replace(b"007\n", b'"' + b"0\n" * 1_000_000 + b'"\n', 1),
    ],
)
def test_what_harms_no_csv(tmp_path, change):
    csv(tmp_path, SEXES)
    (tmp_path / "p.csv").write_bytes(change((tmp_path / "p.csv").read_bytes()))
    catalogue = load(tmp_path, "p.csv", text="{code}")
    assert sorted(zip(catalogue.items["item_id"].to_pylist(), catalogue.items["text"].to_pylist())) == list(
        zip(IDS, SEXES)
    )


def test_a_wide_table_with_one_column_asked_for(tmp_path):
    frame = pd.DataFrame({"item_id": IDS, "code": SEXES} | {f"x{place}": range(6) for place in range(300)})
    frame.to_csv(tmp_path / "p.csv", index=False)
    assert load(tmp_path, "p.csv", text=None).levels["code"] == ("f", "m")
    with pytest.raises(UsageError, match="it has item_id, code, x0, .*x27 and 272 more"):
        load(tmp_path, "p.csv", text="{elsewhere}")
