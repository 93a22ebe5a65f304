"""What a plan says of how well a reference of people knows the shares of groups."""

import json

import pytest
from scipy.stats import binomtest

from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.plan.reference_precision import ASKED, CONFIDENCE, reference_precisions
from tests.jobs.conftest import write_audit


def precisions(path):
    file = read_config(path)
    return list(reference_precisions(file.settings, prepare(file)[0]))


def test_the_error_is_that_of_the_widest_interval_of_all_groups(tmp_path):
    [found] = precisions(write_audit(tmp_path))
    # Two genders, three ages and their six pairs.
    assert (found.people, found.groups, found.is_weighted) == (120, 11, True)

    def widest(people):
        intervals = (
            binomtest(hits, people).proportion_ci(1 - (1 - CONFIDENCE) / found.groups, method="exact")
            for hits in (people // 2, people // 3, people // 10)
        )
        return max((one.high - one.low) / 2 for one in intervals)

    assert found.error == pytest.approx(widest(found.people))
    asked = found.people_asked
    assert widest(asked + asked % 2) <= ASKED + 1e-6 < widest(asked * 9 // 10)


def test_no_sample_no_error(tmp_path):
    assert not precisions(write_audit(tmp_path, reference={"kind": "balanced"}))
    assert not precisions(write_audit(tmp_path, reference={"kind": "population", "query_conditioned": True}))


def test_plan_says_so(tmp_path, capsys):
    path = write_audit(tmp_path)
    assert main(["plan", str(path)]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  precision")]
    assert "population: 120 people (by their weights they count as fewer) tell the shares of 11 groups to" in line
    assert main(["plan", str(path), "--json"]) == 0
    [found] = json.loads(capsys.readouterr().out)["reference_precision"]
    assert found["text"] in line and found["people"] == 120
