"""Write image_search.parquet and image_search_targets.csv: `python -m jobs.data.make_image_search SOURCE`.

SOURCE is a table with the columns search_term, order, image_gender and bls_p_women of the two files in data/public of
github.com/mjskay/gender-in-image-search, joined by occupation, Google's results alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parent


def main(source: str) -> None:
    """Write both files beside this one."""
    rows = pd.read_parquet(source).sort_values(["search_term", "order"])
    shown = pd.DataFrame(
        {
            "occupation": rows["search_term"].astype("category"),
            "rank": rows["order"].astype("int8"),
            "gender": rows["image_gender"].astype("category"),
        }
    )
    shown.to_parquet(FOLDER / "image_search.parquet", index=False, compression="zstd")
    women = rows.groupby("search_term")["bls_p_women"].first()
    lines = [
        f"{occupation},gender,{level},{share:.3f}\n"
        for occupation, of_women in women.items()
        for level, share in (("woman", of_women), ("man", 1 - of_women))
    ]
    (FOLDER / "image_search_targets.csv").write_text("query,attribute,level,share\n" + "".join(lines))


if __name__ == "__main__":
    main(sys.argv[1])
