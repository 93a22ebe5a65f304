"""Formulas as MathML, which browsers draw themselves: no script, no fonts and no network."""

from __future__ import annotations

import re

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

# What docutils does not know, in words that it does.
REPLACED = {r"\lbrace": r"\{", r"\rbrace": r"\}", r"\dots": r"\ldots"}
COMMAND = re.compile(r"\\[a-zA-Z]+")


def mathml(formula: str, *, is_block: bool) -> str:
    """The formula's MathML.

    Raises:  docutils.utils.math.MathError for what cannot be read.
    """
    known = COMMAND.sub(lambda found: REPLACED.get(found[0], found[0]), formula)
    return str(latex2mathml.tex2mathml(known, as_block=is_block))


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext(), is_block=False))
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{mathml(node.astext(), is_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's hook."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True}
