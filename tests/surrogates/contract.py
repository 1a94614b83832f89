"""What every surrogate must do, as checks to be inherited.

A test class has a fixture ``make``: ``make(scale=…)`` is a new surrogate that owes nothing to
another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior, Surrogate
from tests.surrogates.studies import done, in_state, observed, small_grid, truth

Make = Callable[..., Surrogate]
MakeSurrogate = Callable[..., Surrogate | None]


def maker(make_surrogate: MakeSurrogate, name: str, kernel: str, priors: str) -> Make:
    """What makes surrogates of a name, kernel and priors with ``make_surrogate``."""

    def make(scale: str = "loss") -> Surrogate:
        surrogate = make_surrogate(name, kernel=kernel, priors=priors, scale=scale)
        assert surrogate is not None
        return surrogate

    return make


def assert_defined(posterior: Posterior, grid: Grid) -> None:
    assert posterior.mean.shape == posterior.sd.shape == (len(grid),)
    assert posterior.mean.dtype == posterior.sd.dtype == np.float64
    assert np.isfinite(posterior.mean).all()
    assert np.isfinite(posterior.sd).all()
    assert (posterior.sd >= 0.0).all()
    assert np.isfinite(posterior.best)


def assert_same(one: Posterior, other: Posterior) -> None:
    """The same to the last digit."""
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.sd, other.sd)
    assert (one.scale, one.best) == (other.scale, other.best)


def assert_close(one: Posterior, other: Posterior, tolerance: float) -> None:
    """Mean and deviation agree to ``tolerance`` times the spread of the mean."""
    atol = tolerance * float(np.ptp(other.mean))
    np.testing.assert_allclose(one.mean, other.mean, rtol=0.0, atol=atol)
    np.testing.assert_allclose(one.sd, other.sd, rtol=0.0, atol=atol)


class SurrogateContract:
    """The checks of every surrogate."""

    def test_a_posterior_covers_the_grid_with_finite_numbers(self, make):
        grid = small_grid()
        posterior = make().fit(grid, observed(grid, 16))
        assert_defined(posterior, grid)
        modelled = np.log if posterior.scale == "log" else np.asarray
        assert posterior.best == modelled(observed(grid, 16).loss.min())
        np.testing.assert_allclose(modelled(posterior.loss), posterior.mean, rtol=1e-12)

    def test_observed_rows_are_predicted_far_better_than_by_their_average(self, make):
        grid, runs = small_grid(), observed(small_grid(), 24)
        miss = make().fit(grid, runs).loss[runs.index] - runs.loss
        assert np.sqrt(np.mean(miss**2)) < 0.5 * np.std(runs.loss)

    def test_rows_that_were_not_observed_are_predicted_better_than_by_the_average(self, make):
        grid, runs = small_grid(), observed(small_grid(), 24)
        rest = np.setdiff1d(np.arange(len(grid)), runs.index)
        miss = make().fit(grid, runs).loss[rest] - truth(grid)[rest]
        assert np.sqrt(np.mean(miss**2)) < 0.7 * np.std(truth(grid)[rest])

    def test_a_fit_owes_nothing_to_the_fits_before_it(self, make):
        grid = small_grid()
        short, long, other = observed(grid, 9), observed(grid, 15), observed(grid, 12, seed=1)
        told = make()
        forth = [told.fit(grid, runs) for runs in (short, long, other)]
        back = [told.fit(grid, runs) for runs in (other, long, short)][::-1]
        for runs, one, another in zip((short, long, other), forth, back, strict=True):
            assert_same(one, another)
            assert_same(one, make().fit(grid, runs))

    def test_a_fit_changes_neither_the_grid_nor_the_runs(self, make):
        grid = small_grid()
        runs = observed(grid, 12).append(in_state(State.PENDING, [40, 41]))
        before = [
            grid.unit(),
            grid.C.copy(),
            runs.index.copy(),
            runs.loss.copy(),
            runs.state.copy(),
        ]
        make().fit(grid, runs)
        after = [grid.unit(), grid.C, runs.index, runs.loss, runs.state]
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(one, other)

    def test_pending_runs_shrink_the_deviation_and_leave_the_mean(self, make):
        grid, runs = small_grid(), observed(small_grid(), 14)
        free = np.setdiff1d(np.arange(len(grid)), runs.index)
        before = make().fit(grid, runs)
        pending = free[np.argsort(before.sd[free])[-4:]]
        after = make().fit(grid, runs.append(in_state(State.PENDING, pending)))
        assert_defined(after, grid)
        np.testing.assert_allclose(after.mean, before.mean, rtol=1e-9)
        assert (after.sd[pending] < 0.95 * before.sd[pending]).all()
        assert (after.sd <= before.sd * (1.0 + 1e-9) + 1e-12).all()
        assert after.best == before.best

    def test_a_pending_replicate_of_an_observed_row_says_nothing(self, make):
        grid, runs = small_grid(), observed(small_grid(), 10)
        waiting = runs.append(in_state(State.PENDING, runs.index[:3]))
        assert_same(make().fit(grid, waiting), make().fit(grid, runs))

    def test_a_diverged_run_counts_as_the_worst_loss_seen_or_a_worse_one(self, make):
        grid, runs = small_grid(), observed(small_grid(), 12)
        row = np.setdiff1d(np.arange(len(grid)), runs.index)[:1]
        diverged = make().fit(grid, runs.append(in_state(State.DIVERGED, row)))
        assert_defined(diverged, grid)
        if make().name == "surface":  # which puts it in the tail, above any loss there could be
            assert diverged.mean[row] > make().fit(grid, runs).mean[row]
            return
        assert_same(diverged, make().fit(grid, runs.append(done(row, [runs.loss.max()]))))

    def test_a_failed_run_says_nothing(self, make):
        grid, runs = small_grid(), observed(small_grid(), 12)
        failed = in_state(State.FAILED, [int(np.setdiff1d(np.arange(len(grid)), runs.index)[0])])
        assert_same(make().fit(grid, runs.append(failed)), make().fit(grid, runs))

    def test_replicates_are_averaged(self, make):
        grid, runs = small_grid(), observed(small_grid(), 10)
        rows, loss = runs.index[:3], runs.loss[:3]
        apart = runs.append(done(rows, loss + 0.25)).append(done(rows, loss - 0.25))
        alike = runs.append(done(rows, loss)).append(done(rows, loss))
        one, other = make().fit(grid, apart), make().fit(grid, alike)
        assert one.best == pytest.approx(other.best)
        if make().name == "surface":  # to which it also matters how far apart they lie
            assert (one.noise > other.noise).all()
        else:
            assert_close(one, other, 1e-5)

    def test_only_diverged_runs_are_refused(self, make):
        if make().name == "surface":
            return  # it has a prior of studies: see test_surface.py
        with pytest.raises(LawsmithError, match="got only diverged runs, want at least one run"):
            make().fit(small_grid(), in_state(State.DIVERGED, [3, 4]))

    @pytest.mark.parametrize(
        "runs", [Runs.empty(), in_state(State.PENDING, [1]), in_state(State.FAILED, [2])]
    )
    def test_no_finished_run_is_refused(self, make, runs):
        if make().name == "surface":
            return  # it has a prior of studies: see test_surface.py
        with pytest.raises(LawsmithError, match="got no finished run, want at least one run"):
            make().fit(small_grid(), runs)

    def test_a_constant_loss_is_predicted_everywhere(self, make):
        grid = small_grid()
        posterior = make().fit(grid, done(np.arange(0, 48, 5), np.full(10, 2.71)))
        assert_defined(posterior, grid)
        if make().name == "surface":
            # It expects losses to fall with scale, and λ to matter; it gives that up only so far.
            off = np.abs(posterior.loss - 2.71)
            assert np.quantile(off, 0.95) < 0.02
            assert (off < 2.0 * 2.71 * posterior.sd).all()
            return
        np.testing.assert_allclose(posterior.loss, 2.71, atol=1e-3)

    def test_a_single_observation_is_predicted_at_its_row(self, make):
        grid = small_grid()
        posterior = make().fit(grid, done([17], [3.25]).append(in_state(State.PENDING, [20])))
        assert_defined(posterior, grid)
        assert posterior.loss[17] == pytest.approx(3.25, abs=1e-3)

    @pytest.mark.parametrize("k", [2, 3])
    def test_a_few_observations_are_enough(self, make, k):
        grid = small_grid()
        assert_defined(make().fit(grid, observed(grid, k)), grid)

    def test_every_row_may_be_observed(self, make):
        grid = small_grid()
        assert_defined(make().fit(grid, observed(grid, len(grid))), grid)

    def test_a_grid_of_one_row_is_defined(self, make):
        grid = small_grid().subset([5])
        posterior = make().fit(grid, done([0], [2.5]))
        assert_defined(posterior, grid)
        assert posterior.loss[0] == pytest.approx(2.5, abs=1e-3)

    @pytest.mark.parametrize("extra_axis", [{"wd": 0.1}, {"optimiser": "adamw"}, {"shrink": 0.0}])
    def test_an_axis_with_one_value_changes_nothing(self, make, extra_axis):
        plain, grid = small_grid(), small_grid(extra=extra_axis)
        runs = observed(plain, 14)
        posterior = make().fit(grid, runs)
        assert_defined(posterior, grid)
        assert_close(posterior, make().fit(plain, runs), 1e-4)

    def test_a_categorical_axis_is_learnt(self, make):
        plain = small_grid()
        columns = {n: np.tile(plain.columns[n], 2) for n in plain.names}
        optimiser = np.repeat(["adamw", "muon"], len(plain))
        grid = Grid.from_columns({**columns, "optimiser": optimiser})
        loss = np.tile(truth(plain), 2) + np.where(optimiser == "muon", 0.0, 0.6)
        rows = np.random.default_rng(3).permutation(len(grid))[:40]
        posterior = make().fit(grid, done(rows, loss[rows]))
        assert_defined(posterior, grid)
        adamw, muon = posterior.loss[:48], posterior.loss[48:]
        assert 0.2 < np.mean(adamw - muon) < 0.9

    def test_on_the_log_scale_the_logarithm_is_what_is_modelled(self, make):
        grid, runs = small_grid(), observed(small_grid(), 14)
        logs = make("log").fit(grid, runs)
        assert logs.scale == "log"
        assert logs.best == np.log(runs.loss.min())
        if make("loss").fit(grid, runs).scale == "log":
            return  # it always models the logarithm
        plain = make("loss").fit(grid, done(runs.index, np.log(runs.loss)))
        np.testing.assert_array_equal(logs.mean, plain.mean)
        np.testing.assert_array_equal(logs.sd, plain.sd)
        np.testing.assert_array_equal(logs.loss, np.exp(logs.mean))

    @pytest.mark.parametrize("loss", [0.0, -0.5])
    def test_on_the_log_scale_a_loss_without_logarithm_is_refused(self, make, loss):
        grid, runs = small_grid(), observed(small_grid(), 6)
        with pytest.raises(LawsmithError, match="want losses above 0 for their logs"):
            make("log").fit(grid, runs.append(done([47], [loss])))

    def test_the_unit_of_an_axis_is_of_no_account(self, make):
        grid, millions = small_grid(), small_grid(unit_of_n=1e6)
        runs = observed(grid, 14)
        assert_close(make().fit(millions, runs), make().fit(grid, runs), 1e-5)

    def test_joint_draws_have_the_posterior_s_moments_or_are_refused(self, make):
        grid, runs = small_grid(), observed(small_grid(), 14)
        posterior = make().fit(grid, runs.append(in_state(State.PENDING, [40])))
        if posterior.sampler is None:
            with pytest.raises(LawsmithError, match="a surrogate without joint draws"):
                posterior.sample(4, np.random.default_rng(0))
            return
        draws = posterior.sample(4000, np.random.default_rng(0))
        assert draws.shape == (4000, len(grid))
        np.testing.assert_array_equal(
            draws[:, 3], posterior.sample(4000, np.random.default_rng(0))[:, 3]
        )
        known = posterior.sd > 1e-3 * posterior.sd.max()  # elsewhere jitter is all there is
        error = (draws.mean(axis=0) - posterior.mean)[known] / posterior.sd[known]
        assert np.abs(error).max() < 5.0 / np.sqrt(4000)
        np.testing.assert_allclose(draws.std(axis=0)[known], posterior.sd[known], rtol=0.06)
        spread = np.abs(draws.std(axis=0)[~known]).max(initial=0.0)
        assert spread < 0.01 * posterior.sd.max()


class ProcessContract:
    """The further checks of a Gaussian process."""

    @pytest.mark.parametrize(("shift", "factor"), [(-40.0, 1.0), (0.0, 1e-3), (7.0, 250.0)])
    def test_an_affine_change_of_the_loss_carries_through_a_process(self, make, shift, factor):
        grid, runs = small_grid(), observed(small_grid(), 14)
        plain = make().fit(grid, runs)
        changed = make().fit(grid, done(runs.index, shift + factor * runs.loss))
        scaled = Posterior(shift + factor * plain.mean, factor * plain.sd, "loss", changed.best)
        assert_close(changed, scaled, 1e-4)

    def test_a_process_is_surest_where_it_has_observed(self, make):
        grid, runs = small_grid(), observed(small_grid(), 14)
        sd = make().fit(grid, runs).sd
        rest = np.setdiff1d(np.arange(len(grid)), runs.index)
        assert sd[runs.index].mean() < sd[rest].mean()
