"""Files that a killed run left half written: no later run reads them, the next one removes them."""

import json

from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.run.lock import LOCK, Lock
from jobs.store import TEMPORARY, receipt_file

from .units_in_process import run_units


def test_the_next_run_removes_them(tmp_path, capsys):
    _, store = run_units(tmp_path)
    _, plan = prepare(read_config(tmp_path / "audit.yaml"))
    left = [f"units/pool/x/pool.parquet{TEMPORARY}1", f"results/part-00000.parquet{TEMPORARY}2", f"x{TEMPORARY}3"]
    for name in left:
        store.write(name, b"half")
    solve = plan.stages["solve"][0]
    store.delete(receipt_file(solve.stage, solve.key))
    arguments = ["run", str(tmp_path / "audit.yaml"), "--output", store.root]
    with Lock(store, "another", print):
        assert main(arguments) == 1
    assert all(store.exists(name) for name in left)
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["computed"] == 1
    assert not any(TEMPORARY in name for name in store.entries(""))
    assert not store.exists(LOCK)
