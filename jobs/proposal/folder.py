"""A configuration for a folder of pictures with a table of labels."""

from __future__ import annotations

from pathlib import Path

from ..datasets.images import LABEL_TABLES, NAMING_COLUMNS
from ..errors import UsageError
from .attributes import attribute_lines, chosen_attributes
from .columns import columns_of
from .yaml_text import lines_of, path_of, quoted

# Whoever has pictures alone.
BY_A_PROBE = (
    "Labels that nobody gave can be predicted: propose a configuration for a labelled folder, and give the attributes "
    "of this one a probe that learns from it"
)


def folder_proposal(name: str, path: str, folder: Path) -> str:
    """The configuration.

    Raises:  UsageError for a folder without a table of labels, or with one in which no column makes groups.
    """
    labels = next((folder / one for one in LABEL_TABLES if (folder / one).is_file()), None)
    if labels is None:
        raise UsageError(
            f"{folder} has no table of labels: {LABEL_TABLES[0]} or {LABEL_TABLES[4]} is expected in it. {BY_A_PROBE}"
        )
    columns = [one for one in columns_of(labels) if one.name not in NAMING_COLUMNS and one.levels]
    if not chosen_attributes(columns):
        raise UsageError(f"no column of {labels} makes groups: at least one of two levels is expected. {BY_A_PROBE}")
    return lines_of(
        f"# Pictures with the labels of {labels.name}: they are embedded and searched.",
        f"name: {quoted(name)}",
        f"output: runs/{name.replace(' ', '_')}",
        "dataset:",
        "  kind: images",
        f"  path: {path_of(path)}",
        attribute_lines(columns, "  "),
        "reference: {kind: population}                 # or balanced, shares that you state, or another data set",
        "encoder: {kind: open_clip, model: ViT-B-32, pretrained: openai}   # weights are fetched where there are none",
        "queries:",
        "  list: [a person, a leader, a scientist]     # what your users ask",
        '  prompt: "A photo of {query}"',
        "k: [50]",
        "function_classes: [linear, groups]",
        "methods: [top_k, {mopr: {points: 10, values: [chance], targets: [linear]}}]",
    )
