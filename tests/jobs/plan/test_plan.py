import json

import pandas as pd
import pytest

from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.encoders import sentence
from jobs.errors import UsageError
from jobs.plan.search_units import SEARCH_STAGES
from jobs.plan.stage_order import ORDER
from jobs.stages.registry import STAGES

from ..conftest import people, write_audit


def keys(path, stage, *overrides):
    return {unit.title: unit.key for unit in prepare(read_config(path, overrides))[1].stages[stage]}


def test_the_same_content_gives_the_same_plan_wherever_it_lies(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for stage in ("catalogue", "queries", "embed", "prefilter", "pool", "solve"):
        assert keys(write_audit(tmp_path / "a"), stage) == keys(write_audit(tmp_path / "b"), stage)


def test_one_solve_unit_a_query_method_and_target(audit_file):
    titles = set(keys(audit_file, "solve"))
    assert titles == {
        f"items: {query}: {method}" for query in ("nurse", "chef") for method in ("top_k", "mopr for linear", "mmr")
    }
    both = keys(audit_file, "solve", "methods=[{mopr: {points: 3}}]")
    assert {title.rpartition(": ")[2] for title in both} == {"mopr for linear", "mopr for groups"}


def test_what_changes_a_result_changes_only_the_keys_that_depend_on_it(audit_file):
    before = {stage: keys(audit_file, stage) for stage in ("embed", "pool", "solve")}
    another_k = {stage: keys(audit_file, stage, "k=12") for stage in before}
    assert another_k["embed"] == before["embed"]
    assert another_k["pool"] == before["pool"]
    assert not set(another_k["solve"].values()) & set(before["solve"].values())
    another_method = keys(audit_file, "solve", "methods.1.mopr.points=5")
    changed = {title for title in another_method if another_method[title] != before["solve"][title]}
    assert changed == {"items: nurse: mopr for linear", "items: chef: mopr for linear"}


def test_another_column_of_vectors_is_another_catalogue(tmp_path):
    table = people()
    table["other"] = table["embedding"].map(lambda vector: vector[::-1].copy())
    path = write_audit(tmp_path, table)
    for stage in ("catalogue", "embed", "pool", "solve"):
        before, after = keys(path, stage), keys(path, stage, "encoder.column=other")
        assert not set(before.values()) & set(after.values()), stage


@pytest.mark.parametrize("stage", SEARCH_STAGES)
def test_other_code_of_a_search_is_another_pool(audit_file, monkeypatch, stage):
    before = {name: keys(audit_file, name) for name in ("embed", "pool", "solve")}
    monkeypatch.setattr(stage, "version", stage.version + 1)
    assert keys(audit_file, "embed") == before["embed"]
    for name in ("pool", "solve"):
        assert not set(keys(audit_file, name).values()) & set(before[name].values())


def test_another_vector_in_the_file_leaves_the_other_queries_alone(tmp_path):
    path = write_audit(tmp_path)
    before = {stage: keys(path, stage) for stage in ("pool", "solve")}
    vectors = pd.read_parquet(tmp_path / "queries.parquet")
    vectors.loc[len(vectors)] = ["judge", vectors["vector"][0]]
    vectors.to_parquet(tmp_path / "queries.parquet")
    for stage in before:
        assert before[stage].items() < keys(path, stage).items()
    vectors.at[0, "vector"] = -vectors["vector"][0]
    vectors.to_parquet(tmp_path / "queries.parquet")
    for stage in before:
        changed = {title for title, key in before[stage].items() if keys(path, stage)[title] != key}
        assert changed == {title for title in before[stage] if "nurse" in title}


def test_another_version_of_the_weights_package_changes_what_it_embeds(tmp_path, monkeypatch):
    path = write_audit(tmp_path, encoder={"kind": "sentence"}, queries=["x"])
    text = path.read_text().replace("vectors: queries.parquet", "list: [nurse]")
    path.write_text(text.replace("  id: person\n", "  id: person\n  text: '{job}'\n"))
    before = {stage: keys(path, stage) for stage in ("catalogue", "queries", "embed", "pool")}
    monkeypatch.setattr(sentence, "_version", lambda package: "99")
    assert keys(path, "catalogue") == before["catalogue"]
    for stage in ("queries", "embed", "pool"):
        assert not set(keys(path, stage).values()) & set(before[stage].values())


def test_runtime_name_and_backend_change_no_pool(audit_file):
    for override in ("runtime.workers=1", "name=other", "prefilter.backend=torch"):
        for stage in ("embed", "pool", "solve"):
            assert keys(audit_file, stage, override) == keys(audit_file, stage)


def test_a_new_query_leaves_the_others_alone(tmp_path):
    path = write_audit(tmp_path, encoder={"kind": "sentence"}, queries=["x"])
    text = (
        path.read_text()
        .replace("vectors: queries.parquet", "list: [nurse, chef]")
        .replace("  id: person\n", "  id: person\n  text: '{job}'\n")
    )
    path.write_text(text)
    before, after = keys(path, "solve"), keys(path, "solve", "queries.list=[nurse, chef, artist]")
    assert before.items() < after.items()


def test_changed_data_changes_everything(tmp_path):
    before = keys(write_audit(tmp_path), "solve")
    after = keys(write_audit(tmp_path, people(seed=1)), "solve")
    assert not set(before.values()) & set(after.values())


def test_vectors_that_are_no_unit_vectors_are_remarked(tmp_path):
    table = people()
    table["embedding"] = [3 * vector for vector in table["embedding"]]
    [note] = prepare(read_config(write_audit(tmp_path, table)))[1].notes
    assert "lengths from 3 to 3" in note


def test_query_vectors_of_another_length(tmp_path):
    path = write_audit(tmp_path)
    pd.DataFrame({"query": ["nurse"], "vector": [[1.0, 2.0]]}).to_parquet(tmp_path / "queries.parquet")
    with pytest.raises(UsageError, match="2 numbers, those of dataset items have 8"):
        prepare(read_config(path))


def test_limit_takes_the_first_queries(audit_file):
    inputs, plan = prepare(read_config(audit_file), limit=1)
    assert [query.text for query in inputs.queries] == ["nurse"]
    assert len(plan.stages["pool"]) == 1


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("k=121", ["k is 121", "prefilter.top is 100"]),
        ("queries={list: [nurse]}", ["precomputed", "queries.vectors", "encoder.text"]),
        ("encoder={kind: sentence}", ["needs text"]),
        ("dataset.id=key", ["'key'"]),
        ("reference={kind: shares, shares: {gender: {female: 0.7, male: 0.7}}}", ["reference population", "gender"]),
        ("reference={kind: shares, shares: {shoe: {big: 1}}}", ["'shoe'", "gender, age"]),
    ],
)
def test_inconsistent_inputs_name_the_place(audit_file, override, words):
    with pytest.raises(UsageError) as caught:
        prepare(read_config(audit_file, (override,)))
    for word in words:
        assert word in str(caught.value)


def test_k_larger_than_the_data_set(audit_file):
    with pytest.raises(UsageError, match="k is 121, but dataset items has 120 items"):
        prepare(read_config(audit_file, ("k=121", "prefilter.top=1000")))


def test_a_reference_without_the_attribute(audit_file):
    override = (
        "reference={name: other, kind: dataset, dataset: {path: people.parquet, id: person, attributes: {gender: {}}}}"
    )
    with pytest.raises(UsageError, match="lacks the attribute 'age'"):
        prepare(read_config(audit_file, (override,)))


def test_levels_on_one_side_are_remarked(tmp_path):
    path = write_audit(tmp_path)
    other = people(seed=3)
    other["gender"] = other["gender"].where(other.index != 0, "diverse")
    other.to_parquet(tmp_path / "other.parquet")
    block = "{path: other.parquet, id: person, attributes: {gender: {}, age: {bins: [30, 60]}}}"
    plan = prepare(read_config(path, (f"reference={{name: other, kind: dataset, dataset: {block}}}",)))[1]
    assert plan.notes == ("attribute 'gender': the value 'diverse' occurs in reference other only",)


def test_every_stage_has_its_turn():
    assert {kind.stage: kind for kind in ORDER} == STAGES


def test_a_plan_names_entries_of_one_method_by_their_own_names(tmp_path, capsys):
    methods = ["top_k", {"mopr": {"points": 3}}, {"mopr": {"name": "few", "points": 2}}]
    path = write_audit(tmp_path, methods=methods)
    assert main(["plan", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["methods"] == {"top_k": 1, "mopr": 3, "mopr(few)": 2}
    assert main(["plan", str(path)]) == 0
    assert "mopr (3 values), mopr(few) (2 values)" in capsys.readouterr().out


def test_what_is_written_of_a_pool_does_not_grow_with_the_shards(tmp_path):
    """Keys of thousands of shards in each of hundreds of pools would be most of a plan."""
    sizes = []
    for shard_items in (60, 3):
        _, plan = prepare(read_config(write_audit(tmp_path, shard_items=shard_items)))
        sizes.append(len(json.dumps(plan.stages["pool"][0].spec)))
        assert len(plan.stages["embed"]) == 120 // shard_items
    assert sizes[0] == sizes[1]
