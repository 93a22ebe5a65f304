"""Help and status start at once, since they import nothing heavy: `python -m tests.benchmarks.start_up` times them."""

import json
import os
import subprocess
import sys

import pytest

from jobs.cli import main
from jobs.cli.application import command_names
from mprlib import __version__
from tests.jobs.cli import small_run

# What takes longer to import than printing help may take, in all.
HEAVY = {
    *("numpy", "pandas", "pyarrow", "scipy", "sklearn", "matplotlib", "PIL", "jinja2", "rich"),
    *("torch", "open_clip", "sentence_transformers", "faiss", "ray", "highspy", "clarabel", "gurobipy", "mprlib"),
}
# Quick to import, and still only for commands that touch files, processes or configurations.
LIGHT = {"fsspec", "psutil", "yaml"}
# What status works with: files, and the process that holds the folder.
OF_STATUS = {"fsspec", "psutil"}
SCRIPT = """
import json, sys
from jobs.cli import main
for arguments in json.loads(sys.argv[1]):
    assert main(arguments) == 0, arguments
print(json.dumps(sorted(sys.modules)))
"""


def imported(*commands: list[str]) -> set[str]:
    """Names of all modules in a process that has run these command lines."""
    call = [sys.executable, "-c", SCRIPT, json.dumps(commands)]
    ended = subprocess.run(call, capture_output=True, text=True, check=True)
    return set(json.loads(ended.stdout.splitlines()[-1]))


def test_help_of_every_command_imports_nothing_that_commands_work_with():
    names = [name.replace("_", "-") for name in command_names()]
    modules = imported(["--help"], *([name, "--help"] for name in names))
    assert not modules & (HEAVY | LIGHT)


@pytest.mark.parametrize("asked", ["-h", "--help"])
def test_help_is_short_too(asked, capsys):
    assert main([asked]) == 0
    text = capsys.readouterr().out
    assert "--install-completion" in text and "-h, --help" in text and "status" in text
    assert main(["plan", asked]) == 0
    assert "--limit" in capsys.readouterr().out


def test_the_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"mpr-audit {__version__}\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [("mpr-audit ver", "verify"), ("mpr-audit plan --lim", "--limit"), ("mpr-audit --ver", "--version")],
)
def test_the_shell_completes_commands_and_options(words, expected):
    variables = {"_MPR_AUDIT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", "from jobs.cli import entry; entry()"],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.split() == [expected]


def test_status_imports_what_reads_receipts_alone(tmp_path):
    modules = imported(["status", str(small_run.write(tmp_path / "run"))])
    assert not modules & HEAVY
    assert modules & LIGHT <= OF_STATUS
    assert not {name for name in modules if name.startswith(("jobs.stages", "jobs.config", "jobs.report"))}
