"""Lists whose items are draws: pictures generated for a prompt, and what is said of them."""

import json

import pandas as pd
import pytest

from jobs.cli import main
from tests.jobs.lists.audits import PEOPLE, SHOWN, refused, run, shares, write


def generated(folder, women):
    """Pictures of each prompt in a folder of its name, and a table with the labels that somebody gave them."""
    rows = []
    for prompt, of_prompt in women.items():
        (folder / "pictures" / prompt).mkdir(parents=True)
        for number, is_woman in enumerate(of_prompt):
            name = f"{prompt}/{number}.png"
            (folder / "pictures" / name).write_bytes(b"no picture is opened")
            rows.append({"file": name, "gender": "woman" if is_woman else "man"})
    pd.DataFrame(rows).to_csv(folder / "pictures/labels.csv", index=False)


def test_generated_pictures_are_all_alike_and_their_chance_is_told(tmp_path):
    generated(tmp_path, {"a nurse": [1, 1, 1, 0], "an engineer": [0] * 6})
    dataset = {"kind": "images", "path": "pictures", "labels": "labels.csv", "attributes": {"gender": {}}}
    path = write(
        tmp_path, SHOWN, dataset=dataset, results={"kind": "images", "path": "pictures"}, k="all",
        report={"thumbnail_megabytes": 0},
    )  # fmt: skip
    rows = run(path).set_index("query")
    assert shares(path, "gender=woman") == {("a nurse", 4): (0.75, 0.5), ("an engineer", 6): (0.0, 0.5)}
    assert rows["similarity"].tolist() == [1, 1]
    # Six of six heads or six tails.
    assert rows.loc["an engineer", "p_chance"] == pytest.approx(2 / 2**6, abs=0.01)
    assert rows.loc["a nurse", "p_chance"] > 0.5
    # What is drawn has an error of its own; what was found has none.
    assert (rows["mpr_high"] > rows["mpr"]).all() and (rows["mpr_low"] < rows["mpr"]).all()
    found = run(path, "--set", "results.draws=false")
    assert found["mpr_low"].isna().all()


def test_draws_are_said_to_be_draws_on_the_page_and_once_by_compare(tmp_path, capsys):
    shown = SHOWN.merge(PEOPLE.rename(columns={"id": "item"}))
    path = write(tmp_path, shown, None, reference={"kind": "population"})
    for name, draws in (("drawn", "true"), ("found", "false")):
        output = str(tmp_path / name)
        assert main(["run", str(path), "--output", output, "--set", f"results.draws={draws}"]) == 0
    said = "The items shown are <strong>independent draws</strong>"
    pages = [(tmp_path / name / "report/index.html").read_text(encoding="utf-8") for name in ("drawn", "found")]
    assert [said in page for page in pages] == [True, False]
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "drawn"), str(tmp_path / "found"), "--json"]) in (0, 4)
    remarks = json.loads(capsys.readouterr().out)["remarks"]
    assert [one for one in remarks if "draws" in one] == ["results.draws differs (True and False)"]


def test_pictures_in_no_folder_are_no_lists(tmp_path, capsys):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/1.png").write_bytes(b"x")
    message = refused(write(tmp_path, SHOWN, results={"kind": "images", "path": "pictures"}), capsys)
    assert "one folder per query is expected" in message
