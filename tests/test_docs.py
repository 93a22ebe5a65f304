"""No page of the documentation says what is not so: links, names, commands and settings exist."""

import importlib.util
import re
import shlex

import pytest
from typer.main import get_command

from docs.site.sources import INDEX, parts
from jobs.cli import app
from jobs.config.audit import Audit
from jobs.config.prompts import PromptTraining
from jobs.config.reference import blocks as setting_blocks
from jobs.config.reference import reference
from jobs.results.dictionary import TABLES, dictionary
from tests.pages import PAGES, README, ROOT, commands, name_of, text_of

EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=name_of)
# Programs whose commands are not run here, and why.
OUTSIDE = {
    "make": "sets this machine up; what it then runs is run by test_demo and by this suite",
    "docker": "needs a container engine; tests/cluster reads the Dockerfile",
    "kubectl": "needs Kubernetes; tests/cluster validates the files against the published schemas",
    "week=$(date": "a variable for kubectl",
    "sed": "fills in a file for kubectl",
    "ray": "needs a cloud; tests/cluster runs what its launcher would run on a machine",
    "pip": "installs",
    "chmod": "works on the token in the home directory",
    "export": "sets a variable of the shell",
}
# Options of the program itself.
OPTIONS = [option for parameter in get_command(app).params for option in parameter.opts]
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
    for name in re.findall(r"python -m ((?:jobs|tests)(?:\.[a-z]\w+)+)", text_of(page)):
        assert importlib.util.find_spec(name), f"{name_of(page)} names {name}"
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
        # Unknown commands, options and missing arguments are errors here. Those that need no cluster are run by
        # tests/jobs/test_readme_commands and test_analysis_docs.
        get_command(app).commands[name].make_context(name, rest)


@EACH_PAGE
def test_commands_within_sentences_exist(page):
    sentences = re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    for line in re.findall(r"`mpr-audit ([^`]+)`", sentences):
        # One of several, as in `cache status|clean`, stands for all.
        name, *rest = (word.partition("|")[0] for word in shlex.split(line))
        if name.startswith("-"):
            assert name in OPTIONS, f"{name_of(page)}: {line}"
            continue
        command = get_command(app).commands[name]
        if rest and "\u2026" not in rest and not rest[0].startswith("--"):
            command.make_context(name, rest)
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in rest if word.startswith("--")} <= known, f"{name_of(page)}: {line}"


def test_every_benchmark_is_named():
    measured = text_of("README.md").partition("## Measured")[2]
    text = "".join(map(text_of, PAGES))
    for path in (ROOT / "tests" / "benchmarks").glob("[a-z]*.py"):
        assert f"`{path.stem}`" in measured or f"tests.benchmarks.{path.stem}`" in text, path.stem


@pytest.mark.parametrize("name", get_command(app).commands)
def test_every_command_is_shown(name):
    assert any(line.startswith(f"mpr-audit {name} ") for page in PAGES for line in commands(page))


def test_the_reference_of_settings_is_what_its_command_prints():
    assert text_of("docs/configuration.md") == reference(), "python -m jobs.config.reference > docs/configuration.md"


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.__name__)
def test_every_setting_is_described(block):
    for name, field in block.model_fields.items():
        assert field.description or name == "kind", f"{block.__name__}.{name} has no description"


def test_every_page_is_in_the_list_of_pages():
    """docs/README.md arranges them, for readers of the repository and for the site."""
    listed = {page for part in parts() for page in part.pages}
    for page in PAGES:
        assert page in listed or page in (README, INDEX), f"docs/README.md does not link {name_of(page)}"
    assert INDEX.relative_to(ROOT).as_posix() in text_of("README.md")


def test_the_dictionary_of_columns_is_what_its_command_prints():
    assert text_of("docs/columns.md") == dictionary(), "python -m jobs.results.dictionary > docs/columns.md"


def test_every_column_says_what_it_holds():
    for name, (_, columns) in TABLES.items():
        for column in columns:
            assert (column.metadata or {}).get(b"description"), f"{name}: {column.name} has no description"
