"""Two systems side by side as a page that opens from disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jinja2
from markupsafe import Markup

from ..analysis.frames import records
from ..analysis.systems.compare import Systems
from ..analysis.systems.wording import name_of, sentence
from ..analysis.wording import labelled
from .page import environment, source

# Rows that are shown at first; the others unfold.
OPEN_QUERIES = 25


def page(found: Systems, about: Mapping[str, Mapping[str, Any]]) -> str:
    """The page; the same comparison gives the same text."""
    made = environment()
    template: jinja2.Template = made.get_template("systems.html")
    return template.render(
        css=Markup(source(made, "page.css")),
        names={side: name_of(found, about, side) for side in ("a", "b")},
        sentences=[sentence(one) for one in found.measures],
        queries=labelled(found.queries),
        groups=records(found.groups),
        open_queries=OPEN_QUERIES,
        remarks=found.remarks,
    )
