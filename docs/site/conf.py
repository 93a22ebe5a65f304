"""Sphinx's settings; the sources are put together by `docs.site.sources`."""

from __future__ import annotations

import mprlib

project = "mprlib"
author = "the authors of mprlib"
release = version = mprlib.__version__

extensions = ["myst_parser", "docs.site.formulas", "docs.site.diagrams"]
myst_enable_extensions = ["dollarmath"]
# Headings that pages may link, as GitHub names them.
myst_heading_anchors = 5
# Mermaid's blocks are a directive here, as they are a language there.
myst_fence_as_directive = ["mermaid"]
# Languages without colours, as csv, are shown as they are.
suppress_warnings = ["misc.highlighting_failure"]
root_doc = "docs/README"

html_theme = "furo"
html_title = f"mprlib {release}"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
