"""Make the demo's data from the UCI Adult extract: `python -m jobs.data.make_census adult.parquet`.

Keeps people with a known occupation, a uniform draw of them (so sampling weights keep their
meaning), and spells the codes out so that a sentence encoder reads words.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

PEOPLE = 12_000
SEED = 20240711
TARGET = Path(__file__).with_name("census.parquet")

OCCUPATIONS = {
    "Adm-clerical": "administrative and clerical worker",
    "Armed-Forces": "member of the armed forces",
    "Craft-repair": "craft and repair worker",
    "Exec-managerial": "executive or manager",
    "Farming-fishing": "farming or fishing worker",
    "Handlers-cleaners": "handler or cleaner",
    "Machine-op-inspct": "machine operator or inspector",
    "Other-service": "service worker",
    "Priv-house-serv": "private household worker",
    "Prof-specialty": "professional specialist",
    "Protective-serv": "protective service worker",
    "Sales": "sales worker",
    "Tech-support": "technical support worker",
    "Transport-moving": "transport and moving worker",
}
WORKCLASSES = {
    "Private": "a private company",
    "Self-emp-not-inc": "their own business",
    "Self-emp-inc": "their own incorporated business",
    "Local-gov": "local government",
    "State-gov": "state government",
    "Federal-gov": "the federal government",
    "Without-pay": "no pay",
    "Never-worked": "no one yet",
}
RACES = {
    "White": "White",
    "Black": "Black",
    "Asian-Pac-Islander": "Asian or Pacific Islander",
    "Amer-Indian-Eskimo": "American Indian or Eskimo",
    "Other": "other race",
}
EDUCATIONS = {
    "HS-grad": "high school",
    "Some-college": "some college",
    "Assoc-voc": "vocational associate",
    "Assoc-acdm": "academic associate",
    "Prof-school": "professional school",
}


def make(source: pd.DataFrame) -> pd.DataFrame:
    """The demo's table of a full Adult extract."""
    known = source[source["occupation"].notna()]
    people = known.sample(PEOPLE, random_state=SEED).sort_index()
    return pd.DataFrame(
        {
            "person_id": [f"adult-{row:05d}" for row in people.index],
            "sex": people["sex"].str.lower().map({"male": "man", "female": "woman"}),
            "race": people["race"].map(RACES),
            "age": people["age"].astype("int16"),
            "occupation": people["occupation"].map(OCCUPATIONS),
            "workclass": people["workclass"].map(WORKCLASSES),
            "education": people["education"].map(lambda code: EDUCATIONS.get(code, code)),
            "country": people["country"].str.replace("-", " ", regex=False).fillna("an unknown country"),
            "weight": people["fnlwgt"].astype("int32"),
        }
    )


if __name__ == "__main__":
    table = make(pd.read_parquet(sys.argv[1]))
    table.to_parquet(TARGET, index=False, compression="zstd")
    print(f"{len(table)} people, {TARGET.stat().st_size} bytes")
