"""All units of a small audit, run in this process and in the plan's order."""

import numpy as np

from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.stages.execute import commit, execute
from jobs.store import Store

from .conftest import DIMENSION, write_audit


class WordEncoder:
    """A vector drawn from each text's letters: the same for the same text."""

    def encode(self, texts):
        drawn = [np.random.default_rng(list(text.encode())).standard_normal(DIMENSION) for text in texts]
        return np.stack(drawn).astype(np.float32)

    def encode_behind(self, texts, tokens):
        return self.encode(texts) + tokens.sum(axis=0)


def run_units(folder, **changes):
    """Plan and store of a small audit with every unit done."""
    return run_plan(write_audit(folder, **changes))


def run_plan(path, encoder=None):
    """Plan and store of a configuration file with every unit done; the store lies beside it."""
    _, plan = prepare(read_config(path))
    store = Store(str(path.parent / "run"))
    for unit in plan.units:
        if unit.key in plan.made:
            commit(unit, store, plan.made[unit.key](), 0.0)
        else:
            asked = encoder or (WordEncoder() if unit.stage in ("texts", "queries", "debiased") else None)
            assert execute(unit, store, lambda asked=asked: asked).message == "", unit.title
    return plan, store
