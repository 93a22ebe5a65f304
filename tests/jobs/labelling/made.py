"""A sample of made-up items, as a run would give it."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
from PIL import Image

from jobs.labelling.sample import Sample

LEVELS = {
    "gender": ("female", "male"),
    "age": ("under 10", "10 to under 20", "20 and over"),
}


def sample(count: int = 200, levels: dict[str, tuple[str, ...]] | None = None) -> Sample:
    """Items called i0, i1, ...; the third has a text that would run, were it markup."""
    generator = np.random.default_rng(0)
    asked = levels or LEVELS
    texts = [f"person {number}" if number % 2 else None for number in range(count)]
    texts[2] = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    columns = {"item_id": [f"i{number}" for number in range(count)], "text": texts}
    for name, own in asked.items():
        columns[f"attribute:{name}"] = generator.choice(own, count).tolist()
    return Sample(
        dataset="items",
        items=pa.table(columns),
        levels=asked,
        probabilities=generator.uniform(0.01, 1.0, count),
        times=generator.integers(0, 3, count),
        of=10_000,
        selections=4,
        ratio=1.5,
    )


def pictures(count: int = 200) -> list[bytes | None]:
    """A coloured picture of each item but every tenth."""
    data = io.BytesIO()
    Image.new("RGB", (224, 168), (180, 120, 90)).save(data, format="WEBP")
    return [None if number % 10 == 0 else data.getvalue() for number in range(count)]
