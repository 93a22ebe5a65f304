"""Mermaid's diagrams as their text: GitHub draws them, and drawing them here would need a script of megabytes."""

from __future__ import annotations

from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx


class Mermaid(Directive):
    """A block of Mermaid, shown as it is written."""

    has_content: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        """The text in a block of its own."""
        text = "\n".join(self.content)
        return [nodes.literal_block(text, text, language="text", classes=["mermaid"])]


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's hook."""
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True}
