"""Computing a plan's missing units: stage by stage, each unit once the units that it reads are done."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from .. import interruption
from ..config.audit import Audit
from ..errors import RunError, UsageError, full_disk
from ..plan.inputs import Inputs
from ..plan.plan import Plan
from ..stages.embed import Embed
from ..stages.execute import commit
from ..stages.registry import needs_encoder
from ..stages.unit import EncodingUnit, Unit
from ..store import Receipt, Store
from .dispatch import Event, Events, UnitEnded
from .executor import Executor, Lazily
from .intermediate import remove_read
from .journal import Journal
from .skipped import expect_few_skipped


@dataclass(slots=True)
class Progress:
    """What became of each unit of a plan, by key. is_stopped: too many had failed to go on. cache_faults: why the cache
    was of no use to some."""

    done: dict[str, Receipt] = field(default_factory=dict)
    computed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    is_stopped: bool = False
    cache_faults: set[str] = field(default_factory=set)

    def counts(self) -> dict[str, int]:
        """Units computed, cached, failed and skipped."""
        return {
            "computed": len(self.computed),
            "cached": len(self.done) - len(self.computed),
            "failed": len(self.failed),
            "skipped": len(self.skipped),
        }


def compute(
    settings: Audit,
    inputs: Inputs,
    plan: Plan,
    store: Store,
    progress: Progress,
    journal: Journal,
    executor: Lazily,
) -> None:
    """Run every stage's missing units; units whose needs failed are skipped.

    Stops early once runtime.max_failures units have failed: what was not tried counts as skipped.
    Raises:  RunError when there is no room for results; UsageError for an encoder that its settings let nobody load.
    """
    _commit_what_was_read(plan, store, progress, journal)
    if len(progress.done) == len(plan.units):
        return
    expect_few_skipped(store, plan, progress.done)
    if executor.starting:
        journal.say(f"{settings.runtime.executor}_starting", executor.starting)
    interruption.check()
    entered = executor.entered()
    interruption.check()
    journal.begin(entered.cpus, entered.meters(settings.name))
    note = entered.encoder_note(None if inputs.item_encoder is None else inputs.item_encoder.loading)
    if note:
        journal.say("encoder_actors", note)
    for stages in _rounds(plan):
        _run_round(entered, stages, settings, inputs, plan, store, progress, journal)
        remove_read(store, plan, progress.done)
        if progress.is_stopped:
            break
        if Embed.stage in stages:
            expect_few_skipped(store, plan, progress.done)
    progress.skipped |= {unit.key for unit in plan.units} - set(progress.done) - set(progress.failed)


def _run_round(
    executor: Executor,
    stages: list[str],
    settings: Audit,
    inputs: Inputs,
    plan: Plan,
    store: Store,
    progress: Progress,
    journal: Journal,
) -> None:
    waiting: list[Unit] = []
    for stage in stages:
        units = plan.stages[stage]
        missing = [unit for unit in units if unit.key not in progress.done]
        computed = sum(unit.key in progress.computed for unit in units)
        journal.stage(stage, len(units), len(units) - len(missing) - computed, computed)
        waiting += missing
    # Units of a merge need others of their own stage: a tree is computed level by level.
    while able := [unit for unit in waiting if all(key in progress.done for key in unit.needs)]:
        with closing(_events(executor, inputs, able, store, lambda: progress.is_stopped)) as events:
            for event in events:
                _record(progress, event)
                journal.note(event)
                _warn_of_cache(progress, event, journal)
                if isinstance(event, UnitEnded) and event.outcome.is_disk_full:
                    raise RunError(full_disk(store.root))
                if isinstance(event, UnitEnded) and event.outcome.refused:
                    raise UsageError(event.outcome.refused)
                if settings.runtime.max_failures and len(progress.failed) >= settings.runtime.max_failures:
                    progress.is_stopped = True
        if progress.is_stopped:
            return
        tried = {unit.key for unit in able}
        waiting = [unit for unit in waiting if unit.key not in tried]


def _record(progress: Progress, event: Event) -> None:
    if not isinstance(event, UnitEnded):
        return
    if event.outcome.receipt is not None:
        progress.done[event.unit.key] = event.outcome.receipt
        progress.computed.add(event.unit.key)
    else:
        progress.failed[event.unit.key] = event.outcome.message


def _warn_of_cache(progress: Progress, event: Event, journal: Journal) -> None:
    """Say once what is wrong with the cache; units do without it."""
    fault = event.outcome.cache_fault if isinstance(event, UnitEnded) else ""
    if fault and not progress.cache_faults:
        journal.say("cache_fault", f"the cache: {fault}", "warning")
    if fault:
        progress.cache_faults.add(fault)


def _commit_what_was_read(plan: Plan, store: Store, progress: Progress, journal: Journal) -> None:
    """Units whose tables came with reading the inputs."""
    for unit in plan.units:
        interruption.check()
        if unit.key in plan.made and unit.key not in progress.done:
            started = time.perf_counter()
            progress.done[unit.key] = commit(unit, store, plan.made[unit.key](), 0.0)
            progress.computed.add(unit.key)
            journal.computed(unit, time.perf_counter() - started)


def _rounds(plan: Plan) -> list[list[str]]:
    """Stages in order; those that need an encoder together, so that its weights are loaded once."""
    rounds: list[list[str]] = []
    for stage in plan.stages:
        if needs_encoder(stage) and rounds and needs_encoder(rounds[-1][0]):
            rounds[-1].append(stage)
        else:
            rounds.append([stage])
    return rounds


def _events(
    executor: Executor, inputs: Inputs, units: Sequence[Unit], store: Store, is_enough: Callable[[], bool]
) -> Events:
    """What happens to units that need nothing of each other, until it is enough."""
    items, texts = inputs.item_encoder, inputs.text_encoder
    embed = [unit for unit in units if isinstance(unit, EncodingUnit) and unit.embeds_items]
    others = [unit for unit in units if isinstance(unit, EncodingUnit) and not unit.embeds_items]
    plain = [unit for unit in units if not isinstance(unit, EncodingUnit)]
    if inputs.cache is not None:
        # Two runs that begin together would go through the same shards in step, and both embed all of them.
        embed = random.SystemRandom().sample(embed, len(embed))
    # Where items have their vectors, only texts (queries, phrases) go through a model.
    yield from executor.run_tasks(plain if items is not None else [*plain, *embed], store, is_enough)
    if items is not None and items == texts:
        yield from executor.run_on_encoders([*embed, *others], store, items.loading, is_enough)
        return
    if items is not None:
        yield from executor.run_on_encoders(embed, store, items.loading, is_enough)
    if texts is not None:
        yield from executor.run_on_encoders(others, store, texts.loading, is_enough)
