"""The README's commands, in its order, on the README's configuration."""

import shlex
import shutil

import numpy as np
import pandas as pd
import pytest

from jobs.cli import main
from tests.pages import blocks, commands

# They need a cluster, or pictures and a model, or take long: tests of submission, of training prompts and of doctor
# run them.
ELSEWHERE = {"submit", "train-prompt", "convert-prompt", "doctor"}
STAFF = 90


def staff() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    titles = [f"{level} {title}" for title in ("nurse", "engineer", "clerk") for level in ("junior", "senior", "chief")]
    return pd.DataFrame(
        {
            "person_id": [f"p{number:02d}" for number in range(STAFF)],
            "title": [titles[number % len(titles)] for number in range(STAFF)],
            "department": [("care", "works")[number % 2] for number in range(STAFF)],
            "gender": generator.choice(["female", "male"], STAFF),
            "age": generator.integers(20, 65, STAFF),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The README's staff.yaml, and staff."""
    folder = tmp_path_factory.mktemp("staff")
    [configuration] = [block for block in blocks("README.md", "yaml") if block.startswith("name: staff")]
    # What the commands do is the same on both executors, and this one needs no Ray to be started.
    configuration += "runtime: {executor: local}\n"
    (folder / "staff.yaml").write_text(configuration, encoding="utf-8")
    staff().to_parquet(folder / "staff.parquet")
    return folder


def test_each_command_ends_well(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    names = []
    for line in commands("README.md"):
        program, *arguments = shlex.split(line, comments=True)
        if program != "mpr-audit" or arguments[0] in ELSEWHERE:
            continue
        names.append(arguments[0])
        if arguments[0] == "compare":
            # Last Monday's run.
            shutil.copytree("runs/staff", "runs/monday", dirs_exist_ok=True)
        code = main(arguments)
        assert code == 0, f"{line}\n{capsys.readouterr()}"
    assert names[:3] == ["init", "plan", "run"] and len(names) == 10
    assert len(pd.read_parquet("staff-items.parquet")) > 0
