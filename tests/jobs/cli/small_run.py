"""A run's folder with a plan and receipts, for commands that read no tables."""

from __future__ import annotations

from pathlib import Path

from jobs.plan.plan_file import PLAN
from jobs.store import Receipt, Store, receipt_file

UNITS = 100


def write(folder: Path) -> Path:
    """All units but one are done, each in a second; the last is as long as planned, two seconds."""
    store = Store(str(folder), is_durable=False)
    titles = {f"{number:020d}": f"query {number}" for number in range(UNITS)}
    store.write_json(
        PLAN, [{"stage": "solve", "unit": key, "title": title, "seconds": 2.0} for key, title in titles.items()]
    )
    for key, title in list(titles.items())[:-1]:
        receipt = Receipt(stage="solve", key=key, title=title, files={}, seconds=1.0)
        store.write(receipt_file("solve", key), receipt.to_json().encode())
    return folder
