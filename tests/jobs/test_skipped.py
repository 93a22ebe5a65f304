"""Items that could not be taken are listed, counted and shown, and too many of them fail the run."""

import json

import pandas as pd
import pyarrow as pa
import pytest
import yaml

from jobs.analysis.load import load
from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.errors import RunError
from jobs.run.skipped import counts_of, expect_few_skipped, skipped_items
from jobs.stages.execute import commit
from jobs.store import Store
from jobs.store.schema import SKIPPED, SKIPPED_ITEMS

from .conftest import PEOPLE, people, settings, write_audit

UNLABELLED = 5


@pytest.fixture
def picture_audit(tmp_path):
    """The small audit over a folder of pictures whose label table holds vectors; five pictures have no row."""
    write_audit(tmp_path)
    folder = tmp_path / "pictures"
    folder.mkdir()
    table = people().assign(file_name=[f"{number:03d}.jpg" for number in range(PEOPLE)])
    table.to_parquet(folder / "labels.parquet")
    for number in range(PEOPLE + UNLABELLED):
        (folder / f"{number:03d}.jpg").touch()
    block = settings()["dataset"] | {"kind": "images", "path": "pictures"}
    del block["id"]
    path = tmp_path / "audit.yaml"
    path.write_text(yaml.safe_dump(settings(dataset=block, methods=["top_k"]), sort_keys=False), encoding="utf-8")
    return path


class TestRun:
    def test_skipped_items_are_listed_counted_and_shown(self, picture_audit, tmp_path, capsys):
        output = tmp_path / "run"
        assert main(["run", str(picture_audit), "--output", str(output)]) == 0
        text = capsys.readouterr().out
        assert f"skipped: 5 items of items: 5 no label; listed in {output}/skipped" in text
        listed = pd.read_parquet(output / "skipped")
        assert listed["item_id"].tolist() == [f"{number}.jpg" for number in range(PEOPLE, PEOPLE + UNLABELLED)]
        assert set(listed["dataset"]) == {"items"}
        [data] = json.loads((output / "manifest.json").read_text())["data"]
        expected = {"no label": {"items": 5, "first": listed["item_id"].tolist()}}
        assert data["skipped"] == expected
        assert "<td>no label</td>" in (output / "report" / "index.html").read_text()
        assert main(["run", str(picture_audit), "--output", str(output), "--json"]) == 0
        again = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
        assert again["computed"] == 0
        assert again["skipped_items"] == {"items": expected}
        strict = ["run", str(picture_audit), "--output", str(output), "--set", "dataset.max_skipped_share=0.03"]
        assert main(strict) == 1
        assert "more than max_skipped_share" in capsys.readouterr().err
        images = load(output).items["image"]
        assert set(images) <= {f"{number:03d}.jpg" for number in range(PEOPLE)}


def test_too_many_skipped_items_fail_the_run(picture_audit, tmp_path, capsys):
    output = tmp_path / "run"
    arguments = ["run", str(picture_audit), "--output", str(output), "--set", "dataset.max_skipped_share=0.03"]
    assert main(arguments) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert "dataset items: 5 of 125 items (4.0%) are skipped, more than max_skipped_share allows (3.0%)" in error
    assert f"5 no label; they are listed in {output}/skipped" in error
    assert len(pd.read_parquet(output / "skipped")) == 5
    assert not (output / "_SUCCESS").exists()


def test_the_largest_share_changes_no_unit(picture_audit):
    plans = [
        prepare(read_config(picture_audit, (f"dataset.max_skipped_share={share}",)))[1].fingerprint for share in (0, 1)
    ]
    assert plans[0] == plans[1]


def test_items_that_cannot_be_embedded_count_with_those_left_out(picture_audit, tmp_path):
    _, plan = prepare(read_config(picture_audit))
    store = Store(str(tmp_path / "store"))
    [items], shards = plan.stages["items"], plan.stages["embed"]
    done = {items.key: commit(items, store, plan.made[items.key](), 0.0)}
    for shard, ids in zip(shards, (["000.jpg", "001.jpg"], [], ["110.jpg"])):
        rows = [{"item_id": item, "reason": "truncated", "detail": "half of it"} for item in ids]
        done[shard.key] = commit(shard, store, {"skipped": pa.Table.from_pylist(rows, SKIPPED_ITEMS)}, 0.0)
    table = skipped_items(store, plan, done)
    assert table.schema.equals(SKIPPED)
    assert table["item_id"].to_pylist()[5:] == ["000.jpg", "001.jpg", "110.jpg"]
    reasons = counts_of(table)["items"]
    assert list(reasons) == ["no label", "truncated"]
    assert reasons["truncated"] == {"items": 3, "first": ["000.jpg", "001.jpg", "110.jpg"]}
    expect_few_skipped(store, plan, done)
    strict = prepare(read_config(picture_audit, ("dataset.max_skipped_share=0.06",)))[1]
    with pytest.raises(RunError, match=r"8 of 125 items \(6.4%\).*5 no label, 3 truncated"):
        expect_few_skipped(store, strict, done)


def test_a_reference_is_named_apart_from_the_data_set(tmp_path):
    path = write_audit(tmp_path, reference={"kind": "dataset", "dataset": settings()["dataset"]})
    assert read_config(path).settings.reference[0].dataset.name == "population"
