"""Drivers, workers, embedding actors and whole nodes killed at random moments; the same command finishes the work.

The seed of a failing case is in its name.
"""

from __future__ import annotations

import random
from collections import Counter

import pandas as pd
import pytest

from tests.jobs.conftest import write_audit

from .harness import Audit, TwoNodes, kill_driver, kill_worker, when

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def cluster():
    started = TwoNodes()
    yield started
    started.close()


@pytest.fixture(scope="module")
def undisturbed(cluster, tmp_path_factory):
    """The audit's file, its number of units, and the tables of a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("chaos")
    config = write_audit(
        folder,
        encoder={"kind": "sentence"},
        shard_items=10,
        methods=["top_k", {"mmr": {"points": 20}}],
        runtime={"encoder_actors": 2},
    )
    # Texts of their own, so that actors with a real encoder embed them.
    asked = ", ".join(f"q{number}" for number in range(10))
    text = config.read_text(encoding="utf-8").replace("vectors: queries.parquet", f"list: [{asked}]")
    config.write_text(text.replace("  id: person\n", "  id: person\n  text: '{person}, {job}'\n"), encoding="utf-8")
    audit = Audit(config, folder / "undisturbed", cluster)
    summary = audit.finish(audit.start())
    assert summary["failed"] == summary["cached"] == summary["skipped"] == 0
    return config, summary["computed"], audit.tables()


def kill_and_continue(undisturbed, cluster, output, seed: int) -> int:
    """Six kills on one folder, then a run to the end; how many hit."""
    config, total, expected = undisturbed
    chance = random.Random(seed)
    audit = Audit(config, output, cluster)
    committed: dict[str, int] = {}
    hits = 0

    def reached(target: int):
        return lambda: len(audit.receipts()) >= target

    # An actor while it embeds, then the driver.
    process = audit.start()
    hits += when(process, lambda: kill_worker(cluster, "ray::_EncoderActor", chance), lambda: None)
    hits += when(process, reached(chance.randint(3, total // 3)), lambda: kill_driver(process))
    committed |= audit.receipts()
    # A worker while it runs units, a node, then the driver.
    process = audit.start()
    is_time = reached(chance.randint(len(committed), total // 2))
    hits += when(process, lambda: is_time() and kill_worker(cluster, "ray::_execute", chance), lambda: None)
    hits += when(process, reached(chance.randint(len(committed), total // 2)), cluster.kill_second)
    hits += when(process, reached(chance.randint(total // 2, total * 3 // 4)), lambda: kill_driver(process))
    committed |= audit.receipts()
    cluster.replace_second()
    # The driver again, as late as the report; then nobody disturbs.
    process = audit.start()
    hits += when(process, reached(chance.randint(total * 3 // 4, total)), lambda: kill_driver(process))
    committed |= audit.receipts()
    summary = audit.finish(audit.start())
    assert (summary["failed"], summary["skipped"]) == (0, 0)
    assert summary["computed"] + summary["cached"] == total
    assert (output / "_SUCCESS").exists()
    # Nothing that was finished was computed again, nothing is missing, and nothing differs.
    after = audit.receipts()
    assert len(after) == total
    assert {name: after[name] for name in committed} == committed
    assert max(Counter(audit.logged("unit_done")).values()) == 1
    for found, wanted in zip(audit.tables(), expected):
        pd.testing.assert_frame_equal(found, wanted)
    return hits


def test_six_kills_change_nothing(undisturbed, cluster, tmp_path):
    assert kill_and_continue(undisturbed, cluster, tmp_path / "run", seed=1) == 6


@pytest.mark.parametrize("seed", [2, *(pytest.param(seed, marks=pytest.mark.full) for seed in (3, 4, 5))])
def test_kills_at_other_moments_change_nothing(undisturbed, cluster, tmp_path, seed):
    assert kill_and_continue(undisturbed, cluster, tmp_path / "run", seed) >= 5
