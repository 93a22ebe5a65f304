"""The page to label a sample in: one file that asks for nothing from a network, and keeps its state in the browser."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import jinja2
from markupsafe import Markup

from ..report.page import source
from ..store.keys import digest
from .sample import Sample, predicted

SCRIPTS = ("csv.js", "state.js", "page.js")


def page(sample: Sample, pictures: Sequence[bytes | None], title: str) -> bytes:
    """The page, in UTF-8; the same sample gives the same bytes.

    pictures: of each item, WebP. title: the run's name.
    """
    loader = jinja2.PackageLoader(__package__, "templates")
    templates = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    script = f'(function () {{\n"use strict";\n{source(templates, *SCRIPTS)}\n}})();'
    text = templates.get_template("page.html").render(
        title=title,
        script=Markup(script),
        script_hash="sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        css=Markup(source(templates, "page.css")),
        data=Markup(_as_script(content(sample, pictures, title))),
    )
    return text.encode("utf-8", "replace")


def content(sample: Sample, pictures: Sequence[bytes | None], title: str) -> dict[str, Any]:
    """What the page's script works with. id: names the sample, so that two pages in one browser keep apart."""
    attributes = list(sample.levels)
    labels = [predicted(sample, name) for name in attributes]
    items = [
        {"id": item, "text": text, "picture": _address(picture), "predicted": list(levels), "probability": repr(share)}
        for item, text, picture, levels, share in zip(
            sample.items["item_id"].to_pylist(),
            sample.items["text"].to_pylist(),
            pictures,
            zip(*labels),
            sample.probabilities.tolist(),
        )
    ]
    asked = [{"name": name, "levels": list(sample.levels[name])} for name in attributes]
    named = digest([title, sample.dataset, asked, [(item["id"], item["probability"]) for item in items]])
    return {"id": named, "title": title, "attributes": asked, "items": items}


def _address(picture: bytes | None) -> str | None:
    return None if picture is None else "data:image/webp;base64," + base64.b64encode(picture).decode()


def _as_script(value: Any) -> str:
    """JSON that ends no element, whatever texts of the data it holds."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def rows(sample: Sample) -> Iterator[list[str]]:
    """The table of the sample: ids, what is predicted, how each item was drawn."""
    names = list(sample.levels)
    yield ["item_id", *(f"predicted_{name}" for name in names), "inclusion_probability", "times_selected"]
    columns = [sample.items["item_id"].to_pylist(), *(predicted(sample, name) for name in names)]
    for *texts, probability, times in zip(*columns, sample.probabilities.tolist(), sample.times.tolist()):
        yield [*texts, repr(probability), str(times)]
