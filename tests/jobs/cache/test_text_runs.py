"""Audits of texts that share a cache: each content is embedded once, and no result depends on it."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml

from jobs.cli import main
from jobs.encoders import sentence
from jobs.errors import UsageError
from jobs.store import Store
from tests.jobs.conftest import settings

PEOPLE = 60
JOBS = ["nurse", "chef", "pilot", "judge"]
WIDTH = 8


class CountedModel:
    """Vectors drawn from each text's letters; counts what it embeds."""

    texts: list[str] = []

    def __init__(self, **_):
        pass

    def close(self):
        pass

    def encode(self, texts):
        CountedModel.texts += texts
        drawn = [np.random.default_rng(list(text.encode())).standard_normal(WIDTH) for text in texts]
        vectors = np.stack(drawn).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def counted(monkeypatch):
    monkeypatch.setattr(sentence.SentenceEncoder, "loaded", classmethod(lambda cls, **_: CountedModel()))
    CountedModel.texts = []
    return CountedModel


def people(seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": [f"p{number:03d}" for number in range(PEOPLE)],
            "gender": generator.choice(["female", "male"], PEOPLE),
            "about": [f"person {number}, {generator.choice(JOBS)}" for number in range(PEOPLE)],
        }
    )


def write(folder, table, **changes):
    """A configuration beside its table."""
    folder.mkdir(exist_ok=True)
    table.to_parquet(folder / "people.parquet")
    dataset = {
        "kind": "table",
        "path": "people.parquet",
        "id": "person",
        "text": "{about}",
        "attributes": {"gender": {}},
    }
    raw = settings(
        dataset=dataset,
        encoder={"kind": "sentence"},
        queries={"list": JOBS[:2], "prompt": "{query}"},
        prefilter={"top": 30},
        shard_items=20,
        k=[5],
        methods=["top_k"],
        **changes,
    )
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(raw), encoding="utf-8")
    return path


def run(capsys, path, output, *options):
    code = main(["run", str(path), "--output", str(output), "--json", *options])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return json.loads(captured.out.strip().splitlines()[-1])


def planned(capsys, path, output, *options):
    assert main(["plan", str(path), "--output", str(output), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)["bill"]


def rows(output):
    store = Store(str(output))
    tables = [store.read_table(name).to_pandas() for name in store.list("results")]
    return pd.concat(tables).drop(columns=["run_id", "unit", "solve_seconds"])


def cached(tmp_path):
    return "--set", f"cache={tmp_path / 'cache'}"


def second_week(table: pd.DataFrame) -> pd.DataFrame:
    """Three gone, two changed, four new."""
    table = table.iloc[3:].copy()
    table.iloc[10:12, 2] = ["a changed text", "another changed text"]
    new = pd.DataFrame({"person": list("wxyz"), "gender": ["male"] * 4, "about": [f"new {name}" for name in "wxyz"]})
    return pd.concat([table, new], ignore_index=True)


def test_a_week_later_only_new_contents_are_embedded(tmp_path, capsys):
    first = run(capsys, write(tmp_path / "one", people()), tmp_path / "week 1", *cached(tmp_path))
    assert (first["items_embedded"], first["items_reused"]) == (PEOPLE, 0)
    assert (first["queries_computed"], first["queries_reused"]) == (2, 0)
    path = write(tmp_path / "two", second_week(people()))
    bill = planned(capsys, path, tmp_path / "week 2", *cached(tmp_path))
    assert (bill["items_to_embed"], bill["items_reused"], bill["items_gone"]) == (6, 55, 5)
    assert bill["why"] == {"their content is new or has changed": 6}
    CountedModel.texts = []
    second = run(capsys, path, tmp_path / "week 2", *cached(tmp_path))
    assert (second["items_embedded"], second["items_reused"]) == (6, 55)
    assert sorted(CountedModel.texts) == ["a changed text", "another changed text", *(f"new {name}" for name in "wxyz")]
    run(capsys, path, tmp_path / "without")
    pd.testing.assert_frame_equal(rows(tmp_path / "week 2"), rows(tmp_path / "without"))


@pytest.mark.parametrize("kind", ["reordered", "renamed", "relabelled", "shards"])
def test_what_is_not_seen_by_the_encoder_embeds_nothing(tmp_path, capsys, kind):
    table = people()
    run(capsys, write(tmp_path / "one", table), tmp_path / "week 1", *cached(tmp_path))
    changed = {
        "reordered": table.sample(frac=1, random_state=3),
        "renamed": table.assign(person=[f"q{number}" for number in range(PEOPLE)]),
        "relabelled": table.assign(gender=["female", "male"] * (PEOPLE // 2)),
        "shards": table,
    }[kind]
    options = ["--set", "shard_items=7"] if kind == "shards" else []
    path = write(tmp_path / "two", changed)
    second = run(capsys, path, tmp_path / "week 2", *cached(tmp_path), *options)
    assert (second["items_embedded"], second["items_reused"]) == (0, PEOPLE)
    run(capsys, path, tmp_path / "without", *options)
    pd.testing.assert_frame_equal(rows(tmp_path / "week 2"), rows(tmp_path / "without"))


def test_the_environment_names_the_cache_and_the_folder_is_complete_without_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("MPR_AUDIT_CACHE", str(tmp_path / "cache"))
    path = write(tmp_path / "one", people())
    run(capsys, path, tmp_path / "week 1")
    assert run(capsys, path, tmp_path / "week 2")["items_embedded"] == 0
    monkeypatch.delenv("MPR_AUDIT_CACHE")
    again = run(capsys, path, tmp_path / "week 2")
    assert (again["computed"], again["items_reused"]) == (0, PEOPLE)
    assert main(["verify", str(tmp_path / "week 2")]) == 0


def test_another_encoder_has_vectors_of_its_own(tmp_path, capsys):
    path = write(tmp_path / "one", people())
    run(capsys, path, tmp_path / "week 1", *cached(tmp_path))
    other = ["--set", "encoder.batch=3"]
    bill = planned(capsys, path, tmp_path / "week 2", *cached(tmp_path), *other)
    assert bill["why"] == {"the cache has no vectors of this encoder": PEOPLE}
    assert run(capsys, path, tmp_path / "week 2", *cached(tmp_path), *other)["items_embedded"] == PEOPLE


def test_half_precision_is_stored_from_the_same_vectors(tmp_path, capsys):
    path = write(tmp_path / "one", people())
    run(capsys, path, tmp_path / "week 1", *cached(tmp_path))
    half = ["--set", "prefilter.storage=float16"]
    assert run(capsys, path, tmp_path / "week 2", *cached(tmp_path), *half)["items_embedded"] == 0
    run(capsys, path, tmp_path / "without", *half)
    pd.testing.assert_frame_equal(rows(tmp_path / "week 2"), rows(tmp_path / "without"))


def test_a_plan_without_a_cache_says_so(tmp_path, capsys):
    path = write(tmp_path / "one", people())
    bill = planned(capsys, path, tmp_path / "week 1")
    assert bill["why"] == {"not in the output, and there is no cache": PEOPLE}
    assert bill["items_gone"] is None
    run(capsys, path, tmp_path / "week 1")
    bill = planned(capsys, path, tmp_path / "week 1")
    assert (bill["items_to_embed"], bill["items_reused"], bill["queries_new"], bill["queries_kept"]) == (0, 60, 0, 2)


def test_a_cache_that_is_no_folder_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("no folder")
    path = write(tmp_path / "one", people())
    assert main(["run", str(path), "--output", str(tmp_path / "out"), "--set", f"cache={tmp_path / 'file'}"]) == 2
    assert f"cache: {tmp_path / 'file'} cannot be read: Not a directory" in capsys.readouterr().err


def test_a_cache_that_breaks_during_the_run_costs_time_alone(tmp_path, capsys, monkeypatch):
    from jobs.cache.space import Space

    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Space, "add", refuse)
    path = write(tmp_path / "one", people())
    first = run(capsys, path, tmp_path / "week 1", *cached(tmp_path))
    assert (first["failed"], first["items_embedded"]) == (0, PEOPLE)
    assert "No space left" in " ".join(file.read_text() for file in (tmp_path / "week 1" / "logs").iterdir())


def test_the_encoder_is_loaded_only_where_something_is_embedded(tmp_path, capsys, monkeypatch):
    path = write(tmp_path / "one", people())
    run(capsys, path, tmp_path / "week 1", *cached(tmp_path))

    def refuse(cls, **_):
        raise UsageError("the weights are gone")

    monkeypatch.setattr(sentence.SentenceEncoder, "loaded", classmethod(refuse))
    # Other ids: every unit of the folder is new, and no content is.
    renamed = write(tmp_path / "two", people().assign(person=[f"q{number}" for number in range(PEOPLE)]))
    assert run(capsys, renamed, tmp_path / "week 2", *cached(tmp_path))["items_reused"] == PEOPLE
    # What cannot be loaded ends a run that needs it with one sentence, with a cache as without.
    changed = write(tmp_path / "three", second_week(people()))
    for options in (cached(tmp_path), ()):
        assert main(["run", str(changed), "--output", str(tmp_path / "week 3"), *options]) == 2
        assert capsys.readouterr().err.strip().endswith("the weights are gone")
        assert not (tmp_path / "week 3/failures").exists()
