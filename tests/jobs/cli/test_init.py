"""A first configuration of a file: what is guessed, and that it is one."""

import numpy as np
import pandas as pd
import pytest

from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from tests.data_files import BESIDE_CHECKOUT, data_file

FILES = (
    "adult.parquet",
    "bls_occupations.csv",
    "fairface_labels.parquet",
    "kay_image_gender.parquet",
    "pantheon.parquet",
    "utkface_labels.parquet",
)


def proposed(file, folder):
    """The configuration that is proposed for a file, read."""
    target = folder / "proposed.yaml"
    assert main(["init", str(file), "--output", str(target)]) == 0
    return read_config(target)


@pytest.mark.parametrize("name", FILES)
def test_real_files_get_a_configuration_that_can_be_planned(tmp_path, name):
    if not data_file(name).exists():
        pytest.skip(f"{BESIDE_CHECKOUT} has no {name}")
    config = proposed(data_file(name), tmp_path)
    _, plan = prepare(config, limit=2)
    assert plan.solved
    assert all(note.count("more than 50") == 0 for note in plan.notes)


def test_a_result_list_is_told_by_its_columns_and_runs_as_proposed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", str(data_file("kay_image_gender.parquet")), "--output", "kay.yaml"]) == 0
    settings = read_config("kay.yaml").settings
    assert (settings.results.query, settings.results.rank, settings.results.item) == ("search_term", "order", None)
    # What the query alone decides, such as bls_p_women, is no label of an item.
    assert list(settings.results.attributes) == ["image_gender"]
    assert main(["run", "kay.yaml", "--limit", "2", "--set", "methods=[as_shown]"]) == 0


def test_an_item_column_holds_an_item_a_row(tmp_path):
    rows = pd.DataFrame({"query": ["a"] * 40 + ["b"] * 40, "score": np.linspace(1, 0, 80)})
    rows.assign(image=[f"{row % 60}.jpg" for row in range(80)]).to_csv(tmp_path / "plain.csv", index=False)
    assert main(["init", str(tmp_path / "plain.csv"), "--output", str(tmp_path / "plain.yaml")]) == 0
    written = (tmp_path / "plain.yaml").read_text(encoding="utf-8")
    assert "  item: image" in written and "path: labels.csv" in written
    rows.assign(image_gender=["m", "f"] * 40).to_csv(tmp_path / "labelled.csv", index=False)
    settings = proposed(tmp_path / "labelled.csv", tmp_path).settings
    assert settings.results.item is None and list(settings.results.attributes) == ["image_gender"]


def people(count=300):
    generator = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "person": [f"p{number}" for number in range(count)],
            "job title": generator.choice(["nurse", "chef", "pilot"], count),
            "gender": generator.choice(["woman", "man"], count),
            "birth_year": generator.integers(1940, 2005, count),
            "country": [f"c{number % 70}" for number in range(count)],
            "yes": generator.choice(["true", "false"], count),
            "sampling_weight": generator.uniform(0.5, 2, count),
        }
    )


def test_a_table_of_people(tmp_path):
    people().to_csv(tmp_path / "my people.csv", index=False)
    config = proposed(tmp_path / "my people.csv", tmp_path)
    [dataset] = config.settings.dataset
    assert (dataset.id, dataset.weight, dataset.relevance) == ("person", "sampling_weight", "job title")
    assert list(dataset.attributes) == ["gender", "birth_year"]
    cuts = dataset.attributes["birth_year"].bins
    assert len(cuts) == 3 and all(1940 < cut < 2005 for cut in cuts)
    text = (tmp_path / "proposed.yaml").read_text(encoding="utf-8")
    assert "# country: {}" in text and "70 levels, more than 50" in text
    assert '# "yes": {}' in text
    inputs, _ = prepare(config)
    assert {query.text for query in inputs.queries} == {"nurse", "chef", "pilot"}


def test_rows_without_ids_are_numbered(tmp_path):
    people().drop(columns="person").to_parquet(tmp_path / "people.parquet")
    config = proposed(tmp_path / "people.parquet", tmp_path)
    assert config.settings.dataset[0].id is None
    inputs, _ = prepare(config)
    assert inputs.catalogues["items"].items["item_id"].to_pylist()[:2] == ["1", "2"]


def test_a_run_of_trec_names_the_labels_that_are_missing(tmp_path):
    (tmp_path / "bm25.run").write_text("51 Q0 d1 1 3.5 bm25\n51 Q0 d2 2 3 bm25\n", encoding="utf-8")
    config = proposed(tmp_path / "bm25.run", tmp_path)
    assert config.settings.results.kind == "trec"
    assert config.settings.dataset[0].path == "labels.csv"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("none.csv", None, "does not exist"),
        ("letter.txt", "Dear reader,\n", "neither a table"),
        ("names.csv", "name\na\nb\n", "no column of names.csv makes groups"),
        ("fields.csv", "query;item;gender\na;b;c\n", "fields.csv has ';' between its fields: commas are expected"),
        ("nothing.jsonl", "{}\n", "nothing.jsonl has no columns"),
        ("folder", None, "has no table of labels"),
        (
            "pictures",
            "file\na.jpg\n",
            "labels.csv makes groups: at least one of two levels is expected. Labels that nobody",
        ),
    ],
)
def test_what_cannot_be_guessed_is_one_sentence(tmp_path, capsys, name, content, expected):
    if name == "pictures":
        (tmp_path / name).mkdir()
        (tmp_path / name / "labels.csv").write_text(content, encoding="utf-8")
    elif content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    elif name == "folder":
        (tmp_path / name).mkdir()
    assert main(["init", str(tmp_path / name), "--output", str(tmp_path / "x.yaml")]) == 2
    printed = capsys.readouterr().err
    assert expected in printed and printed.count("\n") == 1
    assert not (tmp_path / "x.yaml").exists()


def test_a_configuration_that_cannot_be_written_is_one_sentence(tmp_path, capsys):
    people().to_csv(tmp_path / "people.csv", index=False)
    assert main(["init", str(tmp_path / "people.csv"), "--output", str(tmp_path / "absent" / "x.yaml")]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "--output" in line and "absent/x.yaml: No such file or directory" in line


def test_a_file_that_exists_is_kept(tmp_path, capsys):
    people().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "people.yaml").write_text("name: mine\n", encoding="utf-8")
    assert main(["init", str(tmp_path / "people.csv"), "--output", str(tmp_path / "people.yaml")]) == 2
    assert "exists" in capsys.readouterr().err
    assert (tmp_path / "people.yaml").read_text(encoding="utf-8") == "name: mine\n"
