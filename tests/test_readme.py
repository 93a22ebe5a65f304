"""What the README shows is run."""

import re

import yaml
from typer.main import get_command

from jobs.cli import app
from jobs.config.audit import Audit
from tests.pages import blocks, text_of

README = text_of("README.md")


def test_python_examples_print_what_they_say(capsys):
    for block in blocks("README.md", "python"):
        exec(compile(block, "README.md", "exec"), {})
        printed = capsys.readouterr().out
        for expected in re.findall(r"^# (.*)$", block, flags=re.MULTILINE):
            assert expected in printed


def test_the_configuration_is_valid():
    for block in blocks("README.md", "yaml"):
        Audit.model_validate(yaml.safe_load(block))


def test_every_command_of_the_command_line_is_shown():
    shown = "\n".join(blocks("README.md", "sh"))
    for name in get_command(app).commands:
        assert f"mpr-audit {name} " in shown
