"""Is a run's folder what the run wrote, and are its numbers what the measuring code says?"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from .. import interruption
from ..errors import UsageError
from ..plan.plan_file import PlannedUnit, read_plan
from ..stages.result_rows import RESULTS
from ..stages.solve import Solve
from ..store import MAPPED_SUFFIX, FileReceipt, Receipt, Store, read_receipt, receipt_file, schema_digest, unit_file
from ..words import first_line, numbered
from .manifest import MANIFEST, REPORT_STAGE, SUCCESS, is_sealed, read_manifest
from .remeasure import remeasure

# How far a value may be from the one measured again: rounding only.
TOLERANCE = 1e-9
# Columns that identify a row of the results.
ROW_KEY = (
    "dataset",
    "reference",
    "query",
    "k",
    "method",
    "parameter_value",
    "target_class",
    "function_class",
    "attention",
)
AGAIN = "the same `mpr-audit run` command makes it again"
# A run reads no file that is as old and as large as when it was written.
REMOVED_AGAIN = "remove it, and the same `mpr-audit run` command makes it again"
OF_EARLIER_PLANS = "no unit of the last plan needs it: `mpr-audit clean` removes it"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Something that is not as it was written; file is its name below the root."""

    file: str
    what: str
    remedy: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verification:
    """What was checked, and what is wrong. is_complete: the run that wrote the folder had finished."""

    output: str
    files: int
    bytes: int
    rows: int
    remeasured: int
    is_complete: bool
    faults: tuple[Fault, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def verify(store: Store, sample: int) -> Verification:
    """Read and hash every file that a receipt or the manifest names; check every row; measure `sample` rows again.

    Raises:  UsageError when no run has written there.
    """
    planned = read_plan(store)
    if planned is None:
        raise UsageError(f"{store.root} holds no plan that can be read: `mpr-audit run CONFIG --output DIR` writes one")
    ledger = _Ledger(store)
    receipts = _unit_faults(store, {(unit.stage, unit.key) for unit in planned}, ledger)
    _manifest_faults(store, planned, receipts, ledger)
    rows = _read_results(store, ledger)
    ledger.faults += _row_faults(rows)
    measured = _measured_again(store, planned, receipts, rows, sample, ledger)
    return Verification(
        output=store.root,
        files=ledger.files,
        bytes=ledger.bytes,
        rows=len(rows),
        remeasured=measured,
        is_complete=store.exists(SUCCESS),
        faults=tuple(ledger.faults),
    )


class _Ledger:
    """Counts what is read, keeps what is wrong."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.files, self.bytes = 0, 0
        self.faults: list[Fault] = []

    def add(self, file: str, what: str, remedy: str = AGAIN) -> None:
        """Something is wrong with a file."""
        self.faults.append(Fault(file=file, what=what, remedy=remedy))

    def is_whole(self, name: str, size: int, sha256: str, remedy: str = AGAIN) -> bool:
        """Whether a file has this size and content; else it is a fault."""
        interruption.check()
        entry = self._store.entry(name)
        if entry is None:
            self.add(name, "the file is gone", remedy)
            return False
        self.files, self.bytes = self.files + 1, self.bytes + entry.bytes
        if entry.bytes != size:
            self.add(name, f"the file has {entry.bytes:,} bytes, {size:,} were written", remedy)
            return False
        try:
            is_same = self._store.digest(name) == sha256
        except OSError as error:
            self.add(name, f"the file cannot be read ({error.strerror or error})", remedy)
            return False
        if not is_same:
            self.add(name, "the file's SHA-256 is not that of what was written", remedy)
        return is_same


def _unit_faults(store: Store, planned: Collection[tuple[str, str]], ledger: _Ledger) -> dict[str, Receipt]:
    """Check all receipts and their files, those of earlier plans too. Returns whole units' receipts by key.

    planned: stage and key of the last plan's units.
    """
    whole = {}
    for name in store.list("receipts"):
        stage, _, key = name.removeprefix("receipts/").removesuffix(".json").partition("/")
        receipt = read_receipt(store, stage, key)
        is_needed = stage == REPORT_STAGE or (stage, key) in planned
        if receipt is None or (receipt.stage, receipt.key) != (stage, key):
            remedy = AGAIN if is_needed else OF_EARLIER_PLANS
            ledger.add(name, "the receipt cannot be read, or is another unit's", remedy)
            continue
        is_whole = True
        for table, file in receipt.files.items():
            path = unit_file(stage, key, table)
            remedy = _remedy(store, stage, path, file) if is_needed else OF_EARLIER_PLANS
            is_whole &= ledger.is_whole(path, file.bytes, file.sha256, remedy) and _has_shape(
                store, path, file, ledger, remedy
            )
        if is_whole:
            whole[key] = receipt
    return whole


def _remedy(store: Store, stage: str, path: str, file: FileReceipt) -> str:
    """What makes a needed unit's file again, should it be damaged; a report's units are hashed by every run."""
    entry = store.entry(path)
    looks_whole = entry is not None and (entry.bytes, entry.stamp) == (file.bytes, file.stamp)
    return REMOVED_AGAIN if looks_whole and stage != REPORT_STAGE else AGAIN


def _has_shape(store: Store, path: str, file: FileReceipt, ledger: _Ledger, remedy: str) -> bool:
    """Whether a table's rows and schema are those of its receipt."""
    if path.endswith(MAPPED_SUFFIX):
        table = store.map_table(path)
        rows, schema = table.num_rows, table.schema
    else:
        parquet = store.parquet(path)
        rows, schema = parquet.metadata.num_rows, parquet.schema_arrow
    if rows != file.rows:
        ledger.add(path, f"the table has {numbered(rows, 'row')}, its receipt says {file.rows:,}", remedy)
    elif schema_digest(schema) != file.schema_sha256:
        ledger.add(path, "the table's schema is not that of its receipt", remedy)
    else:
        return True
    return False


def _manifest_faults(
    store: Store, planned: list[PlannedUnit], receipts: Mapping[str, Receipt], ledger: _Ledger
) -> None:
    """The manifest against its seal, the collected files and the receipts."""
    manifest = read_manifest(store)
    if manifest is None:
        if store.exists(SUCCESS):
            ledger.add(MANIFEST, "the manifest is gone or cannot be read, though the run had finished")
        return
    if store.exists(SUCCESS) and not is_sealed(store):
        ledger.add(MANIFEST, "the manifest has changed since the run finished")
    for name, file in manifest["files"].items():
        ledger.is_whole(name, file["bytes"], file["sha256"])
    listed = {one["unit"]: one for one in manifest["receipts"]}
    for unit in planned:
        receipt, entry = receipts.get(unit.key), listed.get(unit.key)
        name = receipt_file(unit.stage, unit.key)
        if entry is None and receipt is not None and store.exists(SUCCESS):
            ledger.add(MANIFEST, f"the manifest does not list {unit.stage} {unit.title}, which is done")
        elif entry is not None and receipt is None and not any(fault.file == name for fault in ledger.faults):
            if not store.exists(name):
                ledger.add(name, f"the receipt of {unit.stage} {unit.title} is gone, though the manifest lists it")
        elif (
            entry is not None
            and receipt is not None
            and not receipt.is_removed
            and entry["files"] != {table: file.sha256 for table, file in receipt.files.items()}
        ):
            ledger.add(name, f"receipt and manifest disagree on the files of {unit.stage} {unit.title}")


def _read_results(store: Store, ledger: _Ledger) -> list[dict[str, Any]]:
    """All result rows that can be read."""
    columns = [*ROW_KEY, "target_attention", "unit", "status", "mpr", "rho", "p_rho", "similarity", "item_ids"]
    rows: list[dict[str, Any]] = []
    for name in store.list("results"):
        try:
            table = store.read_table(name, columns=columns)
            rows += table.cast(pa.schema([RESULTS.field(column) for column in table.column_names])).to_pylist()
        except (OSError, ValueError, pa.ArrowException) as error:
            if not any(fault.file == name for fault in ledger.faults):
                ledger.add(name, f"the table cannot be read ({first_line(str(error))})")
    return rows


def _row_faults(rows: list[dict[str, Any]]) -> Iterator[Fault]:
    """What must hold for every row: a unique key, k distinct items, and rho where its status says so."""
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        key = tuple(row[name] for name in ROW_KEY)
        for is_wrong, what in (
            (key in seen, "occurs twice"),
            (_has_bad_items(row), f"does not hold {row['k']} distinct items"),
            (_breaks_rho(row), f"has status {row['status']}, though its MPR {row['mpr']} exceeds rho {row['rho']}"),
        ):
            if is_wrong:
                yield Fault(file="results", what=f"the row {_row_name(row)} {what}", remedy=AGAIN)
        seen.add(key)


def _has_bad_items(row: dict[str, Any]) -> bool:
    items = row["item_ids"] or []
    if row["status"] == "failed":
        return bool(items)
    return len(items) != row["k"] or len(set(items)) != len(items)


def _breaks_rho(row: dict[str, Any]) -> bool:
    is_own = row["target_class"] is not None and row["target_class"] == row["function_class"]
    is_own &= row["target_attention"] == row["attention"]
    # Where labels may be wrong, the status is about the true ones.
    is_own &= row["p_rho"] is None
    return is_own and row["status"] in ("optimal", "feasible") and row["mpr"] > row["rho"] + TOLERANCE


def _measured_again(
    store: Store,
    planned: list[PlannedUnit],
    receipts: Mapping[str, Receipt],
    rows: list[dict[str, Any]],
    sample: int,
    ledger: _Ledger,
) -> int:
    """Measure some selections anew from the stored pools, labels and references. Returns how many."""
    specs = {unit.key: unit for unit in planned if unit.stage == Solve.stage and unit.spec and unit.key in receipts}
    able = sorted((row for row in rows if row["item_ids"] and row["unit"] in specs), key=_random_key)[:sample]
    by_unit: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in able:
        by_unit[row["unit"]].append(row)
    for unit, chosen in by_unit.items():
        interruption.check()
        try:
            values = remeasure(Solve.from_spec(specs[unit].title, specs[unit].spec), store, chosen)
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            ledger.add(f"units/{Solve.stage}/{unit}", f"cannot be measured again ({type(error).__name__}: {error})")
            continue
        for row, found in zip(chosen, values):
            for name in ("mpr", "similarity"):
                if abs(found[name] - row[name]) > TOLERANCE:
                    ledger.add("results", f"the row {_row_name(row)} states {name} {row[name]}, measured {found[name]}")
    return len(able)


def _random_key(row: dict[str, Any]) -> str:
    """A random order that is the same every time."""
    return hashlib.sha256(_row_name(row).encode()).hexdigest()


def _row_name(row: dict[str, Any]) -> str:
    return ", ".join(f"{name}={row[name]}" for name in ROW_KEY if row[name] is not None)
