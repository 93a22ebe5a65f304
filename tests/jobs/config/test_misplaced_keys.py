"""Keys that are right in another block are told where they belong."""

import pytest

from jobs.config.audit import Audit
from jobs.config.file import read_config
from jobs.config.misplaced_keys import TOP, homes_of
from jobs.errors import UsageError
from tests.jobs.config.test_file import BASE, message, write


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("order=score", "order: unknown key; order belongs to dataset.attributes.NAME or methods.fair_top_k and"),
        ("ordr=score", "did you mean 'order'? order belongs to dataset.attributes.NAME or methods."),
        ("query=nurse", "did you mean 'queries'? query belongs to results"),
        ("workers=3", "workers belongs to runtime"),
        ("depth=2", "depth belongs to function_classes.tree and"),
        ("dataset.k=3", "dataset.k: unknown key; k belongs to the top level"),
        ("methods=[{mopr: {k: 5}}]", "mopr.k: unknown key; k belongs to the top level"),
        (
            "methods=[{mopr: {rho: 0.1}}]",
            "mopr.rho: unknown key; rho is mopr's parameter: `values` or `points` give it",
        ),
        ("methods=[{mmr: {lamda: [1]}}]", "mmr.lamda: unknown key; lambda is mmr's parameter"),
        ("function_classes=[{tree: {points: 3}}]", "tree.points: unknown key; points belongs to methods.mmr and"),
        ("function_classes=[{tree: {dept: 3}}]", "tree.dept: unknown key; did you mean 'depth'?"),
        ("kind=table", "kind belongs to dataset, encoder, results and"),
    ],
)
def test_a_key_that_is_right_elsewhere_is_told_where(tmp_path, override, expected):
    assert expected in message(tmp_path, BASE, override)


@pytest.mark.parametrize("name", sorted(homes_of(Audit)))
def test_every_key_is_at_home_where_it_is_said_to_be(tmp_path, name):
    """No key is told to go where it is unknown."""
    for place in homes_of(Audit)[name]:
        override = f"{name}=1" if place == TOP else f"{place.replace('.NAME', '.gender')}.{name}=1"
        text = BASE.replace("  kind: table\n", "") if name == "kind" else BASE
        if place.startswith(("methods.", "function_classes.")):
            head, _, entry = place.partition(".")
            override = f"{head}=[{{{entry}: {{{name}: 1}}}}]"
        try:
            read_config(write(tmp_path, text), [override])
        except UsageError as error:
            assert "unknown key" not in str(error)
