"""Rows that are inferred beside runs: as good as runs where they are sure, silent where not."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.surface import Inferred, fit

N = np.repeat(np.geomspace(1e8, 1e9, 5), 4)
D = np.tile(np.geomspace(4e9, 4e10, 4), 5)
MORE = {"N": np.geomspace(1.2e8, 9e8, 4), "D": np.full(4, 1e11)}
NONE = np.full(4, -1)


def loss(N, D):
    return 1.8 + 400.0 * N**-0.34 + 600.0 * D**-0.29


def runs(seed: int = 0):
    rng = np.random.default_rng(seed)
    return loss(N, D) * np.exp(1e-3 * rng.standard_normal(len(N)))


def inferred(cov, y=None, **more) -> Inferred:
    y = np.log(loss(**MORE)) if y is None else y
    told = {"trunk": NONE, "of_runs": np.full(len(N), -1), **more}
    return Inferred(MORE, {}, y, cov, **told)


def told(surface, N=5e8, D=1e11):
    return surface.at(N=N, D=D)


def test_rows_without_errors_count_as_runs_do():
    y = np.log(loss(**MORE))
    as_runs = fit(
        {"N": np.append(N, MORE["N"]), "D": np.append(D, MORE["D"])}, np.append(runs(), np.exp(y))
    )
    as_rows = fit({"N": N, "D": D}, runs(), inferred=inferred(np.zeros((4, 4))))
    a, b = told(as_runs), told(as_rows)
    assert b.loss == pytest.approx(a.loss, rel=1e-3)
    assert b.high / b.low == pytest.approx(a.high / a.low, rel=0.02)
    assert b.decades == pytest.approx(a.decades)  # the top of the data is that of both


def test_rows_that_know_nothing_change_nothing_inside_the_data():
    plain = told(fit({"N": N, "D": D}, runs()), D=2e10)
    vague = inferred(25.0 * np.eye(4), np.log(loss(**MORE)) + 0.3)
    with_rows = told(fit({"N": N, "D": D}, runs(), inferred=vague), D=2e10)
    assert with_rows.loss == pytest.approx(plain.loss, rel=2e-3)


def test_the_covariance_of_rows_is_part_of_the_posterior():
    B = 0.01 * np.random.default_rng(2).standard_normal((4, 4))
    surface = fit({"N": N, "D": D}, runs(), inferred=inferred(B @ B.T))
    for member in surface.members:
        y, F, offset = member.data.y, member.rows.F, member.rows.mean
        points, e = member.data.points, member.rows.e
        K = member.kernel.cross(member.eta, points, points, e, e)
        K = K + F @ F.T + np.diag(member.noise)
        last = slice(len(y) - 4, len(y))
        K[last, last] += B @ B.T
        at = surface.frame.points({"N": np.array([5e8]), "D": np.array([1e11])}, {})
        there = member.linearised(at)
        mean, f = there.mean, there.F
        cross = member.kernel.cross(member.eta, at, points, there.e, e)
        weight = np.linalg.solve(K, (cross + f @ F.T).T)
        assert member.mean(at) == pytest.approx(mean + weight.T @ (y - offset), abs=1e-9)


def test_what_is_particular_to_a_trunk_widens_what_is_said_of_other_sizes():
    """Four runs of each size are one trunk: the surface must not take them for four witnesses."""
    trunk = np.repeat(np.arange(5), 4)
    empty = {"N": np.empty(0), "D": np.empty(0)}
    shared = Inferred(empty, {}, np.empty(0), np.empty((0, 0)), np.arange(0), trunk)
    at, truth = {"N": 2.4e8, "D": 2e10}, loss(2.4e8, 2e10)
    plain, clustered = [], []
    for seed in range(1, 13):
        y = runs() * np.exp(np.repeat(0.01 * np.random.default_rng(seed).standard_normal(5), 4))
        plain.append(told(fit({"N": N, "D": D}, y), **at))
        clustered.append(told(fit({"N": N, "D": D}, y, inferred=shared), **at))
    wide = [np.array([np.log(t.high / t.low) for t in every]) for every in (plain, clustered)]
    assert wide[1][0] > wide[0][0]
    assert np.median(wide[1] / wide[0]) > 1.25
    held = [sum(t.low <= truth <= t.high for t in every) for every in (plain, clustered)]
    assert clustered[0].low <= truth <= clustered[0].high
    assert held[1] >= held[0] + 3
    # A trunk of another size is about as odd as these: 1 %, most of it its own.
    run = np.array([np.log(t.run_high / t.run_low) for t in clustered])
    assert np.sqrt(np.mean(run**2)) > 2 * 1.96 * 0.75**0.5 * 0.01


@pytest.mark.parametrize("shared", [0.0, 0.01])
def test_what_trunks_have_in_common_is_learnt_from_their_runs(shared):
    """Noise of 1 % in all: of each run, or of each trunk and 0.1 % of each run (medians)."""
    trunk = np.repeat(np.arange(10), 2)
    empty = {"N": np.empty(0), "D": np.empty(0)}
    of_runs = Inferred(empty, {}, np.empty(0), np.empty((0, 0)), np.arange(0), trunk)
    common, wider = [], []
    for seed in range(5, 12):
        own = np.random.default_rng(seed).standard_normal((2, len(N)))
        noise = 0.01 * own[0] if not shared else shared * own[0][trunk] + 0.001 * own[1]
        y = loss(N, D) * np.exp(noise)
        plain, clustered = (fit({"N": N, "D": D}, y, inferred=i) for i in (None, of_runs))
        best = clustered.members[int(np.argmax(clustered.weight))]
        common.append(best.data.trunks.common)
        wide, usual = (told(one, 2.4e8, 2e10) for one in (clustered, plain))
        wider.append(np.log(wide.high / wide.low) / np.log(usual.high / usual.low))
    assert np.median(common) >= 0.95 if shared else np.median(common) <= 0.5
    if not shared:
        assert np.median(wider) < 1.15


@pytest.mark.parametrize(
    ("n_lengths", "n_upper", "n_inferred", "upper"),
    [(4, 9, 24, False), (6, 13, 24, True), (6, 13, 4, False)],
    ids=["9 runs and 24 rows", "13 runs and 24 rows", "13 runs and 4 rows"],
)
def test_half_of_what_a_window_needs_may_be_inferred(n_lengths, n_upper, n_inferred, upper):
    """A window reaches a factor of ten below the largest run, and needs 20 rows."""
    N = np.repeat(np.geomspace(1e8, 1.2e9, 5), n_lengths)
    D = np.tile(np.geomspace(4e9, 4e10, n_lengths), 5)
    assert (0.1 * (N * D).max() < N * D).sum() == n_upper
    more = {"N": np.geomspace(3e8, 1e9, n_inferred), "D": np.geomspace(2e10, 4e10, n_inferred)}
    y, none = np.log(loss(**more)), np.full(n_inferred, -1)
    rows = Inferred(more, {}, y, 1e-6 * np.eye(n_inferred), none, np.full(len(N), -1))
    noisy = loss(N, D) * np.exp(1e-3 * np.random.default_rng(0).standard_normal(len(N)))
    members = fit({"N": N, "D": D}, noisy, inferred=rows).members
    assert upper == any(member.name.endswith("/10") for member in members)


def test_runs_on_one_line_and_rows_off_it_tell_N_and_D_apart():
    sizes = np.geomspace(1e8, 1e9, 8)
    line = {"N": sizes, "D": 20.0 * sizes}
    N = np.repeat(sizes, 3)
    more = {"N": N, "D": N * np.tile([40.0, 80.0, 160.0], 8)}
    y, none = np.log(loss(**more)), np.full(24, -1)
    rows = Inferred(more, {}, y, 1e-6 * np.eye(24), none, np.full(8, -1))
    alone, both = fit(line, loss(**line)), fit(line, loss(**line), inferred=rows)
    assert alone.frame.collinear
    assert not both.frame.collinear
    found = told(both, N=3e8, D=3e10)
    assert found.loss == pytest.approx(loss(3e8, 3e10), rel=2e-3)
