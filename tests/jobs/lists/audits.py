"""Small audits of result lists, run in process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from jobs.cli import main

PEOPLE = pd.DataFrame(
    {"id": ["a", "b", "c", "d", "e", "f"], "gender": ["man", "man", "man", "woman", "woman", "woman"]}
)
SHOWN = pd.DataFrame(
    {
        "query": ["nurse"] * 4 + ["chef"] * 3,
        "item": ["d", "e", "a", "f", "a", "b", "d"],
        "rank": [1, 2, 3, 4, 1, 2, 3],
    }
)


def write(folder: Path, shown: pd.DataFrame, people: pd.DataFrame | None = PEOPLE, **changes: Any) -> Path:
    """The configuration of an audit of what was shown; without people, labels are in the list's column gender."""
    shown.to_csv(folder / "list.csv", index=False)
    columns = {name: name for name in ("query", "item", "rank", "score") if name in shown.columns}
    settings: dict[str, Any] = {
        "name": "shown",
        "output": str(folder / "run"),
        "results": {"kind": "table", "path": "list.csv", **columns},
        "reference": {"kind": "balanced"},
        "k": 2,
        "function_classes": ["groups"],
        "methods": ["as_shown"],
        "runtime": {"executor": "local"},
    }
    if people is None:
        settings["results"]["attributes"] = {"gender": {}}
    else:
        people.to_csv(folder / "people.csv", index=False)
        settings["dataset"] = {"name": "people", "path": "people.csv", "id": "id", "attributes": {"gender": {}}}
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(settings | changes, sort_keys=False), encoding="utf-8")
    return path


def run(path: Path, *options: str) -> pd.DataFrame:
    """The result rows of an audit."""
    assert main(["run", str(path), "--json", *options]) == 0
    return table(path, "results")


def table(path: Path, name: str) -> pd.DataFrame:
    """A table of the audit's run."""
    return pd.read_parquet(path.parent / "run" / name)


def shares(path: Path, group: str) -> dict[tuple[str, int], tuple[float, float]]:
    """Share shown and share in the reference of a group, by query and k."""
    rows = table(path, "groups")
    rows = rows[(rows["group"] == group) & (rows["method"] == "as_shown")]
    return {
        (query, k): (selected, expected)
        for query, k, selected, expected in rows[["query", "k", "share_selected", "share_reference"]].itertuples(
            index=False, name=None
        )
    }


def notes(path: Path) -> list[str]:
    """Remarks of the audit's run."""
    found: list[str] = json.loads((path.parent / "run/manifest.json").read_text(encoding="utf-8"))["notes"]
    return found


def refused(path: Path, capsys: pytest.CaptureFixture[str], command: str = "plan") -> str:
    """The line that a command prints of a configuration that it refuses."""
    assert main([command, str(path)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    return printed
