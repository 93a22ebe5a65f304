"""Build the site: python -m docs.site FOLDER

No network is needed, neither to build nor to read: fonts are the reader's own, formulas are MathML.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import SphinxError

from docs.site import sources

HERE = Path(__file__).parent
# The address of the folder leads to the first page, which keeps its place below docs.
FIRST = (
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>mprlib</title>'
    '<meta http-equiv="refresh" content="0; url={page}"><a href="{page}">Documentation</a></html>\n'
)


def build(target: Path) -> None:
    """Write the site into a folder; whatever Sphinx warns of ends it.

    Raises:  sphinx.errors.SphinxError for a link that leads nowhere, an example that cannot be read and so on.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources.assemble(folder / "source")
        application = Sphinx(
            folder / "source",
            HERE,
            target,
            folder / "doctrees",
            "html",
            status=None,
            warningiserror=True,
        )
        application.build()
        if application.statuscode:
            raise SphinxError("the site has warnings")
    (target / "index.html").write_text(FIRST.format(page=f"{application.config.root_doc}.html"), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("python -m docs.site FOLDER: the folder that the site is written into is expected")
    build(Path(sys.argv[1]))
    print(f"the site: {Path(sys.argv[1]) / 'index.html'}")
