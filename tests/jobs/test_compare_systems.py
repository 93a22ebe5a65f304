"""`compare --systems` on made-up runs whose differences are known."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from jobs.cli import main
from jobs.results.manifest import MANIFEST
from jobs.store import Store
from tests.jobs.report import synthetic

QUERIES = 30


def rotated():
    """Tables in which each query shows what the next one showed."""
    made = synthetic.tables(queries=QUERIES, points=4)
    names = sorted(set(made["results"]["query"].to_pylist()))
    after = dict(zip(names, [*names[1:], names[0]]))
    for table in ("results", "groups"):
        rows = made[table]
        renamed = pa.array([after[name] for name in rows["query"].to_pylist()])
        made[table] = rows.set_column(rows.schema.get_field_index("query"), "query", renamed)
    place = made["results"].schema.get_field_index("prompt")
    prompts = pa.array([f"A photo of a {name}" for name in made["results"]["query"].to_pylist()])
    made["results"] = made["results"].set_column(place, "prompt", prompts)
    return made


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A run, one whose queries show other people, and the first with another encoder's name."""
    folder = tmp_path_factory.mktemp("systems")
    synthetic.write(folder / "a", queries=QUERIES, points=4)
    synthetic.write(folder / "b", rotated())
    synthetic.write(folder / "other", queries=QUERIES, points=4)
    store = Store(str(folder / "other"))
    store.write_json(MANIFEST, store.read_json(MANIFEST) | {"encoder": {"kind": "sentence", "model": "another"}})
    return {name: str(folder / name) for name in ("a", "b", "other")}


def asked(capsys, *arguments):
    capsys.readouterr()
    assert main(["compare", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def of(found, name):
    [one] = [one for one in found["measures"] if one["measure"] == name]
    return one


def test_a_system_beside_itself_differs_in_nothing(folders, capsys):
    found = asked(capsys, folders["a"], folders["a"], "--systems")
    for one in found["measures"]:
        assert (one["difference"], one["p_value"], one["better"]) == (0, 1, None)
        assert (one["wins_a"], one["wins_b"], one["queries"]) == (0, 0, QUERIES)


def test_differences_are_those_of_the_tables(folders, capsys):
    found = asked(capsys, folders["a"], folders["b"], "--systems")
    gaps = {}
    for side in ("a", "b"):
        groups = (synthetic.tables(queries=QUERIES, points=4) if side == "a" else rotated())["groups"]
        rows = groups.filter(pc.equal(groups["method"], "top_k")).to_pandas()
        rows = rows[rows["share_reference"] >= 0.01]
        gaps[side] = (rows["share_selected"] - rows["share_reference"]).abs().groupby(rows["query"]).max()
    for row in found["queries"]:
        for side in ("a", "b"):
            assert row[f"largest_gap_{side}"] == pytest.approx(gaps[side][row["query"]], abs=1e-9)
    gap = of(found, "largest_gap")
    assert gap["difference"] == pytest.approx((gaps["b"] - gaps["a"]).mean(), abs=1e-9)
    assert gap["low"] < gap["difference"] < gap["high"]
    assert {one["measure"] for one in found["measures"]} == {"largest_gap", "mpr", "similarity"}


def test_sides_change_places_with_the_folders(folders, capsys):
    one, other = (
        of(asked(capsys, folders[first], folders[second], "--systems"), "largest_gap")
        for first, second in (("a", "b"), ("b", "a"))
    )
    assert one["difference"] == pytest.approx(-other["difference"])
    assert (one["wins_a"], one["wins_b"]) == (other["wins_b"], other["wins_a"])
    assert one["p_value"] == pytest.approx(other["p_value"])


def test_two_methods_of_one_run(folders, capsys):
    found = asked(capsys, folders["a"], "--methods", "top_k", "mopr")
    assert found["methods"] == ["top_k", "mopr"]
    gap, similarity = of(found, "largest_gap"), of(found, "similarity")
    assert gap["better"] == "b" and gap["difference"] < 0
    assert similarity["difference"] <= 0 and similarity["wins_b"] == 0


def test_similarity_of_two_encoders_is_not_compared_and_gaps_are(folders, capsys):
    found = asked(capsys, folders["a"], folders["other"], "--systems")
    assert {one["measure"] for one in found["measures"]} == {"largest_gap", "mpr"}
    assert any("similarity is not compared: A and B differ in the encoder" in one for one in found["remarks"])


def test_precision_is_compared_where_it_is_known(tmp_path, capsys):
    for name, precision in (("a", 0.9), ("b", 0.7)):
        made = synthetic.tables(queries=8, points=2)
        rows = made["results"]
        column = pa.array(np.full(rows.num_rows, precision))
        made["results"] = rows.set_column(rows.schema.get_field_index("precision"), "precision", column)
        synthetic.write(tmp_path / name, made)
    found = of(asked(capsys, tmp_path / "a", tmp_path / "b", "--systems"), "precision")
    assert found["difference"] == pytest.approx(-0.2)
    assert (found["better"], found["wins_a"]) == ("a", 8)


def test_other_references_are_refused(folders, tmp_path, capsys):
    made = synthetic.tables(queries=QUERIES, points=4)
    shares = pc.multiply(made["groups"]["share_reference"], 0.5)
    place = made["groups"].schema.get_field_index("share_reference")
    made["groups"] = made["groups"].set_column(place, "share_reference", shares)
    synthetic.write(tmp_path / "half", made)
    assert main(["compare", folders["a"], str(tmp_path / "half"), "--systems"]) == 2
    assert "the references differ" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--systems"], "B is missing"),
        ([], "NEW is missing"),
        (["--methods", "top_k", "pbm"], "no selection of method pbm: it has mmr, mopr, top_k"),
    ],
)
def test_what_cannot_be_compared_is_said(folders, capsys, arguments, said):
    capsys.readouterr()
    assert main(["compare", folders["a"], *arguments]) == 2
    assert said in capsys.readouterr().err


def test_text_markdown_and_page_say_the_same(folders, tmp_path, capsys):
    capsys.readouterr()
    files = ["--markdown", str(tmp_path / "note.md"), "--html", str(tmp_path / "page.html")]
    assert main(["compare", folders["a"], folders["b"], "--systems", *files]) == 0
    text, note = capsys.readouterr().out, (tmp_path / "note.md").read_text()
    page = (tmp_path / "page.html").read_text()
    first = next(line for line in text.splitlines() if line.startswith("largest gap:"))
    assert f"- {first}" in note
    assert first.replace("'", "&#39;") in page
    assert "<script" not in page
