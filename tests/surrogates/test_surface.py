"""The surface as a surrogate: dense algebra, what a run really takes off, and purity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.surface.data import Observed
from lawsmith.surface.frame import Points
from lawsmith.surface.member import Member
from lawsmith.surface.tail import compress
from lawsmith.surrogates.aim import TAILS
from lawsmith.surrogates.base import Aim, Posterior
from lawsmith.surrogates.gp import GP
from lawsmith.surrogates.surface import REFITS, FittedSurface, SurfaceModel
from tests.surrogates.contract import assert_defined, assert_same
from tests.surrogates.studies import done, in_state, observed, small_grid, truth
from tests.surrogates.test_gp import make_grid, make_loss
from tests.synthetic import synthetic_study

TARGET = 1e22  # a thousand times the largest compute of the small grid


def noisy(grid: Grid, k: int, seed: int = 0) -> Runs:
    """``k`` runs on distinct rows, with 0.2 % of noise."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(grid))[:k]
    return done(rows, truth(grid)[rows] * np.exp(0.002 * rng.standard_normal(k)))


def fitted(model: SurfaceModel, grid: Grid, runs: Runs) -> tuple[Posterior, FittedSurface]:
    """The posterior and what the model remembers of it."""
    posterior = model.fit(grid, runs)
    return posterior, model._memory[0]


def aim_of(posterior: Posterior, C: float = TARGET) -> Aim:
    assert posterior.aim is not None
    return posterior.aim(C)


# What is fitted when


@pytest.mark.parametrize(
    ("n", "last"),
    [
        *[(0, 0), (5, 0), (6, 6), (9, 9), (10, 10), (11, 10), (12, 12), (13, 12), (14, 14)],
        *[(15, 14), (16, 16), (18, 16), (19, 19), (21, 19), (22, 22), (25, 22), (26, 26), (30, 26)],
        *[(31, 31), (36, 31), (37, 37)],
    ],
)
def test_a_fit_is_made_at_each_count_at_first_and_then_at_every_fifth_more(n, last):
    # From 10 on: 12, 14, 16, 19, 22, 26, 31, 37 are each ⌊1.2 times the one before⌋.
    assert max(REFITS.points(n), default=0) == last


def test_refits_go_on_even_where_the_growth_is_less_than_a_run():
    every = replace(REFITS, first=2, every_until=3, growth=0.01)
    assert every.points(1) == []
    assert every.points(6) == [2, 3, 4, 5, 6]


# The posterior


def conditioned(member: Member, at: Points, rows: list[int], y: np.ndarray, noise: np.ndarray):
    """A member with more rows, each with a noise of its own, in one piece."""
    data, k = member.data, len(rows)
    grown = Observed(
        data.frame,
        Points(
            np.concatenate([data.points.S, at.S[rows]]),
            np.concatenate([data.points.U, at.U[rows]]),
            np.concatenate([data.points.G, at.G[rows]]),
            np.concatenate([data.points.c, at.c[rows]]),
        ),
        np.concatenate([data.y, y]),
        np.ones(len(data) + k),
        np.zeros(len(data) + k),
        np.zeros(len(data) + k),
        np.arange(len(data) + k),
    )
    whole = replace(member, data=grown, w=np.ones(len(grown)))
    whole.__dict__["noise"] = np.concatenate([member.noise, noise])
    return whole


def test_runs_taken_in_one_by_one_give_the_members_conditioned_at_once():
    grid = small_grid()
    runs, model = noisy(grid, 26), SurfaceModel(refits=replace(REFITS, every_until=16, growth=1.0))
    for n in range(16, 27):
        posterior, state = fitted(model, grid, done(runs.index[:n], runs.loss[:n]))
    assert len(state.fitted) == 16
    at, new = state.parts[0].prior.at, runs.index[16:].tolist()
    lost = np.zeros(26, dtype=bool)
    parts = []
    for j, member in enumerate(state.surface.members):
        y, extra = zip(
            *(
                (c[-1] for c in compress(at.S[runs.index[:n]], np.log(runs.loss[:n]), lost[:n]))
                for n in range(17, 27)
            ),
            strict=True,
        )
        noise = state.parts[j].noise[new] + np.array(extra)
        whole = conditioned(member, at, new, np.array(y), noise)
        parts.append(whole.mean_and_cov(at))
    weight = state.surface.weight
    means = np.stack([mean for mean, _ in parts])
    inner = np.stack([np.diag(cov) for _, cov in parts])
    mean = weight @ means
    variance = TAILS * (weight @ inner) + weight @ (means - mean) ** 2
    np.testing.assert_allclose(posterior.mean, mean, atol=1e-8)
    np.testing.assert_allclose(posterior.sd**2, variance, rtol=1e-6, atol=1e-8)


def test_a_fresh_model_gives_what_one_that_followed_the_history_gives():
    """Replicates, diverged and poor runs included, before the first fit and between fits."""
    grid, rng = small_grid(), np.random.default_rng(0)
    rows = rng.integers(len(grid), size=24)  # some of them twice or thrice
    loss = truth(grid)[rows] * np.exp(0.002 * rng.standard_normal(24))
    loss[[0, 1, 7, 15, 21]] = np.nan
    loss[[3, 11, 19, 22]] *= 1.5
    refits = replace(REFITS, every_until=8, growth=0.4)  # after 6, 7, 8, 11, 15 and 21 runs
    lived = SurfaceModel(refits=refits)
    for n in range(25):
        runs = Runs.from_losses(rows[:n], loss[:n])
        last, fresh = lived.fit(grid, runs), SurfaceModel(refits=refits).fit(grid, runs)
        assert_same(last, fresh)
        np.testing.assert_array_equal(last.noise, fresh.noise)
        np.testing.assert_array_equal(last.mistuned, fresh.mistuned)
        if n % 4 == 3:
            for one, other in zip(aim_of(last), aim_of(fresh), strict=True):
                np.testing.assert_array_equal(one, other)


def test_a_posterior_stays_what_it_is_when_its_model_goes_on():
    grid, runs = small_grid(), noisy(small_grid(), 24)
    model = SurfaceModel(refits=replace(REFITS, every_until=20, growth=1.0))
    early = model.fit(grid, done(runs.index[:22], runs.loss[:22]))
    drawn, aimed = early.sample(5, np.random.default_rng(0)), aim_of(early)
    model.fit(grid, runs)
    np.testing.assert_array_equal(early.sample(5, np.random.default_rng(0)), drawn)
    for one, other in zip(aim_of(early), aimed, strict=True):
        np.testing.assert_array_equal(one, other)


# What a run is worth


def after(state: FittedSurface, row: int, j: int, n: int = 1) -> None:
    """Take in ``n`` runs of a row in the jth member alone, at what is expected of them."""
    part = state.parts[j]
    y = float(part.mean[row])
    for _ in range(n):
        part.add_run(row, y, part.noise[row])


def one_member(grid: Grid, runs: Runs) -> tuple[SurfaceModel, Posterior, FittedSurface]:
    """A model whose surface has one member only, so that the closed form is exact."""
    model = SurfaceModel(refits=replace(REFITS, every_until=len(runs), growth=1.0))
    state = fitted(model, grid, runs)[1]
    best = int(np.argmax(state.surface.weight))
    state.surface = replace(
        state.surface, members=(state.surface.members[best],), weight=np.ones(1)
    )
    state.parts = [state.parts[best]]
    return model, model.fit(grid, runs), state


@pytest.mark.parametrize("k", [12, 24])
def test_what_a_run_takes_off_the_variance_of_the_answer_is_covariance_squared(k):
    grid, runs = small_grid(), noisy(small_grid(), k)
    free = np.setdiff1d(np.arange(len(grid)), runs.index)
    for row in free[::5].tolist():
        model, posterior, state = one_member(grid, runs)
        before = aim_of(posterior)
        after(state, row, 0)
        now = aim_of(model.fit(grid, runs))
        # The model's own variance of a run; TAILS is a factor of what is known, not of noise.
        of_run = posterior.sd[row] ** 2 / TAILS + state.parts[0].noise[row]
        off = before.covariance[:, row] ** 2 / TAILS / of_run
        np.testing.assert_allclose(before.variance - now.variance, off, rtol=1e-5, atol=1e-10)
        lost = before.tuning[row] / TAILS / of_run
        assert before.regret - now.regret == pytest.approx(lost, rel=1e-5, abs=1e-10)
        # Knowing more of one place never makes another less certain.
        assert (now.variance <= before.variance).all()


def test_the_gain_is_what_one_run_takes_off_the_sd_and_the_regret_where_it_tells_little():
    grid, runs = small_grid(), noisy(small_grid(), 24)
    model, posterior, state = one_member(grid, runs)
    state.parts[0].noise[:] = 1.0  # a run that tells nearly nothing: the first order is exact
    posterior = model.fit(grid, runs)
    before = aim_of(posterior)
    gain = before.gain(posterior.sd**2 / TAILS + 1.0) / TAILS
    for row in np.setdiff1d(np.arange(len(grid)), runs.index)[::6].tolist():
        model, _, state = one_member(grid, runs)
        state.parts[0].noise[:] = 1.0
        after(state, row, 0)
        now = aim_of(model.fit(grid, runs))
        taken = before.sd - now.sd + before.regret - now.regret
        assert gain[row] == pytest.approx(taken, rel=0.02)


def test_covariance_with_the_answer_is_that_of_joint_draws():
    """Members and all: draws of a row and of the best place, each from one member."""
    grid, runs = small_grid(), noisy(small_grid(), 12)
    posterior, state = fitted(SurfaceModel(), grid, runs)
    aim, rng, n = aim_of(posterior), np.random.default_rng(0), 40_000
    row, place = 40, int(np.argmax(aim.chance))
    counts = rng.multinomial(n, state.surface.weight)
    drawn = []
    for j, member in enumerate(state.surface.members):
        there = state.places[TARGET].points[j].take(np.array([place]))
        here = state.parts[j].prior.at.take(np.array([row]))
        both = Points(*(np.concatenate([getattr(p, f) for p in (here, there)]) for f in "SUGc"))
        mean, cov = member.mean_and_cov(both)
        drawn.append(rng.multivariate_normal(mean, TAILS * cov, size=counts[j]))
    found = np.cov(np.concatenate(drawn).T)
    sd = np.sqrt(found[0, 0] * found[1, 1])
    assert aim.covariance[place, row] == pytest.approx(found[0, 1], abs=0.03 * sd)
    assert aim.variance[place] == pytest.approx(found[1, 1], rel=0.05)
    assert posterior.sd[row] ** 2 == pytest.approx(found[0, 0], rel=0.05)


def test_the_chances_of_places_are_a_distribution_and_every_gain_is_a_gain():
    grid, runs = small_grid(), noisy(small_grid(), 16)
    posterior = SurfaceModel().fit(grid, runs)
    aim = aim_of(posterior)
    assert aim.chance.sum() == pytest.approx(1.0)
    assert (aim.chance > 0.0).all()
    assert aim.sd > 0.0
    assert aim.regret > 0.0
    gain = aim.gain(posterior.run_variance)
    assert gain.shape == (len(grid),)
    assert (gain >= 0.0).all()
    assert gain.max() < aim.sd + aim.regret


def test_large_runs_tell_more_of_a_large_target():
    grid, runs = small_grid(), noisy(small_grid(), 16)
    posterior = SurfaceModel().fit(grid, runs)
    gain = aim_of(posterior).gain(posterior.run_variance)
    free = np.setdiff1d(np.arange(len(grid)), runs.index)
    large = grid.C[free] > np.median(grid.C)
    assert gain[free][large].mean() > 2.0 * gain[free][~large].mean()


# States of runs


def test_before_any_run_there_is_a_posterior_and_every_row_is_worth_something():
    grid = small_grid()
    posterior = SurfaceModel().fit(grid, Runs.empty())
    assert np.isfinite(posterior.mean).all()
    assert (posterior.sd > 0.1).all()
    assert np.isposinf(posterior.best)
    assert (aim_of(posterior).gain(posterior.run_variance) > 0.0).all()
    # What studies are like: the best loss falls with N and with D.
    middle = np.isclose(grid.column("lr"), 1e-3)
    loss = posterior.mean[middle].reshape(4, 3)
    assert (np.diff(loss, axis=0) < 0.0).all()
    assert (np.diff(loss, axis=1) < 0.0).all()


@pytest.mark.parametrize("state", [State.PENDING, State.FAILED])
def test_runs_without_a_result_leave_the_prior_s_mean(state):
    grid = small_grid()
    prior = SurfaceModel().fit(grid, Runs.empty())
    posterior = SurfaceModel().fit(grid, in_state(state, [1, 20]))
    np.testing.assert_array_equal(posterior.mean, prior.mean)
    if state is State.PENDING:
        assert (posterior.sd[[1, 20]] < 0.5 * prior.sd[[1, 20]]).all()
    else:
        np.testing.assert_array_equal(posterior.sd, prior.sd)


@pytest.mark.parametrize("n", [2, 8, 21])
def test_runs_that_only_diverged_leave_the_prior(n):
    grid = small_grid()
    posterior = SurfaceModel().fit(grid, in_state(State.DIVERGED, range(n)))
    assert_same(posterior, SurfaceModel().fit(grid, Runs.empty()))


@pytest.mark.parametrize("n", [1, 20])
def test_a_diverged_run_counts_also_when_the_first_loss_comes_after_it(n):
    """Its row is at the N and D of the run that did not diverge, at another lr."""
    grid, runs = small_grid(), done([21], truth(small_grid())[[21]])
    posterior = SurfaceModel().fit(grid, in_state(State.DIVERGED, [23] * n).append(runs))
    assert_defined(posterior, grid)
    assert posterior.mean[23] > SurfaceModel().fit(grid, runs).mean[23] + 0.01


def test_a_pending_run_takes_as_much_off_the_gain_of_others_as_a_finished_one():
    grid, runs = small_grid(), noisy(small_grid(), 16)
    free = np.setdiff1d(np.arange(len(grid)), runs.index)
    model = SurfaceModel(refits=replace(REFITS, every_until=16, growth=1.0))
    before = model.fit(grid, runs)
    row = int(free[np.argmax(aim_of(before).gain(before.run_variance)[free])])
    pending = model.fit(grid, runs.append(in_state(State.PENDING, [row])))
    known = model.fit(grid, runs.append(done([row], np.exp(before.mean[[row]]))))
    assert aim_of(pending).sd < aim_of(before).sd
    assert aim_of(pending).regret == pytest.approx(aim_of(known).regret, rel=1e-9)
    # A result tells which member is right as well, where they expect different ones.
    assert known.sd[row] <= pending.sd[row]
    others = np.arange(len(grid)) != row
    np.testing.assert_allclose(pending.sd[others], known.sd[others], rtol=0.05, atol=5e-4)


def test_a_run_of_the_same_point_under_another_name_can_be_taken_in():
    """A hyperparameter that follows N is left out: two rows that differ in it alone are one."""
    N = np.repeat(np.geomspace(1e7, 1e9, 8), 12)
    D = np.tile(np.repeat(np.geomspace(1e9, 1e11, 6), 2), 8)
    lr = 1e-3 * (N / 1e8) ** -0.5 * np.tile([0.95, 1.05], 48)
    grid = Grid.from_columns({"N": N, "D": D, "lr": lr})
    loss = 1.7 + 400.0 / N**0.34 + 410.0 / D**0.28
    first = np.random.default_rng(0).permutation(48)[:20] * 2 + np.tile([0, 1], 10)
    order = np.concatenate([first, first[:4] ^ 1])  # then the twins of the first four
    refits = replace(REFITS, every_until=20, growth=1.0)
    model = SurfaceModel(refits=refits)
    for n in (20, 21, 22, 24):
        runs = done(order[:n], loss[order[:n]])
        posterior, state = fitted(model, grid, runs)
        assert state.surface.frame.axes == ()
        assert_same(posterior, SurfaceModel(refits=refits).fit(grid, runs))


# Kinds of grid


def lines(names: tuple[str, ...], *, lr: bool = True) -> tuple[Grid, np.ndarray]:
    """A grid over some scales, and its losses."""
    n = 8
    scale = np.geomspace(1.0, 1e3, n)
    every = {"N": 1e7 * scale, "D": 1e9 * scale, "C": 6e16 * scale**2}
    rates = np.array([3e-4, 1e-3, 3e-3]) if lr else np.ones(1)
    columns = {name: np.repeat(every[name], len(rates)) for name in names}
    if lr:
        columns["lr"] = np.tile(rates, n)
    compute = "C" if names == ("C",) else "6ND" if len(names) == 2 else names[0]
    bowl = 0.02 * np.log(np.tile(rates, n) / 1e-3) ** 2 if lr else 0.0
    loss = (1.7 + 2.0 * np.repeat(scale, len(rates)) ** -0.3) * np.exp(bowl)
    return Grid.from_columns(columns, compute=compute), loss


@pytest.mark.parametrize("lr", [True, False])
@pytest.mark.parametrize("names", [("C",), ("N",), ("D",), ("N", "D")])
def test_one_scale_or_two_that_go_together_are_enough(names, lr):
    """N and D that go together are one scale, which is compute."""
    grid, loss = lines(names, lr=lr)
    rows = np.random.default_rng(0).permutation(len(grid))[: 12 if lr else 6]
    lived = SurfaceModel()
    for n in (0, 3, 6, len(rows)):
        runs = done(rows[:n], loss[rows[:n]])
        posterior, state = fitted(lived, grid, runs)
        assert state.surface.frame.s == 1
        assert_same(posterior, SurfaceModel().fit(grid, runs))
        aim = aim_of(posterior, 10.0 * float(grid.C.max()))
        assert len(aim.chance) == 1
        assert (aim.gain(posterior.run_variance) >= 0.0).all()
        assert (aim.regret > 0.0) == lr
    assert np.abs(posterior.mean - np.log(loss)).mean() < 0.02


def test_without_hyperparameters_nothing_is_lost_for_want_of_tuning():
    N, D = (v.ravel() for v in np.meshgrid(np.geomspace(1e7, 1e9, 5), np.geomspace(1e9, 1e11, 5)))
    grid = Grid.from_columns({"N": N, "D": D})
    loss = 1.7 + 400.0 / N**0.34 + 410.0 / D**0.28
    posterior = SurfaceModel().fit(grid, done(np.arange(0, 25, 2), loss[::2]))
    aim = aim_of(posterior)
    assert aim.regret == 0.0
    assert not aim.tuning.any()
    assert not np.any(posterior.mistuned)
    assert np.abs(posterior.mean - np.log(loss)).max() < 0.01


def test_a_category_that_no_run_has_had_is_uncertain_and_worth_a_run():
    grid = make_grid()
    loss = make_loss(grid, np.random.default_rng(0))
    adam = np.flatnonzero(grid.column("opt") == "adam")[::2]
    model = SurfaceModel()
    posterior = model.fit(grid, done(adam, loss[adam]))
    assert_defined(posterior, grid)
    sgd = grid.column("opt") == "sgd"
    assert posterior.sd[sgd].mean() > 2.0 * posterior.sd[~sgd].mean()
    one = np.flatnonzero(sgd)[::12]
    assert len(one) == 3
    told = model.fit(grid, done([*adam, *one], [*loss[adam], *loss[one]]))
    rest = np.setdiff1d(np.flatnonzero(sgd), one)
    off = np.abs(posterior.mean - np.log(loss))[rest].mean()
    assert np.abs(told.mean - np.log(loss))[rest].mean() < 0.5 * off


# What it is for


def scaled_study():
    """Runs of a Chinchilla surface with a bowl; the upper two decades of compute are not run."""
    axes = np.meshgrid(np.geomspace(1e7, 1e10, 7), np.geomspace(1e9, 1e12, 7), [1e-3, 3e-3, 1e-2])
    N, D, lr = (v.ravel() for v in axes)
    grid = Grid.from_columns({"N": N, "D": D, "lr": lr})
    bowl = 0.02 * (np.log(lr / 3e-3) + 0.2 * np.log(N / 1e8)) ** 2
    loss = np.exp(np.log(1.69 + 406.4 * N**-0.34 + 410.7 * D**-0.28) + bowl)
    noise = np.exp(0.001 * np.random.default_rng(4).standard_normal(len(N)))
    return grid, loss, loss * noise, np.flatnonzero(1e-2 * grid.C.max() > grid.C)


def test_it_extrapolates_two_decades_where_a_stationary_process_cannot():
    grid, true, loss, seen = scaled_study()
    above = 0.5 * grid.C.max() <= grid.C
    runs = Runs.from_losses(seen, loss[seen])
    ours = SurfaceModel().fit(grid, runs)
    plain = np.exp(GP(scale="log").fit(grid, runs).mean)
    error = np.abs(np.log(ours.loss / true))[above].max()
    assert error < 0.01
    assert error < np.abs(np.log(plain / true))[above].max()
    unseen = np.setdiff1d(np.arange(len(grid)), seen)
    z = (np.log(true) - ours.mean)[unseen] / ours.sd[unseen]
    assert np.sqrt(np.mean(z**2)) < 2.0


def test_a_diverged_run_at_a_new_size_does_not_raise_what_is_predicted_for_that_size():
    study = synthetic_study(1)
    grid, loss = study.grid, study.runs.config_loss(len(study.grid))
    top = np.isclose(grid.N, grid.N.max())
    seen = np.flatnonzero(~top & np.isfinite(loss))[::7]
    lost = np.flatnonzero(top & ~np.isfinite(loss))[:1]
    runs = Runs.from_losses(seen, loss[seen])
    before = SurfaceModel().fit(grid, runs)
    later = SurfaceModel().fit(grid, runs.append(Runs.from_losses(lost, [np.nan])))
    good = top & np.isfinite(loss)
    assert np.abs(later.mean - before.mean)[good].max() < 0.01
    assert np.abs(later.mean - np.log(loss))[good].mean() < 0.02


def test_poor_runs_do_not_set_the_scale():
    grid, rng = make_grid(), np.random.default_rng(6)
    loss = make_loss(grid, rng)
    poor = loss.copy()
    hit = rng.permutation(72)[:10]
    poor[hit] *= 3.0
    rest = np.setdiff1d(np.arange(72), hit)
    seen = np.concatenate([hit[:5], rest[:30]])
    ours = SurfaceModel().fit(grid, Runs.from_losses(seen, poor[seen])).mean
    plain = GP(scale="log").fit(grid, Runs.from_losses(seen, poor[seen])).mean
    unseen = rest[30:]
    error = np.abs(ours - np.log(loss))[unseen].mean()
    assert error < 0.5 * np.abs(plain - np.log(loss))[unseen].mean()


def test_the_loss_of_a_run_that_is_expected_to_be_poor_counts_as_that_of_a_poor_run_does():
    """Its variance is what compression gives a run of that height."""
    grid = make_grid()
    rows = np.random.default_rng(2).permutation(len(grid))[:40]
    loss = make_loss(grid, np.random.default_rng(3))
    _, posterior, state = one_member(grid, Runs.from_losses(rows, loss[rows]))
    part = state.parts[0]
    height = part.member.trend.height(part.member.anchor, part.prior.at)
    assert (height > 0.2).any()
    extra = posterior.run_variance - posterior.sd**2 - part.noise
    extra -= 2.0 * np.asarray(posterior.mistuned) ** 2
    for row in (int(np.argmax(height)), int(np.argmin(np.abs(height - 0.1)))):
        y = np.array([0.0, height[row]])
        told = compress(np.zeros((2, 2)), y, np.zeros(2, dtype=np.bool_))[1]
        assert extra[row] == pytest.approx(told[1])
    assert extra[height < 0.05] == pytest.approx(0.0, abs=1e-12)


def replicated(rng, *, rows, sigma, n_runs=3):
    """A grid, and the runs of some rows of it, each several times."""
    grid = make_grid()
    surface = np.log(make_loss(grid, np.random.default_rng(5)))
    index = np.repeat(rows, n_runs)
    y = surface[index] + sigma * rng.standard_normal(len(index))
    return grid, Runs.from_losses(index, np.exp(y))


@pytest.mark.parametrize("sigma", [0.001, 0.03])
def test_replicates_tell_the_noise_from_a_rough_surface(sigma):
    grid, runs = replicated(np.random.default_rng(12), rows=np.arange(0, 72, 3), sigma=sigma)
    known = SurfaceModel(refits=replace(REFITS, every_until=72)).fit(grid, runs)
    assert 0.4 * sigma < np.median(known.noise) < 1.5 * sigma


def test_the_order_of_replicates_does_not_matter_to_a_fit():
    rng = np.random.default_rng(14)
    grid, runs = replicated(rng, rows=np.arange(0, 72, 5), sigma=0.01)
    within = np.concatenate([3 * i + rng.permutation(3) for i in range(len(runs) // 3)])
    other = Runs(runs.index[within], runs.loss[within], runs.state[within])
    one, two = (
        SurfaceModel(refits=replace(REFITS, every_until=72)).fit(grid, r) for r in (runs, other)
    )
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_array_equal(one.noise, two.noise)


def test_observed_rows_and_their_replicates_are_told_apart_from_new_rows():
    """A second run of a row halves the variance of its noise and no more."""
    grid, runs = small_grid(), observed(small_grid(), 16)
    model = SurfaceModel(refits=replace(REFITS, every_until=16, growth=1.0))
    before = model.fit(grid, runs)
    again = model.fit(grid, runs.append(done(runs.index[:1], runs.loss[:1])))
    assert again.sd[runs.index[0]] <= before.sd[runs.index[0]]
    np.testing.assert_allclose(again.mean, before.mean, atol=2e-3)
