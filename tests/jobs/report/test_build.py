"""The files of a report: complete, the same twice, inert, and there even for a broken run."""

from __future__ import annotations

import io
import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from jobs.analysis.load import from_tables, load
from jobs.analysis.tables import csv, read_csv
from jobs.errors import UsageError
from jobs.report.build import build
from jobs.report.figures import file_name
from tests.jobs.report import hostile, synthetic


class Elements(HTMLParser):
    """Every element of a page with its attributes."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return build(from_tables(**synthetic.tables(queries=3, points=4), manifest=synthetic.manifest()))


def frame(content: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(content))


def test_has_page_tables_and_one_picture_a_query(files):
    pictures = frame(files["curves/index.csv"])
    assert len(pictures) == 3 and set(pictures["picture"]) < set(files)
    assert set(files) == {
        "index.html", "worst.csv", "curves.csv", "groups.csv", "overview.svg", "curves/index.csv", *pictures["picture"],
    }  # fmt: skip
    for name in files:
        if name.endswith(".svg"):
            assert ElementTree.fromstring(files[name]).tag == "{http://www.w3.org/2000/svg}svg"


def test_worst_pairs_are_read_as_they_were_written():
    names = ["query", "group", "value"]
    table = pd.DataFrame([["NA", "=1+1", 0.5], ["123", "'quoted", None], ["nan", "-a=b", 1e-9]], columns=names)
    table["is_met"] = [True, None, False]
    again = read_csv(csv(table), ["query", "group"])
    assert again[["query", "group"]].to_numpy().tolist() == table[["query", "group"]].to_numpy().tolist()
    assert again["value"].isna().tolist() == [False, True, False] and again["value"][2] == 1e-9
    assert again["is_met"][0] is True and again["is_met"][2] is False


def test_same_run_same_bytes(files):
    again = build(from_tables(**synthetic.tables(queries=3, points=4), manifest=synthetic.manifest()))
    assert again == files


def test_the_configured_minimum_share_decides_who_is_in_the_headline(files):
    manifest = synthetic.manifest() | {"settings": {"report": {"minimum_share": 0.4}}}
    run = from_tables(**synthetic.tables(queries=3, points=4), manifest=manifest)
    built = build(run, has_pictures=False)
    headlines = frame(built["worst.csv"]).query("is_headline")
    assert (headlines["share_reference"] >= 0.4).all()
    assert (frame(files["worst.csv"]).query("is_headline")["share_reference"] < 0.4).any()
    assert "40% of the reference" in built["index.html"].decode()


def test_order_of_units_does_not_show(files):
    # Two files, as two units write them, in the other order.
    tables = synthetic.tables(queries=3, points=4)
    turned = {}
    for name, table in tables.items():
        half = len(table) // 2 // 3 * 3
        turned[name] = type(table).from_batches([*table.slice(half).to_batches(), *table.slice(0, half).to_batches()])
    again = build(from_tables(**turned, manifest=synthetic.manifest()), has_pictures=False)
    assert all(again[name] == files[name] for name in ("worst.csv", "curves.csv", "groups.csv"))


def test_tables_hold_every_pair_and_selection(files):
    assert len(frame(files["curves.csv"])) == 3 * 3 * (1 + 4 + 4)
    groups = frame(files["groups.csv"])
    assert set(groups["selection"]) == {"top_k", "repaired"}
    worst = frame(files["worst.csv"])
    assert worst["is_largest"].sum() == 3 and len(worst) == 3 * groups["group"].nunique()
    assert (worst["is_headline"] == (worst["is_largest"] & worst["is_beyond_chance"])).all()
    assert not (worst["is_headline"] & (worst["gap_points"].abs() <= worst["chance_points"])).any()
    assert worst["gap_points"].abs().iloc[0] == worst["gap_points"].abs().max()


def test_the_page_asks_for_nothing_from_a_network(files):
    for tag, attributes in Elements(files["index.html"]).found:
        assert tag not in ("iframe", "object", "embed", "base", "form")
        for name in ("src", "href", "action", "data"):
            value = attributes.get(name) or "#"
            assert value.startswith("#") or value == "data:,", (tag, value)
    assert b"@import" not in files["index.html"] and b"default-src 'none'" in files["index.html"]


def test_the_page_names_the_worst_pair_its_size_and_its_cost(files):
    worst = frame(files["worst.csv"]).iloc[0]
    text = files["index.html"].decode()
    assert f"<strong>{worst['query']}</strong> is the query furthest from the reference" in text
    assert f"{abs(worst['gap_points']):.1f}" in text and "mean similarity" in text


def test_skipped_failed_and_manifest_are_told(files):
    text = files["index.html"].decode()
    said = (
        "no text: 7",
        "mmr needs the pool&#39;s embeddings",
        "synthetic-1",
        "abc123",
        "rho = 0.005 is at noise level",
    )
    for one in said:
        assert one in text


def test_markup_in_the_data_stays_text():
    files = build(from_tables(**hostile.tables(), manifest=hostile.manifest()))
    found = Elements(files["index.html"]).found
    assert not [one for one in found if one[0] == "img"]
    assert not [one for one in found if any(name.startswith("on") for name in one[1])]
    assert [attributes.get("type") for tag, attributes in found if tag == "script"].count(None) == 1
    assert all(name.isascii() and len(name) < 40 and name.count("/") <= 1 for name in files)


def test_a_spreadsheet_runs_no_cell():
    assert csv(pd.DataFrame({"query": ["=1+1", "@x", "a", None], "gap": [-1.0, 2, 3, 4]})).decode() == (
        "query,gap\n'=1+1,-1.0\n'@x,2.0\na,3.0\n,4.0\n"
    )


def test_failed_zero_and_missing_values_are_said_not_divided():
    run = from_tables(**hostile.broken_tables())
    files = build(run)
    rows = frame(files["curves.csv"])
    failed = rows[rows["status"] == "failed"]
    assert failed["note"].eq("no value").all() and failed["mpr_fraction"].isna().all() and len(failed) == 3 * 7
    zero = rows[rows["mpr_top_k"] == 0]
    assert zero["note"].str.contains("top-k's MPR is 0").all() and zero["mpr_fraction"].isna().all()
    assert frame(files["worst.csv"])["is_largest"].sum() == 3
    text = files["index.html"].decode()
    assert "no rho was met" in text and "not_found" in text and ">nan<" not in text


def test_an_empty_manifest_and_no_groups_still_make_a_page():
    tables = synthetic.tables(queries=1, points=2)
    tables |= {name: tables[name].slice(0, 0) for name in ("groups", "items")}
    text = build(from_tables(**tables), has_pictures=False)["index.html"].decode()
    assert "no group can be named" in text and "No unit failed." in text


def test_top_k_alone_is_a_report_without_a_price():
    tables = synthetic.tables(queries=2, points=2)
    for name in ("results", "groups"):
        tables[name] = tables[name].filter(pc.field("method") == "top_k")
    files = build(from_tables(**tables))
    assert frame(files["worst.csv"])["method_repaired"].isna().all()
    assert "no rho was met" in files["index.html"].decode()


def test_load_reads_committed_files_in_order(tmp_path: Path):
    tables = synthetic.tables(queries=2, points=3)
    for name, table in tables.items():
        (tmp_path / name).mkdir()
        half = len(table) // 2
        pq.write_table(table.slice(0, half), tmp_path / name / "a.parquet")
        pq.write_table(table.slice(half), tmp_path / name / "b.parquet")
        # A writer that was killed leaves its temporary file.
        (tmp_path / name / "c.parquet.tmp-1").write_bytes(b"half")
    (tmp_path / "manifest.json").write_text(json.dumps(synthetic.manifest()))
    loaded = build(load(tmp_path), has_pictures=False)
    direct = build(from_tables(**tables, manifest=synthetic.manifest()), has_pictures=False)
    assert loaded == direct


def test_load_says_where_nothing_is(tmp_path: Path):
    with pytest.raises(UsageError, match="no rows under results/"):
        load(tmp_path)


def test_load_reads_any_filesystem():
    import fsspec

    memory = fsspec.filesystem("memory")
    for name, table in synthetic.tables(queries=1, points=2).items():
        with memory.open(f"/run-report/{name}/a.parquet", "wb") as file:
            pq.write_table(table, file)
    assert len(load("memory://run-report").results) == 3 * 5


def test_picture_names_are_hashes():
    assert file_name(("d", "r", "a/b \U0001f600" + "x" * 300, 50)).count("/") == 1
    assert file_name(("d", "r", "q", 50)) != file_name(("d", "r", "q", 10))
