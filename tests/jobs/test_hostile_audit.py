"""An audit whose every text is markup, from its files to its page."""

import pandas as pd

from jobs.cli import main
from tests.jobs.conftest import people, settings, write_audit
from tests.jobs.report.hostile import CLOSING, MARKUP
from tests.jobs.report.test_build import Elements


def test_an_audit_of_markup_shows_text(tmp_path, capsys):
    table = people()
    table["person"] = [f"{MARKUP}{number}" for number in range(len(table))]
    table["gender"] = table["gender"].replace({"male": CLOSING, "female": f'"{MARKUP}'})
    table = table.rename(columns={"gender": MARKUP})
    block = settings()["dataset"]
    block |= {"name": CLOSING, "attributes": {MARKUP: {}, "age": {"bins": [30, 60]}}}
    path = write_audit(
        tmp_path,
        table,
        queries=[MARKUP + CLOSING],
        name=MARKUP,
        dataset=block,
        reference={"name": f"everybody {MARKUP}"},
        methods=["top_k"],
    )
    assert main(["run", str(path), "--output", str(tmp_path / "run")]) == 0, capsys.readouterr().err
    assert MARKUP in pd.read_parquet(tmp_path / "run" / "groups")["group"].str.cat()
    pages = list((tmp_path / "run").rglob("*.html"))
    assert pages
    for page in pages:
        found = Elements(page.read_bytes()).found
        # Pictures of the page itself are data; what came from the tables would name `x`.
        assert not [one for one in found if one[0] == "img" and one[1].get("src") == "x"]
        assert not [one for one in found if any(name.startswith("on") for name in one[1])]
        assert b"<script>window.hacked" not in page.read_bytes()
