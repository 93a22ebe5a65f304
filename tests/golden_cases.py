"""The cases whose MPR was computed by the reference implementation of the paper's authors."""

import json
from pathlib import Path

import numpy as np

from mprlib import Problem

GOLDEN = json.loads((Path(__file__).parent / "golden" / "mpr_golden.json").read_text())
CASES = GOLDEN["cases"]


def golden_problem(case: dict) -> Problem:
    labels, reference = (_encoded(case, case[side]) for side in ("pool", "reference"))
    return Problem(scores=np.zeros(len(labels)), labels=labels, reference=reference, k=case["k"])


def _encoded(case: dict, side: dict) -> np.ndarray:
    gender, age = np.array(side["gender"]), np.array(side["age"])
    race = np.eye(case["races"])[np.array(side["race"])]
    if case["encoding"] == "full-one-hot":
        return np.column_stack([np.eye(2)[gender], np.eye(2)[age], race])
    paper = np.column_stack([gender, age, race]).astype(float)
    return paper if case["encoding"] == "paper" else 2.0 * paper - 1.0
