"""One audit from configuration to report: what is done stays done, what is missing is computed."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from jobs import inputs as audit_inputs
from jobs import plan as audit_plan
from jobs.config import Audit, PrecomputedEncoder
from jobs.config_file import ConfigFile
from jobs.errors import UsageError
from jobs.inputs import Inputs
from jobs.manifest import manifest_of, results_are_current
from jobs.plan import Plan
from jobs.progress import Reporter
from jobs.stages.publish import publish
from jobs.stages import ENCODING, Outcome, commit
from jobs.stages.collect import collect
from jobs.stages.embed import query_table
from jobs.store import Receipt, Store, valid_receipt
from jobs.units import Unit

SUCCESS = "_SUCCESS"
PLAN = "plan.json"
MANIFEST = "manifest.json"


@dataclass(slots=True)
class Progress:
    """What became of each unit of a plan, by key."""

    done: dict[str, Receipt] = field(default_factory=dict)
    computed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)

    def counts(self) -> dict[str, int]:
        """Units computed, cached, failed and skipped."""
        return {
            "computed": len(self.computed),
            "cached": len(self.done) - len(self.computed),
            "failed": len(self.failed),
            "skipped": len(self.skipped),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSummary:
    """How a run ended. `report` is the page's path, if any unit was solved; `seconds` of wall time."""

    run_id: str
    output: str
    report: str | None
    counts: dict[str, int]
    failures: list[dict[str, str]]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The object that `run --json` ends with."""
        return self.counts | {key: value for key, value in asdict(self).items() if key != "counts"}


def output_of(settings: Audit, output: str | None) -> str:
    """Where a run writes: the command line's folder, else the configuration's.

    Raises:  UsageError when neither names one.
    """
    chosen = output or settings.output
    if not chosen:
        raise UsageError("no output: give --output DIR, or output in the configuration")
    return chosen


def prepare(config: ConfigFile, limit: int | None = None) -> tuple[Inputs, Plan]:
    """Inputs and plan of a configuration.

    Raises:  UsageError for input that cannot be audited.
    """
    inputs = audit_inputs.read_inputs(config.settings, config.folder, limit)
    return inputs, audit_plan.build(config.settings, inputs)


def finished(plan: Plan, store: Store) -> dict[str, Receipt]:
    """Receipts of the units that are done already."""
    receipts = ((unit.key, valid_receipt(store, unit.stage, unit.key)) for unit in plan.units)
    return {key: receipt for key, receipt in receipts if receipt is not None}


def run(config: ConfigFile, output: str, reporter: Reporter, limit: int | None = None) -> RunSummary:
    """Compute what is missing, collect, report.

    Raises:  UsageError before anything is computed; KeyboardInterrupt keeps what is finished.
    """
    started = time.monotonic()
    settings = config.settings
    inputs, plan = prepare(config, limit)
    store = Store(output)
    progress = Progress(done=finished(plan, store))
    run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:6]}"
    is_current = len(progress.done) == len(plan.units) and results_are_current(store, plan, settings)
    if not is_current:
        store.delete(SUCCESS)
        store.write_json(PLAN, [{"stage": unit.stage, "unit": unit.key, "title": unit.title} for unit in plan.units])
        _compute(settings, inputs, plan, store, progress, reporter)
    failures = [
        {"unit": unit.key, "stage": unit.stage, "title": unit.title, "message": progress.failed[unit.key]}
        for unit in plan.units
        if unit.key in progress.failed
    ]
    if is_current:
        run_id = store.read_json(MANIFEST)["run_id"]
    else:
        reporter.say("collecting results")
        solved = [unit for unit in plan.stages["solve"] if unit.key in progress.done]
        rows = collect(store, solved, run_id)
        manifest = manifest_of(run_id, settings, inputs, plan, progress.done, progress.counts(), failures, rows)
        store.write_json(MANIFEST, manifest)
        if solved:
            reporter.say("writing the report")
            publish(store)
        if not failures:
            store.write(SUCCESS, b"")
    return RunSummary(
        run_id=run_id,
        output=store.root,
        report=store.path("report/index.html") if any(unit.key in progress.done for unit in plan.stages["solve"]) else None,
        counts=progress.counts(),
        failures=failures,
        seconds=time.monotonic() - started,
    )


def _compute(
    settings: Audit, inputs: Inputs, plan: Plan, store: Store, progress: Progress, reporter: Reporter
) -> None:
    """Run every stage's missing units; units whose needs failed are skipped."""
    missing = [unit for unit in plan.units if unit.key not in progress.done]
    for unit in missing:
        table = _read_by_driver(unit, inputs, plan)
        if table is not None:
            progress.done[unit.key] = commit(unit, store, table, 0.0)
            progress.computed.add(unit.key)
    if len(progress.done) == len(plan.units):
        return
    # Starting Ray takes seconds: only when there is work for it.
    from jobs.runtime import Cluster

    reporter.say("starting Ray")
    with Cluster(settings.runtime) as cluster:
        for stage, units in plan.stages.items():
            waiting = [unit for unit in units if unit.key not in progress.done]
            runnable = [unit for unit in waiting if all(key in progress.done for key in unit.needs)]
            progress.skipped |= {unit.key for unit in waiting} - {unit.key for unit in runnable}
            reporter.start(stage, len(units), len(units) - len(waiting))
            for unit, outcome in _outcomes(cluster, settings, stage, runnable, store.root):
                _note(progress, unit, outcome, reporter)
                reporter.advance(stage)


def _read_by_driver(unit: Unit, inputs: Inputs, plan: Plan) -> dict[str, Any] | None:
    """Tables of a unit that reading the inputs has made already."""
    if unit.stage == "catalogue":
        return {"items": plan.catalogues[unit.key].items}
    if unit.stage == "queries" and inputs.query_vectors is not None:
        by_query = dict(zip(*(inputs.query_vectors[name].to_pylist() for name in ("query", "vector"))))
        vectors = np.array([by_query[query.text] for query in inputs.queries], dtype=np.float32)
        return {"vectors": query_table([query.prompt for query in inputs.queries], vectors)}
    return None


def _outcomes(cluster: Any, settings: Audit, stage: str, units: Sequence[Unit], root: str) -> Iterator[tuple[Unit, Outcome]]:
    if not units:
        return iter(())
    if stage not in ENCODING:
        return cluster.run_tasks(units, root)
    encoder = settings.encoder
    if isinstance(encoder, PrecomputedEncoder):
        encoder = encoder.text if stage in ("queries", "texts") else None
    return cluster.run_on_encoders(units, root, encoder.model_dump(mode="json") if encoder else None)


def _note(progress: Progress, unit: Unit, outcome: Outcome, reporter: Reporter) -> None:
    if outcome.receipt is not None:
        progress.done[unit.key] = outcome.receipt
        progress.computed.add(unit.key)
    else:
        progress.failed[unit.key] = outcome.message
        reporter.say(f"failed: {unit.stage} {unit.title}: {outcome.message}")
