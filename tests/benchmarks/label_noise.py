"""Labels that are wrong now and then: how often intervals hold, and what a repair may claim.

    python -m tests.benchmarks.label_noise [--seeds 0 20] [--claims 5] [--cells 2 7 126] [--scores normal]
                                           [--keep FILE] [--table FILE ...]

Simulated audits (`tests.benchmarks.label_audits`). The first lines of each setting have how often 95% intervals hold
the truth: the true shares of single groups and of pairs, and MPR of the true labels under the linear class; for top-k
(corrected by the inverse) and for sets of `mopr` on the labels as they are (corrected by label and score). Widths stand
beside those of the intervals that ignore label errors. The last ones have how often `mopr` with a confusion claims a
true MPR of at most a part of top-k's, how often such a claim is kept (where 90% are stated), and the similarity beside
that of the repair which ignores errors, and of the one which sees true labels.

1,000 audits of every setting are `--seeds 0 1000`. `--keep` appends what each setting's audits have shown to a file;
run again, it leaves out what the file has. Two processes share the work by two ranges of seeds and two files, and
`--table` prints all files together. `--scores` has other noise of the scores than normal: skewed, heavy tails, bounded.

Repairs of FairFace's people are `python -m tests.benchmarks.label_repairs`.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import mprlib
from mprlib import Problem, Status
from mprlib.label_errors import corrected, corrected_groups
from tests.benchmarks.label_audits import LINEAR, MOPR, NOISES, Audit, Chosen, Setting, audited, settings
from tests.benchmarks.label_audits import chosen as chosen_set

# Bounds that are claimed, as parts of the MPR of top-k.
CLAIMED = (0.3, 0.6, 0.9)
# Sums over audits by kind of set and what is summed.
Sums = dict[str, dict[str, float]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """Whether an interval holds the truth, its width and that of the one which ignores label errors, and values."""

    is_held: float
    width: float
    naive_width: float
    truth: float
    value: float
    naive: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """Whether a bound is claimed, and then kept; similarity of the set, of that which ignores errors, and of that which
    sees true labels; differences from the first are of claimed ones alone."""

    is_stated: float
    is_kept: float
    naive_is_kept: float
    similarity: float
    naive_similarity: float
    oracle_similarity: float


def intervals(audit: Audit, seen: Problem) -> Iterator[tuple[str, Held]]:
    """By kind of set and of value."""
    for one in audit.chosen:
        yield from _held(audit, one, seen)


def _held(audit: Audit, chosen: Chosen, seen: Problem) -> Iterator[tuple[str, Held]]:
    found = corrected(seen, chosen.items, LINEAR, chosen_by=chosen.by)
    if found.low is None or found.high is None or found.value is None:
        return
    yield (
        f"{chosen.kind:6} linear",
        Held(
            is_held=found.low <= chosen.truth <= found.high,
            width=found.high - found.low,
            naive_width=audit.naive_width,
            truth=chosen.truth,
            value=found.value,
            naive=chosen.naive,
        ),
    )
    yield f"{chosen.kind:6} shares", _shares(chosen, seen)


def _shares(chosen: Chosen, seen: Problem) -> Held:
    """Shares of single levels and of pairs of them, all groups of an audit together."""
    shares = corrected_groups(seen, chosen.items, chosen_by=chosen.by)
    known = [(shares[name], truth, chosen.naive_shares.get(name, 0.0)) for name, truth in chosen.true_shares.items()]
    return Held(
        is_held=float(np.mean([one.low - 1e-9 <= truth <= one.high + 1e-9 for one, truth, _ in known])),
        width=float(np.mean([one.high - one.low for one, _, _ in known])),
        # A share of the labels as they are is taken for the truth.
        naive_width=0.0,
        truth=float(np.mean([truth for _, truth, _ in known])),
        value=float(np.mean([one.share for one, _, _ in known])),
        naive=float(np.mean([one for _, _, one in known])),
    )


def claims(audit: Audit, seen: Problem) -> Iterator[tuple[str, Claim | Held]]:
    """By the part of top-k's MPR that is claimed; and the intervals of these sets, which expected labels chose."""
    people = audit.people
    rhos = [part * audit.chosen[0].naive for part in CLAIMED]
    rows, naive, oracle = (mprlib.sweep(one, MOPR, rhos) for one in (seen, people.plain, people.truth))
    for part, rho, row, blind, best in zip(CLAIMED, rhos, rows, naive, oracle):
        is_stated = row.status == Status.FEASIBLE
        kept, blindly = (mprlib.measure(people.truth, one.items).value <= rho for one in (row, blind))
        found = Claim(
            is_stated=is_stated,
            is_kept=is_stated and kept,
            naive_is_kept=is_stated and blindly,
            similarity=is_stated * float(row.similarity or 0.0),
            naive_similarity=is_stated * float(blind.similarity or 0.0),
            oracle_similarity=is_stated * float(best.similarity or 0.0),
        )
        yield f"rho {part:.1f} of top-k's", found
        yield from _held(audit, chosen_set(people, f"at {part:.1f}", row.items, "expected"), seen)


def coverage(setting: Setting, audits: int, first: int = 0, claimed: int = 0) -> Sums:
    """Sums over the audits of a setting."""
    return shared_coverage([setting], range(first, first + audits), claimed)[0]


def shared_coverage(rows: Sequence[Setting], seeds: range, claimed: int) -> list[Sums]:
    """Sums over audits of settings that share their people; of the first ones also what is claimed."""
    found: list[Sums] = [defaultdict(lambda: defaultdict(float)) for _ in rows]
    for seed in seeds:
        for setting, sums in zip(rows, found):
            audit = audited(setting, seed)
            seen = audit.people.seen(setting.hand_labels)
            told = claims(audit, seen) if seed < seeds.start + claimed else ()
            for key, one in chain(intervals(audit, seen), told):
                sums[key]["audits"] += 1
                for name, value in asdict(one).items():
                    sums[key][name] += float(value)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, default=[0, 20], metavar=("FIRST", "END"))
    parser.add_argument("--claims", type=int, default=5, help="audits of each setting whose claims are looked at")
    parser.add_argument("--cells", type=int, nargs="*", default=[2, 7, 126], choices=[2, 7, 126])
    parser.add_argument("--scores", nargs="*", default=["normal"], choices=list(NOISES))
    parser.add_argument("--keep", type=Path, help="file that what was found is appended to")
    parser.add_argument("--table", type=Path, nargs="*", help="print what these files hold")
    given = parser.parse_args()
    if given.table:
        for name, sums in _together(given.table).items():
            _print_setting(name, sums)
        return
    seeds = range(*given.seeds)
    print(f"{len(seeds)} audits a row; 95% intervals: how many hold the truth, their width beside the naive one's")
    done = _kept(given.keep)
    for rows in settings(given.cells, given.scores):
        if all((str(one), seeds.start, seeds.stop) in done for one in rows):
            continue
        with threadpool_limits(1):
            found = shared_coverage(rows, seeds, given.claims)
        for setting, sums in zip(rows, found):
            _print_setting(str(setting), sums)
            if given.keep:
                record = {"setting": str(setting), "seeds": [seeds.start, seeds.stop], "sums": sums}
                with given.keep.open("a") as file:
                    file.write(json.dumps(record) + "\n")


def _kept(path: Path | None) -> set[tuple[str, int, int]]:
    """Settings and seeds that a file holds."""
    if path is None or not path.exists():
        return set()
    return {(one["setting"], *one["seeds"]) for one in map(json.loads, path.read_text().splitlines())}


def _together(paths: Sequence[Path]) -> dict[str, Sums]:
    found: dict[str, Sums] = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    for line in chain.from_iterable(path.read_text().splitlines() for path in paths):
        record = json.loads(line)
        for key, sums in record["sums"].items():
            for name, value in sums.items():
                found[record["setting"]][key][name] += value
    return found


def _print_setting(name: str, found: Sums) -> None:
    print(name)
    for key, sums in found.items():
        audits = int(sums["audits"])
        mean = {field: value / audits for field, value in sums.items()}
        print(f"    {key:20} " + (_of_claims(sums) if "is_stated" in sums else _of_intervals(mean, audits)), flush=True)


def _of_intervals(mean: dict[str, float], audits: int) -> str:
    return (
        f"held {mean['is_held']:6.1%} of {audits}  width {mean['width']:.4f} beside {mean['naive_width']:.4f}  true "
        f"{mean['truth']:.4f} corrected {mean['value']:.4f} naive {mean['naive']:.4f}"
    )


def _of_claims(sums: dict[str, float]) -> str:
    stated = int(sums["is_stated"])
    if not stated:
        return f"stated 0 of {int(sums['audits'])}"
    similarity, naive, oracle = (sums[f"{name}similarity"] / stated for name in ("", "naive_", "oracle_"))
    return (
        f"stated {stated} of {int(sums['audits'])}, kept {sums['is_kept'] / stated:.0%}, by the naive sets "
        f"{sums['naive_is_kept'] / stated:.0%}; similarity {similarity:.4f}, naive {naive:.4f}, oracle {oracle:.4f}"
    )


if __name__ == "__main__":
    main()
