"""All units of a small audit, run in this process and in the plan's order."""

import numpy as np
import pyarrow as pa

from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.stages import commit, execute
from jobs.stages.embed import query_table
from jobs.stages.reading.vectors import to_column
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
    inputs, plan = prepare(read_config(path))
    store = Store(str(path.parent / "run"))
    for unit in plan.units:
        if unit.stage == "catalogue":
            commit(unit, store, {"items": plan.catalogues[unit.key].items}, 0.0)
        elif unit.stage == "queries" and inputs.query_vectors is not None:
            vectors = np.array(inputs.query_vectors["vector"].to_pylist(), dtype=np.float32)
            commit(unit, store, {"vectors": query_table(list(unit.spec["prompts"]), vectors)}, 0.0)
        elif unit.stage == "tokens":
            commit(unit, store, {"tokens": pa.table({"vector": to_column(plan.tokens[unit.key])})}, 0.0)
        else:
            asked = encoder or (WordEncoder() if unit.stage in ("texts", "queries", "debiased") else None)
            assert execute(unit, store, lambda asked=asked: asked).message == "", unit.title
    return plan, store
