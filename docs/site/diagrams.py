"""Mermaid's flow charts as pictures: GitHub draws them itself, and a script that draws all of Mermaid has megabytes.

Read are the nodes, arrows and subgraphs that this documentation has. Nodes stand in layers from top to bottom, each
below all that lead to it; those that nothing leads to stand right above what they lead to. A subgraph is a tint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

# `id`, `id["text"]`, `id[/"text"/]` or `id[("text")]`.
NODE = re.compile(r'(?P<id>\w+)(?:\[[/(]?"(?P<text>[^"]*)"[/)]?\])?')
ARROW = re.compile(r'\s*(?P<back><)?-->(?:\|"(?P<label>[^"]*)"\|)?\s*')
SUBGRAPH = re.compile(r'subgraph \w+ \["(?P<title>[^"]*)"\]')
# Pixels of a box and between boxes.
WIDTH, HEIGHT, ACROSS, DOWN = 128, 30, 14, 28
LETTER = 7.2
TINTS = ("#4c78a8", "#54a24b", "#e4a11b")


@dataclass(kw_only=True, slots=True)
class Chart:
    """Nodes with their texts and the subgraph that they are in, and arrows: from, to, label, whether both ways."""

    texts: dict[str, str] = field(default_factory=dict)
    subgraph: dict[str, str] = field(default_factory=dict)
    arrows: list[tuple[str, str, str, bool]] = field(default_factory=list)


def read(text: str) -> Chart:
    """A flow chart of Mermaid's.

    Raises:  ValueError for a line that this reads nothing from.
    """
    chart, within = Chart(), ""
    for line in map(str.strip, text.splitlines()):
        subgraph = SUBGRAPH.fullmatch(line)
        if subgraph:
            within = subgraph["title"]
        elif line == "end":
            within = ""
        elif not line.startswith("flowchart"):
            arrow = ARROW.search(line)
            if arrow is None:
                raise ValueError(f"no arrow in the line {line!r} of a diagram")
            sides = [_nodes(chart, side, within) for side in (line[: arrow.start()], line[arrow.end() :])]
            ends = [(first, last) for first in sides[0] for last in sides[1]]
            chart.arrows += [(*both, arrow["label"] or "", bool(arrow["back"])) for both in ends]
    return chart


def _nodes(chart: Chart, text: str, within: str) -> list[str]:
    found = [NODE.fullmatch(part.strip()) for part in text.split("&")]
    if not all(found):
        raise ValueError(f"{text!r} names no nodes of a diagram")
    for node in filter(None, found):
        chart.texts[node["id"]] = node["text"] or chart.texts.get(node["id"], node["id"])
        if within:
            chart.subgraph.setdefault(node["id"], within)
    return [node["id"] for node in found if node]


def layers(chart: Chart) -> list[list[str]]:
    """The nodes of each layer, in the order of the text."""
    before = {name: [first for first, last, *_ in chart.arrows if last == name] for name in chart.texts}
    depth: dict[str, int] = {}

    def depth_of(name: str) -> int:
        if name not in depth:
            depth[name] = max((1 + depth_of(one) for one in before[name]), default=0)
        return depth[name]

    for name in chart.texts:
        depth_of(name)
    for name in [name for name in chart.texts if not before[name]]:
        depth[name] = min((depth[last] for first, last, *_ in chart.arrows if first == name), default=1) - 1
    return [[name for name in chart.texts if depth[name] == level] for level in range(max(depth.values()) + 1)]


def svg(text: str) -> str:
    """A flow chart as SVG, in the page's own colour of text."""
    chart = read(text)
    rows = layers(chart)
    wide = max(map(len, rows)) * (WIDTH + ACROSS) - ACROSS
    titles = list(dict.fromkeys(chart.subgraph.values()))
    places = {
        name: ((wide - len(row) * (WIDTH + ACROSS) + ACROSS) / 2 + at * (WIDTH + ACROSS), level * (HEIGHT + DOWN))
        for level, row in enumerate(rows)
        for at, name in enumerate(row)
    }
    high = len(rows) * (HEIGHT + DOWN)
    drawn = [*_lines(chart, places), *_boxes(chart, places, titles), *_legend(titles, high)]
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="flow chart" class="flow-chart" '
        f'viewBox="-2 -2 {wide + 4:.0f} {high + 22:.0f}" style="max-width: {wide + 4:.0f}px; width: 100%" '
        'font-family="inherit" font-size="13" fill="currentColor" text-anchor="middle">'
    )
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path d="M0 0 8 4 0 8z"/></marker>'
    )
    return "\n".join([head, f"<defs>{tip}</defs>", *drawn, "</svg>"])


def _lines(chart: Chart, places: dict[str, tuple[float, float]]) -> Iterator[str]:
    for first, last, label, is_both in chart.arrows:
        (left, top), (right, bottom) = places[first], places[last]
        x, y, to_x, to_y = left + WIDTH / 2, top + HEIGHT, right + WIDTH / 2, bottom - 1
        start = ' marker-start="url(#tip)"' if is_both else ""
        yield (
            f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{to_x:.0f}" y2="{to_y:.0f}" stroke="currentColor" '
            f'stroke-opacity="0.6" marker-end="url(#tip)"{start}/>'
        )
        if label:
            # On the side that the arrow leaves free.
            aside, anchor = (-8, "end") if to_x > x else (8, "start")
            at = f'x="{(x + to_x) / 2 + aside:.0f}" y="{(y + to_y) / 2 + 4:.0f}"'
            yield f'<text {at} text-anchor="{anchor}">{escape(label)}</text>'


def _boxes(chart: Chart, places: dict[str, tuple[float, float]], titles: list[str]) -> Iterator[str]:
    for name, (x, y) in places.items():
        is_within = name in chart.subgraph
        tint = TINTS[titles.index(chart.subgraph[name]) % len(TINTS)] if is_within else "none"
        yield (
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="{tint}" '
            'fill-opacity="0.25" stroke="currentColor" stroke-opacity="0.6"/>'
        )
        text = escape(chart.texts[name])
        squeezed = f' textLength="{WIDTH - 10}" lengthAdjust="spacingAndGlyphs"' if len(text) * LETTER > WIDTH else ""
        yield f'<text x="{x + WIDTH / 2:.0f}" y="{y + HEIGHT / 2 + 5:.0f}"{squeezed}>{text}</text>'


def _legend(titles: list[str], y: float) -> Iterator[str]:
    for place, title in enumerate(titles):
        x, tint = place * (2 * WIDTH - 20), TINTS[place % len(TINTS)]
        yield f'<rect x="{x}" y="{y:.0f}" width="14" height="14" fill="{tint}" fill-opacity="0.25"/>'
        yield f'<text x="{x + 20}" y="{y + 12:.0f}" text-anchor="start">{escape(title)}</text>'


class Mermaid(Directive):
    """A block of Mermaid as a picture."""

    has_content: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        """The picture."""
        return [nodes.raw("", f'<p class="diagram">{svg(chr(10).join(self.content))}</p>', format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's hook."""
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True}
