"""What the README shows is run."""

import re

import yaml

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
