"""FairFace's training labels as the reference of UTKFace's items, by the paper's race map."""

import numpy as np
import pandas as pd

from mprlib import Problem
from mprlib.encoding import Encoding
from tests.data_files import data_file

FAIRFACE, UTKFACE = data_file("fairface_labels.parquet"), data_file("utkface_labels.parquet")
HAS_LABELS = UTKFACE.exists()
UTKFACE_RACES = ("White", "Black", "Asian", "Indian", "Others")
# UTKFace knows five races, FairFace seven (the paper's appendix on data sets).
RACE_OF_FAIRFACE = {
    **{race: race for race in ("White", "Black", "Indian")},
    **dict.fromkeys(("East Asian", "Southeast Asian"), "Asian"),
    **dict.fromkeys(("Middle Eastern", "Latino_Hispanic"), "Others"),
}
OVER_49 = ("50-59", "60-69", "70+")


def fairface_rows() -> dict[str, list[str]]:
    table = pd.read_parquet(FAIRFACE)
    table = table[table["file"].str.startswith("train/")]
    ages = np.where(table["age"].isin(OVER_49), "50+", "<50").tolist()
    races = table["race"].map(RACE_OF_FAIRFACE).tolist()
    return {"gender": table["gender"].str.lower().tolist(), "age": ages, "race": races}


def utkface_rows() -> dict[str, list[str]]:
    table = pd.read_parquet(UTKFACE)
    return {
        "gender": np.where(table["gender"] == 1, "female", "male").tolist(),
        "age": np.where(table["age"] > 49, "50+", "<50").tolist(),
        "race": [UTKFACE_RACES[code] for code in table["race"]],
    }


def faces_problem(k: int = 50, seed: int = 0) -> Problem:
    pool, reference = utkface_rows(), fairface_rows()
    encoding = Encoding.of(pool, reference)
    labels = encoding.encode(pool)
    return Problem(
        scores=np.random.default_rng(seed).random(len(labels)),
        labels=labels,
        k=k,
        attributes=encoding.attributes,
        label_names=encoding.names,
        reference=encoding.encode(reference),
    )
