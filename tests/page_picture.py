"""The top of a run's page as a picture: `python -m tests.page_picture RUN PICTURE`, with Chromium."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.jobs.report.chromium import BINARY

# As wide as the page's column, and as high as its first table.
WINDOW = (1000, 860)


def main(run: str, picture: str) -> None:
    """Draw the page of a run's folder."""
    if BINARY is None:
        raise SystemExit("no Chromium is installed")
    page = (Path(run) / "report/index.html").resolve()
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command = [
        BINARY,
        *flags,
        f"--window-size={WINDOW[0]},{WINDOW[1]}",
        f"--screenshot={Path(picture).resolve()}",
        page.as_uri(),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
