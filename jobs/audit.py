"""One audit from configuration to report: finished units are kept, missing ones are computed."""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from . import interruption
from .cache.merging import merge
from .cache.packs import PackedUnit
from .cache.place import CachePlace, expect_apart
from .config.audit import Audit
from .config.file import ConfigFile
from .errors import UsageError, room_in
from .plan import bill
from .plan import inputs as audit_inputs
from .plan.build import build
from .plan.estimate import cpus_of
from .plan.inputs import Inputs
from .plan.likeness import earlier_units, with_earlier
from .plan.plan import Plan, unanswered
from .plan.plan_file import read_plan, write_plan
from .plan.rates import learn
from .plan.stage_order import ORDER
from .report.kept import Shelf, kept_are_whole, receipts_of
from .report.publish import publish
from .report.thumbnails import write_thumbnails
from .results.collect import collect
from .results.manifest import MANIFEST, SUCCESS, Finished, manifest_of, results_are_current, seal
from .results.preparation import preparation
from .results.summary import RunSummary, summary_of
from .run import shared
from .run.compute import Progress, compute
from .run.executor import Lazily, expect_available
from .run.intermediate import without_removed
from .run.journal import Journal, opened
from .run.leftovers import clear, clear_finished
from .run.lock import Lock
from .run.progress import Reporter
from .run.skipped import counts_of, expect_few_skipped, skipped_items
from .stages.probe import judgement
from .stages.solve import Solve
from .store import Inventory, Store, take_inventory


def output_of(settings: Audit, output: str | None) -> str:
    """Where a run writes: the command line's folder, else the configuration's.

    Raises:  UsageError when neither names one.
    """
    chosen = output or settings.output
    if not chosen:
        raise UsageError("no output: give --output DIR, or output in the configuration")
    return chosen


def prepare(config: ConfigFile[Audit], limit: int | None = None) -> tuple[Inputs, Plan]:
    """Inputs and plan of a configuration.

    Raises:  UsageError for input that cannot be audited.
    """
    with config.placing():
        inputs = audit_inputs.read_inputs(config.settings, config.folder, limit)
        return inputs, build(config.settings, inputs)


def inventory(plan: Plan, store: Store) -> Inventory:
    """The units of a plan that the folder has already.

    Raises:  UsageError for a folder that cannot be read.
    """
    passing = {kind.stage for kind in ORDER if kind.is_intermediate}
    found = take_inventory(store.readable(), ((unit.stage, unit.key) for unit in plan.units), passing)
    return without_removed(plan, found)


def resumed(
    config: ConfigFile[Audit], inputs: Inputs, plan: Plan, store: Store, kept: Collection[str] = ()
) -> tuple[Plan, Inventory]:
    """The plan without searches for queries whose pools are in the folder, and the units that are done.

    kept: keys of units that a run would take from the cache.
    Raises:  UsageError for a folder that cannot be read.
    """
    found = inventory(plan, store)
    asked = unanswered(plan, {*found.done, *kept})
    if asked is None:
        return plan, found
    with config.placing():
        shorter = build(config.settings, inputs, asked)
    return shorter, inventory(shorter, store)


def run(config: ConfigFile[Audit], output: str, reporter: Reporter, limit: int | None = None) -> RunSummary:
    """Compute what is missing, collect, report.

    Raises:  UsageError before anything is computed; RunError for too many skipped items or a full disk;
             KeyboardInterrupt. All keep what is finished.
    """
    with room_in(output):
        return _run(config, Store(output), reporter, limit)


def _run(config: ConfigFile[Audit], store: Store, reporter: Reporter, limit: int | None) -> RunSummary:
    started = time.monotonic()
    settings = config.settings
    inputs, plan = prepare(config, limit)
    for note in plan.notes:
        reporter.say(note)
    expect_apart(inputs.cache, store)
    packed = shared.packed(inputs.cache)
    _restore(settings, inputs, plan, store, packed)
    plan, found = resumed(config, inputs, plan, store)
    progress = Progress(done=dict(found.done))
    # Also where nothing is left to compute: max_skipped_share may have changed.
    expect_few_skipped(store, plan, progress.done)
    is_computed = len(progress.done) == len(plan.units)
    is_whole = is_computed and results_are_current(store, plan, settings) and kept_are_whole(store)
    if is_whole and read_plan(store) is not None:
        run_id = store.read_json(MANIFEST)["run_id"]
        clear_finished(store, run_id, found, reporter)
        return summary_of(store, plan, progress, run_id, started)
    if len(progress.done) < len(plan.units):
        expect_available(settings.runtime)
    store.prepare()
    earlier = earlier_units(plan, store, progress.done, packed)
    plan = with_earlier(plan, earlier)
    _restore(settings, inputs, plan, store, packed, set(earlier.values()))
    run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:6]}"
    with (
        Lock(store, run_id, reporter.say) as lock,
        opened(reporter, store, run_id, name=settings.name) as journal,
        Lazily(settings.runtime) as executor,
    ):
        store.delete(SUCCESS)
        write_plan(store, plan)
        clear(store, plan, found, journal)
        compute(settings, inputs, plan, store, progress, journal, executor)
        summary = summary_of(store, plan, progress, run_id, started)
        lock.expect_held()
        if not progress.is_stopped and _collect(settings, inputs, plan, store, progress, summary, journal):
            journal.enter("reporting", "writing the report")
            publish(store, executor, Shelf(cache=inputs.cache, packed=packed))
            interruption.check()
            if not summary.failures:
                seal(store)
        if inputs.cache is not None and not progress.is_stopped:
            _tend_cache(inputs.cache, plan, store, progress, packed, settings.name, journal)
        summary = replace(summary, seconds=time.monotonic() - started)
        _note_rates(settings, plan, progress, summary.seconds)
        journal.end("stopped" if progress.is_stopped else "done", summary.counts, summary.seconds)
    return summary


def _restore(
    settings: Audit,
    inputs: Inputs,
    plan: Plan,
    store: Store,
    packed: Mapping[str, PackedUnit],
    keys: Collection[str] | None = None,
) -> None:
    """Copy units that other runs have left in the cache, by default all of the plan that are missing.

    Equal keys mean equal tables, and units appear whole: whoever has the folder's lock is not disturbed.
    Raises:  UsageError for a cache or a folder that cannot be written.
    """
    if inputs.cache is None:
        return
    stages = {unit.key: unit.stage for unit in plan.units}
    wanted = stages if keys is None else dict.fromkeys(keys, Solve.stage)
    found = [packed[key] for key, stage in wanted.items() if key in packed and packed[key].receipt.stage == stage]
    if keys is None:
        inputs.cache.store().prepare()
        done = inventory(plan, store).done
        found = [unit for unit in found if unit.receipt.key not in done]
    if found:
        expect_available(settings.runtime)
        store.prepare()
        shared.restored(inputs.cache, store, found)


def _tend_cache(
    cache: CachePlace,
    plan: Plan,
    store: Store,
    progress: Progress,
    packed: Mapping[str, PackedUnit],
    name: str,
    journal: Journal,
) -> None:
    """Leave finished units there, merge small segments, and leave word for the next plan.

    Whatever fails costs later runs time alone.
    """
    try:
        shared.leave(cache, store, plan, progress.done, packed, beside=receipts_of(store))
        for folder in bill.spaces_of(plan):
            interruption.check()
            merge(cache.store(), folder)
        bill.note_contents(plan, cache, name)
    except Exception as error:  # noqa: BLE001 - every file system has errors of its own
        journal.say("cache_fault", f"the cache could not be tended: {type(error).__name__}: {error}", "warning")


def _note_rates(settings: Audit, plan: Plan, progress: Progress, seconds: float) -> None:
    """Remember how fast this machine was, for later estimates; a cluster is another one each time."""
    if settings.runtime.address is None:
        units = [unit for unit in plan.units if unit.key in progress.computed and unit.key not in plan.made]
        learn(units, progress.done, seconds, cpus_of(settings))


def _collect(
    settings: Audit,
    inputs: Inputs,
    plan: Plan,
    store: Store,
    progress: Progress,
    summary: RunSummary,
    journal: Journal,
) -> bool:
    """Write tables and manifest; False where nothing was solved, and those of an earlier run are kept."""
    solved = [unit for unit in plan.solved if unit.key in progress.done]
    if not solved:
        return False
    journal.enter("collecting", "collecting results")
    skipped = skipped_items(store, plan, progress.done)
    files = collect(store, solved, summary.run_id, skipped) | write_thumbnails(store, settings, inputs)
    finished = Finished(
        run_id=summary.run_id,
        counts=summary.counts,
        failures=summary.failures,
        files=files,
        skipped=counts_of(skipped),
        probes=_judged_probes(plan, store, progress),
        prior_shifts=summary.prior_shifts,
        preparation=preparation(plan.units, progress.done),
    )
    store.write_json(MANIFEST, manifest_of(finished, settings, inputs, plan, progress.done))
    return True


def _judged_probes(plan: Plan, store: Store, progress: Progress) -> list[dict[str, Any]]:
    """Each trained probe, its data set and its errors, for the manifest."""
    return [
        {"probe": name, "dataset": plan.catalogues[fit.catalogue].name, **judgement(fit, store)}
        for name, fit in plan.probes.items()
        if fit.key in progress.done
    ]
