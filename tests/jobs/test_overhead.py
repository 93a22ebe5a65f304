"""What a unit costs besides its work; `tests.benchmarks.units` measures it with ten times as many units."""

import pytest

from .conftest import write_audit
from .no_op import run

pytestmark = [pytest.mark.system, pytest.mark.alone]

UNITS = 2_000
# Several times what a quiet machine takes: 1.5 ms, and 0.1 ms where it is done.
MOST_SECONDS_A_UNIT, MOST_SECONDS_A_CACHED_UNIT = 0.01, 0.001
# The driver holds a receipt and a line of the plan of each.
MOST_GROWN_BYTES = 100e6


@pytest.mark.usefixtures("cluster")
def test_units_cost_little_and_nothing_once_done(tmp_path):
    config = write_audit(tmp_path, runtime={})
    first = run(config, tmp_path / "run", UNITS, is_durable=False)
    assert (first["computed"], first["failed"]) == (UNITS, 0)
    assert first["seconds"] < MOST_SECONDS_A_UNIT * UNITS
    assert first["kept_bytes"] < MOST_GROWN_BYTES
    again = run(config, tmp_path / "run", UNITS, is_durable=False)
    assert (again["computed"], again["cached"]) == (0, UNITS)
    assert again["seconds"] < MOST_SECONDS_A_CACHED_UNIT * UNITS
