"""One audit from configuration to report: what is done stays done, what is missing is computed."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from jobs import inputs as audit_inputs
from jobs import plan as audit_plan
from jobs.config import Audit
from jobs.config_file import ConfigFile
from jobs.dispatch import Event, UnitEnded
from jobs.errors import UsageError
from jobs.inputs import Inputs
from jobs.manifest import MANIFEST, PAGE, SUCCESS, manifest_of, results_are_current
from jobs.plan import Plan
from jobs.progress import Reporter
from jobs.skipped import Counts, counts_of, expect_few_skipped, skipped_items
from jobs.stages import ENCODING, Outcome, commit
from jobs.stages.collect import collect
from jobs.stages.embed import query_table
from jobs.stages.probe import judgement
from jobs.stages.publish import publish
from jobs.stages.vectors import to_column
from jobs.store import Receipt, Store, receipt_file, valid_receipt
from jobs.thumbnails import write_thumbnails
from jobs.units import Unit

PLAN = "plan.json"


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
    """How a run ended. `report` is the page's path, if any unit was solved; `seconds` of wall time.

    skipped_items counts items that were left out, by data set and reason.
    """

    run_id: str
    output: str
    report: str | None
    counts: dict[str, int]
    failures: list[dict[str, str]]
    skipped_items: Counts
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

    Raises:  UsageError before anything is computed; RunError when too many items are skipped; KeyboardInterrupt.
             All keep what is finished.
    """
    started = time.monotonic()
    settings = config.settings
    inputs, plan = prepare(config, limit)
    for note in plan.notes:
        reporter.say(note)
    store = Store(output)
    progress = Progress(done=finished(plan, store))
    if len(progress.done) == len(plan.units) and results_are_current(store, plan, settings):
        run_id = store.read_json(MANIFEST)["run_id"]
        return _summary(store, plan, progress, run_id, started)
    store.prepare()
    run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:6]}"
    store.delete(SUCCESS)
    store.write_json(PLAN, [{"stage": unit.stage, "unit": unit.key, "title": unit.title} for unit in plan.units])
    _discard_damaged(store, plan, progress, reporter)
    _compute(settings, inputs, plan, store, progress, reporter)
    summary = _summary(store, plan, progress, run_id, started)
    solved = [unit for unit in plan.stages["solve"] if unit.key in progress.done]
    # Where nothing was solved, the tables and the report of an earlier run stay as they are.
    if solved:
        reporter.say("collecting results")
        skipped = skipped_items(store, plan, progress.done)
        files = collect(store, solved, run_id, skipped) | write_thumbnails(store, settings, inputs)
        manifest = manifest_of(
            run_id, settings, inputs, plan, progress.done, summary.counts, summary.failures, files, counts_of(skipped)
        )
        manifest["probes"] = _judged_probes(plan, store, progress)
        store.write_json(MANIFEST, manifest)
        reporter.say("writing the report")
        publish(store)
        if not summary.failures:
            store.write(SUCCESS, b"")
    return replace(summary, seconds=time.monotonic() - started)


def _judged_probes(plan: Plan, store: Store, progress: Progress) -> list[dict[str, Any]]:
    """Each trained probe, its data set and its errors, for the manifest."""
    return [
        {"probe": name, "dataset": plan.catalogues[fit.spec["catalogue"]].name, **judgement(fit.spec, fit.key, store)}
        for name, fit in plan.probes.items()
        if fit.key in progress.done
    ]


def _summary(store: Store, plan: Plan, progress: Progress, run_id: str, started: float) -> RunSummary:
    is_any_solved = any(unit.key in progress.done for unit in plan.stages["solve"])
    return RunSummary(
        run_id=run_id,
        output=store.root,
        report=store.path(PAGE) if is_any_solved else None,
        counts=progress.counts(),
        failures=[
            {"unit": unit.key, "stage": unit.stage, "title": unit.title, "message": progress.failed[unit.key]}
            for unit in plan.units
            if unit.key in progress.failed
        ],
        skipped_items=counts_of(skipped_items(store, plan, progress.done)),
        seconds=time.monotonic() - started,
    )


def _discard_damaged(store: Store, plan: Plan, progress: Progress, reporter: Reporter) -> None:
    """Name the units whose files no longer hold what was written, and take back their receipts."""
    for unit in plan.units:
        if unit.key not in progress.done and store.exists(receipt_file(unit.stage, unit.key)):
            reporter.say(f"damaged, computed again: {unit.stage} {unit.title}")
            store.delete(receipt_file(unit.stage, unit.key))


def _compute(settings: Audit, inputs: Inputs, plan: Plan, store: Store, progress: Progress, reporter: Reporter) -> None:
    """Run every stage's missing units; units whose needs failed are skipped."""
    missing = [unit for unit in plan.units if unit.key not in progress.done]
    for unit in missing:
        table = _read_by_driver(unit, inputs, plan)
        if table is not None:
            progress.done[unit.key] = commit(unit, store, table, 0.0)
            progress.computed.add(unit.key)
    if len(progress.done) == len(plan.units):
        return
    expect_few_skipped(store, plan, progress.done)
    # Starting Ray takes seconds: only when there is work for it.
    from jobs.runtime import Cluster

    reporter.say("starting Ray")
    with Cluster(settings.runtime) as cluster:
        note = cluster.encoder_actors(inputs.item_encoder and inputs.item_encoder.loading).note
        if note:
            reporter.say(note)
        for stages in _rounds(plan):
            waiting: list[Unit] = []
            for stage in stages:
                missing = [unit for unit in plan.stages[stage] if unit.key not in progress.done]
                reporter.start(stage, len(plan.stages[stage]), len(plan.stages[stage]) - len(missing))
                waiting += missing
            # Units of a merge need others of their own stage: a tree is worked off level by level.
            while able := [unit for unit in waiting if all(key in progress.done for key in unit.needs)]:
                for event in _events(cluster, inputs, able, store):
                    if isinstance(event, UnitEnded):
                        _note(progress, event.unit, event.outcome, reporter)
                        reporter.advance(event.unit.stage)
                tried = {unit.key for unit in able}
                waiting = [unit for unit in waiting if unit.key not in tried]
            progress.skipped |= {unit.key for unit in waiting}
            if "embed" in stages:
                expect_few_skipped(store, plan, progress.done)


def _rounds(plan: Plan) -> list[list[str]]:
    """Stages in order; those that need an encoder together, so that its weights are loaded once."""
    rounds: list[list[str]] = []
    for stage in plan.stages:
        if stage in ENCODING and rounds and rounds[-1][0] in ENCODING:
            rounds[-1].append(stage)
        else:
            rounds.append([stage])
    return rounds


def _read_by_driver(unit: Unit, inputs: Inputs, plan: Plan) -> dict[str, Any] | None:
    """Tables of a unit that reading the inputs has made already."""
    if unit.stage == "catalogue":
        catalogue = plan.catalogues[unit.key]
        return {"items": catalogue.items, "skipped": catalogue.skipped}
    if unit.stage == "tokens":
        return {"tokens": pa.table({"vector": to_column(plan.tokens[unit.key])})}
    if unit.stage == "queries" and inputs.query_vectors is not None:
        by_query = dict(zip(*(inputs.query_vectors[name].to_pylist() for name in ("query", "vector"))))
        vectors = np.array([by_query[query.text] for query in inputs.queries], dtype=np.float32)
        return {"vectors": query_table([query.prompt for query in inputs.queries], vectors)}
    return None


def _events(cluster: Any, inputs: Inputs, units: Sequence[Unit], store: Store) -> Iterator[Event]:
    """What happens to units that need nothing of each other."""
    yield from cluster.run_tasks([unit for unit in units if unit.stage not in ENCODING], store)
    items, texts = inputs.item_encoder, inputs.text_encoder
    embed = [unit for unit in units if unit.stage == "embed"]
    others = [unit for unit in units if unit.stage in ENCODING and unit.stage != "embed"]
    if items is not None and items == texts:
        yield from cluster.run_on_encoders([*embed, *others], store, items.loading)
        return
    # Items have their vectors; only texts (queries, phrases) go through a model.
    yield from cluster.run_on_encoders(embed, store, None)
    if texts is not None:
        yield from cluster.run_on_encoders(others, store, texts.loading)


def _note(progress: Progress, unit: Unit, outcome: Outcome, reporter: Reporter) -> None:
    if outcome.receipt is not None:
        progress.done[unit.key] = outcome.receipt
        progress.computed.add(unit.key)
    else:
        progress.failed[unit.key] = outcome.message
        reporter.say(f"failed: {unit.stage} {unit.title}: {outcome.message}")
