"""The simplex method over cells has HiGHS's optima, from basis to basis, and gives way where rounding spoils one."""

import numpy as np
import pytest

from mprlib import Problem, sweep
from mprlib.cells import cells_of
from mprlib.optimisers import cell_programme, programmes
from mprlib.optimisers.ball_line import PathLost
from mprlib.optimisers.cell_pool import CellPool, cell_pool_of
from mprlib.optimisers.cell_programme import CellProgramme, Vertex
from mprlib.optimisers.programmes import over_all_items, programme_of
from mprlib.optimisers.relaxation import centred_cut, similarity_bound

SEEDS = range(40)


def pool_of(seed: int) -> tuple[CellPool, np.ndarray, np.random.Generator]:
    """A random pool, a third of them with many equal scores; the reference's shares, and a generator."""
    random = np.random.default_rng(seed)
    n = int(random.integers(20, 300))
    codes = [random.integers(0, random.integers(2, 6), n) for _ in range(random.integers(1, 4))]
    labels = np.concatenate([np.eye(code.max() + 1)[code] for code in codes], axis=1)
    scores = random.random(n) + 0.3 * codes[0]
    k = int(random.integers(1, min(n, 40)))
    problem = Problem(
        scores=np.round(scores, 1) if seed % 3 == 0 else scores, labels=labels, reference=labels[: n // 2 + 1], k=k
    )
    cells = cells_of(problem)
    return cell_pool_of(problem, cells), cells.reference_shares, random


def similarity_of(pool: CellPool, vertex: Vertex) -> float:
    """The similarity of its counts, of which rounding may bring some below 0."""
    return pool.fractional_similarity(np.clip(vertex.counts, 0.0, pool.capacity))


@pytest.mark.parametrize("seed", SEEDS)
def test_optima_are_those_of_highs_while_cuts_are_added_and_rho_falls(seed: int) -> None:
    pool, shares, random = pool_of(seed)
    own, other = CellProgramme(pool), over_all_items(pool, "highs", np.empty((0, pool.cell_count)))
    rho = 1.0
    for _ in range(20):
        for _ in range(random.integers(1, 3)):
            cut = centred_cut(random.standard_normal(pool.cell_count), shares, pool.k)
            own.add_cut(cut)
            other.add_cut(cut)
        rho *= random.uniform(0.6, 1.0)
        found, expected = own.maximised(rho), other.maximise_similarity(rho)
        assert (found is None) == (expected is None)
        if found is None or expected is None:
            return
        similarity = pool.fractional_similarity(found.counts)
        assert similarity == pytest.approx(pool.fractional_similarity(expected.counts), abs=1e-7)
        assert (own.cuts @ found.counts <= rho + 1e-8).all() and found.counts.sum() == pytest.approx(pool.k)
        bound = similarity_bound(pool, found.prices @ own.cuts, float(found.prices.sum()), rho)
        assert bound == pytest.approx(similarity, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_cuts_have_right_sides_of_their_own_and_penalties_are_no_more_than_what_is_lost(seed: int) -> None:
    pool, shares, random = pool_of(seed)
    own, other = CellProgramme(pool), over_all_items(pool, "highs", np.empty((0, pool.cell_count)))
    cuts = [centred_cut(random.standard_normal(pool.cell_count), shares, pool.k) for _ in range(8)]
    right = random.uniform(0.3, 1.0, 8)
    for cut, limit in zip(cuts, right):
        own.add_cut(cut)
        other.add_cut(cut / limit)
    found, expected = own.under(right), other.maximise_similarity(1.0)
    assert found.is_infeasible == (expected is None)
    assert found.price == pytest.approx(found.prices @ own.cuts, abs=1e-12)
    if expected is None:
        assert found.bound < 0
        return
    similarity = similarity_of(pool, found)
    assert found.bound == pytest.approx(similarity, abs=1e-9)
    assert similarity == pytest.approx(pool.fractional_similarity(expected.counts), abs=1e-7)
    for way, penalties in enumerate(own.penalties(found.counts, 1e-6)):
        for cell in np.flatnonzero(penalties >= 0)[:4]:
            # One more cut asks for the whole number.
            asked, sign = CellProgramme(pool), 1.0 - 2.0 * way
            for cut in (*cuts, sign * np.eye(pool.cell_count)[cell]):
                asked.add_cut(cut)
            part = asked.under(np.append(right, sign * (np.floor(found.counts[cell]) + way)))
            lost = np.inf if part.is_infeasible else similarity - similarity_of(pool, part)
            assert penalties[cell] <= lost + 1e-7


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_cuts_without_a_price_can_be_dropped(seed: int) -> None:
    pool, shares, random = pool_of(seed)
    programme = CellProgramme(pool)
    for rho in np.linspace(1.0, 0.5, 12):
        for _ in range(12):
            programme.add_cut(centred_cut(random.standard_normal(pool.cell_count), shares, pool.k))
        before = programme.maximised(rho)
        if before is None:
            return
        kept = np.flatnonzero(programme.is_needed())
        assert set(np.flatnonzero(before.prices)) <= set(kept)
        programme.keep(kept.tolist())
        after = programme.maximised(rho)
        assert after is not None
        assert after.counts.tolist() == before.counts.tolist()
        assert after.prices.tolist() == before.prices[kept].tolist()


@pytest.mark.parametrize("seed", SEEDS[:6])
def test_an_inverse_is_the_same_after_exchanges_as_anew(seed: int) -> None:
    """Cells and cuts in random order; those of one kind enter while those of either kind leave."""
    from mprlib.optimisers import basis_kernel, basis_update_kernel, simplex_kernel

    random = np.random.default_rng(seed)
    cells, rows = 12, 20
    cuts = basis_kernel.Cut(random.standard_normal((rows, cells)), np.zeros(rows), np.ones(rows))
    basis = basis_kernel.Basis(
        taken=np.zeros(cells, np.int64),
        free=np.zeros(cells + 1, np.int64),
        tight=np.zeros(cells + 1, np.int64),
        is_tight=np.zeros(rows, np.int64),
        number=np.array([1, 0, -1]),
        inverse=np.empty((cells + 2, cells + 2)),
    )
    assert basis_kernel.invert(cuts, basis)
    sizes = set()
    for _ in range(60):
        size = int(basis.number[0])
        free, tight = basis.free[:size].tolist(), basis.tight[: size - 1].tolist()
        position, cut, cell, place = -1, -1, -1, -1
        if random.random() < 0.5 and size < cells:
            cell = int(random.choice(sorted(set(range(cells)) - set(free))))
        elif size > 1:
            place = int(random.integers(size - 1))
        else:
            continue
        if random.random() < 0.5:
            cut = int(random.choice(sorted(set(range(rows)) - set(tight))))
        else:
            position = int(random.integers(size))
        if basis_update_kernel.update_inverse(cuts, basis, position, cut, cell, place):
            basis.number[2] += 1
        else:
            basis.number[2] = -1
        simplex_kernel.exchange(basis, simplex_kernel.Leaving(position, cut, 1.0, 1.0), cell, 1, place)
        size = int(basis.number[0])
        updated, is_updated = basis.inverse[:size, :size].copy(), basis.number[2] > 0
        if not basis_kernel.invert(cuts, basis):
            return
        fresh = basis.inverse[:size, :size]
        assert not is_updated or np.abs(updated - fresh).max() <= 1e-6 * np.abs(fresh).max()
        sizes.add(size)
    assert max(sizes) > 3


def test_the_inverse_gets_room_as_cells_become_free(monkeypatch) -> None:
    pool, shares, random = pool_of(4)
    cuts = [centred_cut(random.standard_normal(pool.cell_count), shares, pool.k) for _ in range(12)]

    def similarity() -> float:
        programme = CellProgramme(pool)
        for cut in cuts:
            programme.add_cut(cut)
        found = programme.maximised(0.15)
        assert found is not None and np.count_nonzero(programme.is_needed()) > 2
        return pool.fractional_similarity(found.counts)

    expected = similarity()
    monkeypatch.setattr(cell_programme, "FIRST_FREE", 1)
    assert similarity() == pytest.approx(expected, abs=1e-9)


def test_the_order_of_equal_scores_decides_nothing_of_what_is_proven() -> None:
    labels = np.eye(3)[np.arange(60) % 3]
    problem = Problem(scores=np.ones(60), labels=labels, reference=labels[:40], k=10)
    for row in sweep(problem, "mopr", [0.0, 0.05, 0.1], "tree"):
        assert row.similarity == 1.0 and row.status in ("optimal", "infeasible")


def test_what_rounding_spoils_is_solved_by_highs(monkeypatch) -> None:
    pool, shares, random = pool_of(4)
    cuts = [centred_cut(random.standard_normal(pool.cell_count), shares, pool.k) for _ in range(6)]
    top = np.bincount(pool.cell[np.argsort(-pool.scores)[: pool.k]], minlength=pool.cell_count)

    def optimum() -> float:
        programme = programme_of(pool, "auto", top)
        for cut in cuts[:-1]:
            programme.add_cut(cut)
        programme.maximised(0.4)
        programme.add_cut(cuts[-1])
        found = programme.maximised(0.2)
        assert found is not None and programme.solved >= 2
        return pool.fractional_similarity(found.counts)

    def lost(self: CellProgramme, rho: float) -> None:
        raise PathLost

    own = optimum()
    monkeypatch.setattr(cell_programme.CellProgramme, "maximised", lost)
    assert optimum() == pytest.approx(own, abs=1e-7)


def test_steps_end(monkeypatch) -> None:
    monkeypatch.setattr(cell_programme, "LARGEST_STEPS_PER_PLACE", 0)
    pool, _, _ = pool_of(5)
    with pytest.raises(PathLost):
        CellProgramme(pool).maximised(1.0)
    assert programme_of(pool, "auto", np.zeros(pool.cell_count, int)).maximised(1.0) is not None


@pytest.mark.parametrize("solver", ["highs", "auto"])
def test_a_window_opens_until_it_holds_the_optimum(solver, monkeypatch) -> None:
    monkeypatch.setattr(programmes, "FIRST_MARGIN", 1)
    pool, _, _ = pool_of(7)
    programme = programme_of(pool, solver, np.zeros(pool.cell_count, int))
    found = programme.maximised(1.0)
    assert found is not None
    top = np.sort(pool.scores)[-pool.k :].sum()
    assert pool.fractional_similarity(found.counts) == pytest.approx(top, abs=1e-8)
