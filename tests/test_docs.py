"""No page of the documentation says what is not so: links, names, commands and settings exist."""

import importlib
import re
import shlex

import pytest
import yaml
from typer.main import get_command

from jobs.cli import app
from jobs.config.audit import Audit
from jobs.config.method_descriptions import DESCRIPTIONS
from jobs.config.method_settings import known_settings
from jobs.config.prompts import PromptTraining
from jobs.config.reference import blocks as setting_blocks
from jobs.config.reference import reference
from mprlib import METHODS
from tests.pages import PAGES, ROOT, blocks, commands, name_of, text_of

EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=name_of)
# Programs whose commands need a cloud, a cluster or a container engine, or set this machine up.
# tests/cluster starts from cluster/README.md what can be started on one machine.
OUTSIDE = {"docker", "kubectl", "ray", "pip", "make", "chmod", "sed", "week=$(date", "export", "python"}
BLOCKS = list(dict.fromkeys([*setting_blocks(Audit), *setting_blocks(PromptTraining)]))


def anchors(text: str) -> set[str]:
    """What a heading is linked by: lower case, punctuation gone, blanks as hyphens."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@EACH_PAGE
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if target.startswith(("https://", "http://")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{name_of(page)} links {target}"
        assert not anchor or anchor in anchors(there.read_text(encoding="utf-8")), f"{name_of(page)} links {target}"


@EACH_PAGE
def test_named_files_exist(page):
    for path in re.findall(r"`((?:docs|jobs|mprlib|tests|cluster)/[\w./-]+)`", text_of(page)):
        assert (ROOT / path).exists(), f"{name_of(page)} names {path}"


@EACH_PAGE
def test_named_modules_functions_and_benchmarks_exist(page):
    names = re.findall(r"`((?:jobs|mprlib)(?:\.\w+)+)(?:\(\))?`", text_of(page))
    names += re.findall(r"python -m ((?:jobs|tests)(?:\.[a-z]\w+)+)", text_of(page))
    for name in names:
        module, attributes = name, []
        while True:
            try:
                found = importlib.import_module(module)
                break
            except ModuleNotFoundError:
                module, _, last = module.rpartition(".")
                assert module, f"{name_of(page)} names {name}"
                attributes.insert(0, last)
        for attribute in attributes:
            assert hasattr(found, attribute), f"{name_of(page)} names {name}"
            found = getattr(found, attribute)


@EACH_PAGE
def test_commands_are_ours_or_known_to_need_more_than_this_machine(page):
    for line in commands(page):
        program, *arguments = shlex.split(line, comments=True)
        if program != "mpr-audit":
            assert program in OUTSIDE, f"{name_of(page)}: {line}"
            continue
        name, *rest = arguments
        # Unknown commands, options and missing arguments are errors here.
        get_command(app).commands[name].make_context(name, rest)


@EACH_PAGE
def test_configurations_are_valid(page):
    for block in blocks(page, "yaml"):
        settings = yaml.safe_load(block)
        if {"dataset", "encoder", "queries"} <= settings.keys():
            Audit.model_validate(settings)
        elif "training" in settings:
            PromptTraining.model_validate(settings)


def test_the_reference_of_settings_is_what_its_command_prints():
    assert text_of("docs/configuration.md") == reference(), "python -m jobs.config.reference > docs/configuration.md"


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.__name__)
def test_every_setting_is_described(block):
    for name, field in block.model_fields.items():
        assert field.description or name == "kind", f"{block.__name__}.{name} has no description"


@pytest.mark.parametrize("name", METHODS)
def test_every_methods_setting_is_described(name):
    assert sorted(DESCRIPTIONS.get(name, {})) == sorted(known_settings(name))


def test_every_page_is_found_from_the_readme():
    for page in PAGES[1:]:
        assert f"]({name_of(page)})" in text_of("README.md"), f"README does not link {name_of(page)}"
