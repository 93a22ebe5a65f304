"""A sample of a run, drawn and written with the page to label it in."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

from ..analysis.load import tables_of
from ..errors import UsageError
from ..results.manifest import read_manifest
from ..store import Store
from .page import page, rows
from .pictures import pictures_of
from .sample import Sample, SampleRequest, sample_of

# Below the run's folder, where no other is asked for.
FOLDER = "label-sample"
PAGE, TABLE = "label.html", "sample.csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A sample and where it is: the page to label it in, and its table."""

    sample: Sample
    page: str
    table: str

    def to_json(self) -> dict[str, Any]:
        """The object that `label-sample --json` prints."""
        sample = self.sample
        return {
            "page": self.page,
            "csv": self.table,
            "dataset": sample.dataset,
            "attributes": list(sample.levels),
            "items": sample.items.num_rows,
            "of": sample.of,
            "selections": sample.selections,
            "selected": int((sample.times > 0).sum()),
            "variance_ratio": sample.ratio,
        }


def write_sample(folder: str, output: str | None, asked: SampleRequest) -> Written:
    """Draw a sample of a run and write it to a folder.

    Raises:  UsageError for a folder that holds no finished run, what it lacks, and an output that cannot be written.
    """
    store = Store(folder).readable()
    manifest = read_manifest(store)
    if manifest is None:
        raise UsageError(f"{folder} holds no finished run: `mpr-audit run CONFIG --output {folder}` makes one")
    with tables_of(store):
        sample = sample_of(store, manifest, asked)
    target = Store(output) if output is not None else store
    start = "" if output is not None else f"{FOLDER}/"
    files = {
        f"{start}{TABLE}": _csv(sample),
        f"{start}{PAGE}": page(sample, pictures_of(store, manifest, sample), str(manifest.get("name") or "Audit")),
    }
    try:
        for name, content in files.items():
            target.write(name, content)
    except OSError as error:
        raise UsageError(f"--output {output or store.address(FOLDER)}: {error.strerror or error}") from None
    table, opened = (target.address(name) for name in files)
    return Written(sample=sample, page=opened, table=table)


def _csv(sample: Sample) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows(sample))
    return text.getvalue().encode("utf-8", "replace")
