"""The outlook: two intervals, what closes them and what they must contain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.laws.catalogue import LC, get_law
from lawsmith.laws.fit import fit_law
from lawsmith.policies import make_policy
from lawsmith.replay import prepare
from lawsmith.runs import Runs
from lawsmith.surrogates import make_surrogate
from lawsmith.surrogates.base import Posterior
from lawsmith_paper.outlook import _plausibly_moved, _where, band, outlook, outlook_after
from tests.replay.test_answering import made_study
from tests.synthetic import synthetic_study

TARGET = 1e23


SURFACE = make_surrogate("surface")


def some_of(step: int, law: str = "LC", seed: int = 0, surrogate=SURFACE):
    """The outlook from every step-th run of a synthetic study, and the study."""
    study = synthetic_study(seed)
    loss = study.runs.config_loss(len(study.grid))
    rows = np.flatnonzero(np.isfinite(loss))[::step]
    runs = Runs.from_losses(rows, loss[rows])
    posterior = surrogate.fit(study.grid, runs)
    return outlook(study.grid, runs, posterior, get_law(law), [TARGET]), study


def law_of(study, loss, law="LC"):
    rows = frontier(study.grid, loss, get_law(law).inputs)
    inputs = {name: study.grid.numbers(name)[rows] for name in get_law(law).inputs}
    return fit_law(get_law(law), inputs, loss[rows])


@pytest.mark.parametrize("seed", range(4))
def test_the_law_of_the_whole_pool_and_that_of_the_noise_free_one_are_inside(seed):
    found, study = some_of(5, seed=seed)
    prediction = found.predictions[0]
    at = {"C": np.array([TARGET])}
    whole = law_of(study, study.runs.config_loss(len(study.grid))).predict(at)[0]
    assert prediction.pool.low <= whole <= prediction.pool.high
    without_noise = law_of(study, study.truth.loss).predict(at)[0]
    assert prediction.truth.low <= without_noise <= prediction.truth.high


def test_the_pools_interval_closes_as_the_pool_is_exhausted_and_the_truths_does_not():
    # By one process of all rows. The surface has members of the last decade of compute, which know
    # less of small runs the more there are of large ones.
    process = make_surrogate("gp", scale="log")
    widths = {}
    for step in (8, 3, 1):
        p = some_of(step, surrogate=process)[0].predictions[0]
        widths[step] = (p.pool.high - p.pool.low, p.truth.high - p.truth.low)
    assert widths[8][0] > widths[3][0] > widths[1][0]
    assert widths[1][0] < 1e-5
    assert widths[1][1] > 1e-3


def test_points_that_were_run_are_told_from_fantasized_ones():
    found, study = some_of(4)
    loss = study.runs.config_loss(len(study.grid))
    run = np.flatnonzero(np.isfinite(loss))[::4]
    np.testing.assert_array_equal(found.observed, np.isin(found.rows, run))
    assert 0 < found.observed.sum() < len(found.rows)
    np.testing.assert_allclose(found.fit.loss[found.observed], loss[found.rows[found.observed]])


def test_a_law_of_n_and_d_has_an_allocation_with_intervals():
    found, _ = some_of(4, "chinchilla")
    prediction = found.predictions[0]
    N, D = prediction.inputs["N"], prediction.inputs["D"]
    assert np.isclose(6 * N * D, TARGET)
    shares = prediction.allocation
    assert shares["N"].centre == pytest.approx(N)
    assert shares["D/N"].centre == pytest.approx(D / N)
    for interval in shares.values():
        assert interval.low < interval.high
    assert set(found.params) == {"E", "A", "alpha", "B", "beta"}


def test_a_wider_level_is_wider_and_the_seed_decides_all():
    study = synthetic_study()
    loss = study.runs.config_loss(len(study.grid))
    rows = np.flatnonzero(np.isfinite(loss))[::6]
    runs = Runs.from_losses(rows, loss[rows])
    posterior = make_surrogate("surface").fit(study.grid, runs)

    def ends(**options):
        truth = outlook(study.grid, runs, posterior, get_law("LC"), [TARGET], **options)
        return truth.predictions[0].truth

    narrow, wide = ends(level=0.5), ends(level=0.95)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert ends(seed=3) == ends(seed=3)
    assert ends(seed=3) != ends(seed=4)


def test_a_surer_surrogate_gives_narrower_intervals():
    study = synthetic_study()
    loss = study.runs.config_loss(len(study.grid))
    rows = np.flatnonzero(np.isfinite(loss))[::8]
    runs = Runs.from_losses(rows, loss[rows])
    posterior = make_surrogate("surface").fit(study.grid, runs)

    def surer(n, rng, at):
        return posterior.mean[at] + 0.1 * (posterior.sample(n, rng, at) - posterior.mean[at])

    sure = replace(posterior, sampler=surer, sd=0.1 * posterior.sd, noise=0.1 * posterior.noise)
    both = [
        outlook(study.grid, runs, p, get_law("LC"), [TARGET]).predictions[0].pool
        for p in (posterior, sure)
    ]
    assert both[1].high - both[1].low < 0.5 * (both[0].high - both[0].low)


def test_what_cannot_be_answered_is_said():
    found, study = some_of(6)
    with pytest.raises(LawsmithError, match=r"target: got 1e\+24, want 1e\+23"):
        found.at(1e24)
    flat = Posterior(np.zeros(len(study.grid)), np.ones(len(study.grid)), "log", 0.0)
    with pytest.raises(LawsmithError, match="frontier for LC: got 1 points, want at least 3"):
        outlook(study.grid, Runs.empty(), flat, get_law("LC"), [TARGET])


def test_a_law_without_a_trade_off_has_a_best_n_that_is_still_a_number():
    law = get_law("chinchilla")
    rows = {"alpha": [0.3, 1e-8, 0.3], "beta": [0.3, 0.3, 1e-8]}
    phi = np.array(
        [[0.5, 6.0, alpha, 6.0, beta] for alpha, beta in zip(*rows.values(), strict=True)]
    )
    assert [p.name for p in law.params] == ["E", "A", "alpha", "B", "beta"]
    _, shares = _where(law, phi[0], phi, TARGET, 0.95)
    for interval in shares.values():
        assert np.isfinite(interval).all()
        assert 0.0 < interval.low < interval.centre < interval.high


def test_no_plausible_law_expects_more_of_a_larger_run_than_a_smaller_one_reached():
    rng = np.random.default_rng(3)
    phi = np.tile(LC.phi({"E": 1.7, "A": 500.0, "alpha": -0.15}), (300, 1))
    root = np.diag([0.6, 2.0, 0.1])  # so wide that most draws rise, or lie far above every run
    beyond = LC.log_inputs({"C": [1e22]})
    moved = _plausibly_moved(LC, phi, root, 2, (beyond, np.log(2.2)), rng)
    value = np.exp(LC.form.value(moved, beyond)[:, 0])
    assert value.max() <= 2.2 * (1 + 1e-12)
    assert np.ptp(value) > 0.5
    again = _plausibly_moved(LC, phi, root, 2, (beyond, np.inf), np.random.default_rng(3))
    assert np.exp(LC.form.value(again, beyond)[:, 0]).max() > 10


def test_a_band_has_the_quantiles_of_the_draws():
    C = np.array([1e20, 1e22])
    phi = LC.phi({"E": 1.5, "A": 100.0, "alpha": -0.1})
    draws = phi + np.log(np.linspace(0.5, 1.5, 101))[:, None] * [1.0, 0.0, 0.0]
    fitted, low, high = band(LC, phi, draws, C, level=0.9)
    np.testing.assert_allclose(fitted, 1.5 + 100 * C**-0.1)
    # E is spread evenly over 0.75 … 2.25, so its 5 % and 95 % points are 0.825 and 2.175.
    np.testing.assert_allclose(low, 0.825 + 100 * C**-0.1)
    np.testing.assert_allclose(high, 2.175 + 100 * C**-0.1)


@pytest.fixture(scope="module")
def task():
    return prepare(made_study(), get_law("LC"))


def known(task, policy, rows):
    runs = Runs.from_losses(rows, task.loss[rows])
    return outlook_after(task, policy, runs, (TARGET,), seed=0) is not None


def test_nothing_is_known_before_there_is_a_design_a_law_and_a_surrogate(task):
    policy = make_policy("frontier", make_surrogate("surface"), n_init=6)
    cheap = np.argsort(task.pool.C, kind="stable")
    spread = np.unique(np.linspace(0, len(cheap) - 1, 30).astype(int))
    assert not known(task, policy, cheap[:5].tolist())
    assert known(task, policy, [*cheap[:6].tolist(), *cheap[spread[8:]].tolist()])
    assert not known(task, make_policy("full", None, n_init=6), cheap[:20].tolist())


def test_a_law_without_compute_has_no_prediction_at_one():
    task = prepare(made_study(), get_law("LD"))
    policy = make_policy("frontier", make_surrogate("surface"), n_init=6)
    rows = np.argsort(task.pool.C, kind="stable")[::2].tolist()
    runs = Runs.from_losses(rows, task.loss[rows])
    assert outlook_after(task, policy, runs, (TARGET,), seed=0) is None
    seen = outlook_after(task, policy, runs, (), seed=0)
    assert seen is not None
    assert seen.predictions == ()
