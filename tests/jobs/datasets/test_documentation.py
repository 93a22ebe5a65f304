"""The pages cover every kind and every reason, and its examples are read."""

import re
import sys

import pytest
import yaml

from jobs import datasets
from jobs.config.population import Reference
from jobs.datasets import described
from jobs.images import Reason
from jobs.plan.reference_levels import shared_levels
from tests.jobs.datasets.layouts import write
from tests.pages import blocks, text_of

PAGE = text_of("docs/data.md")
REFERENCE = text_of("docs/configuration.md")
EXAMPLES = [yaml.safe_load(block) for block in blocks("docs/data.md", "yaml")]


@pytest.mark.parametrize("kind", datasets.KINDS)
def test_every_kind_says_what_its_items_and_terms_are(kind):
    block = datasets.KINDS[kind]
    [row] = re.findall(rf"^\| \[{kind}\]\(#{block.__name__.lower()}\) \|(.*)\|$", REFERENCE, flags=re.MULTILINE)
    for text in (block.items, block.terms, *(f"`{name}`" for name in block.own_attributes)):
        assert text and text in row


@pytest.mark.parametrize("kind", datasets.KINDS)
def test_every_module_says_where_files_come_from_and_on_what_terms(kind):
    text = sys.modules[datasets.KINDS[kind].__module__].__doc__
    if kind != "table":
        assert "erms" in text
    if kind in ("celeba", "utkface", "fairface", "occupations", "clip_retrieval"):
        assert "Files: " in text and "https://" in text


def test_every_reason_is_explained():
    table = PAGE.partition("| reason | cause |")[2]
    for reason in Reason:
        assert reason.value in table


def test_the_example_of_two_data_sets_that_agree(tmp_path):
    first, second = EXAMPLES[:2]
    known = described(first["dataset"])
    assert (known.kind, known.partition) == ("fairface", "train")
    block = described(second["dataset"] | write("utkface", tmp_path / "utkface"))
    reference = Reference(**second["reference"])
    write("fairface", tmp_path / "fairface")
    people = datasets.load(reference.dataset.model_copy(update={"path": str(tmp_path / "fairface")}), tmp_path)
    levels, remarks = shared_levels(datasets.load(block, tmp_path), reference, people)
    assert remarks == []
    assert levels["race"] == ["White", "Black", "Asian", "Indian", "Others"]
    assert levels["age"] == ["under 40", "40 and over"]
