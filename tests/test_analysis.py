"""A whole analysis on small studies made by hand or by the generator."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lawsmith.analysis import (
    FitOptions,
    Target,
    analyse,
    compare_laws,
    isoflop_cells,
    rolling_cuts,
    surface_on_cuts,
)
from lawsmith.analysis.analyse import isoflop_levels
from lawsmith.analysis.compare import aicc
from lawsmith.datasets import ReadOptions, demo_study, study_from_frame
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import HYPERPARAMETER, LAWS, get_law
from lawsmith.laws.fit import fit_law
from lawsmith.laws.objective import LEAST_SQUARES_LOG

LC, CHINCHILLA = get_law("LC"), get_law("chinchilla")


def study(noise: float = 0.001, seed: int = 0, *, ratio: float | None = None):
    """6 sizes × 6 token counts × 5 learning rates with a bowl, or at a fixed D/N."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    N, D, lr = (
        v.ravel()
        for v in np.meshgrid(
            np.geomspace(5e7, 2e9, 6), np.geomspace(1e9, 1e11, 6), np.geomspace(1e-4, 1e-2, 5)
        )
    )
    if ratio is not None:
        D = ratio * N
    best = 3e-3 * (N / 1e8) ** -0.3 * (D / 1e10) ** 0.1
    loss = 1.8 + 400 * N**-0.34 + 410 * D**-0.28
    loss *= np.exp(0.01 * np.log(lr / best) ** 2 + noise * rng.standard_normal(N.size))
    frame = pd.DataFrame({"N": N, "D": D, "lr": lr, "loss": loss}).drop_duplicates(["N", "D", "lr"])
    return study_from_frame(frame, name="made")


def test_the_frontier_is_of_the_pool_and_the_score_of_the_rest() -> None:
    made = study()
    a = analyse(made, FitOptions(law=LC, hold_out=HeldOut.by_compute(0.5)))
    top = made.grid.C.max()
    assert np.all(made.grid.C[a.frontier] < 0.5 * top)
    assert np.all(made.grid.C[a.score.rows] >= 0.5 * top)
    assert a.score.rmse < 0.02


def test_predictions_at_a_compute_use_the_laws_own_optimum() -> None:
    a = analyse(study(), FitOptions(law=CHINCHILLA, targets=(Target(1e23),)))
    p = a.predictions[0]
    assert 6 * p.inputs["N"] * p.inputs["D"] == pytest.approx(1e23)
    assert p.allocation["N"].low < p.inputs["N"] < p.allocation["N"].high
    for factor in (0.8, 1.25):
        other = {"N": p.inputs["N"] * factor, "D": p.inputs["D"] / factor}
        assert a.fit.predict(other)[0] > p.loss
    assert p.decades == pytest.approx(np.log10(1e23 / a.study.grid.C.max()))


def test_a_pair_is_predicted_where_it_is_and_not_at_the_optimum() -> None:
    target = Target(6 * 7e9 * 1.4e11, N=7e9, D=1.4e11)
    a = analyse(study(), FitOptions(law=CHINCHILLA, targets=(target,)))
    assert a.predictions[0].inputs == {"N": 7e9, "D": 1.4e11}
    truth = 1.8 + 400 * 7e9**-0.34 + 410 * 1.4e11**-0.28
    assert a.predictions[0].loss == pytest.approx(truth, rel=0.02)


def test_selection_is_undone_where_there_was_some() -> None:
    made = study(noise=0.004)
    a = analyse(made, FitOptions(law=CHINCHILLA))
    assert "selection undone" in a.uncertainty.method
    assert a.uncertainty.noise_sd == pytest.approx(0.004, rel=0.35)
    assert a.uncertainty.shift < -0.0005
    assert "frontier_optimism" in {w.code for w in a.warnings}


def test_an_unselected_table_is_not_corrected() -> None:
    pd = pytest.importorskip("pandas")
    N, D = (v.ravel() for v in np.meshgrid(np.geomspace(5e7, 2e9, 5), np.geomspace(1e9, 1e11, 5)))
    rng = np.random.default_rng(0)
    loss = (1.8 + 400 * N**-0.34 + 410 * D**-0.28) * np.exp(0.002 * rng.standard_normal(25))
    made = study_from_frame(pd.DataFrame({"N": N, "D": D, "loss": loss}), name="plain")
    a = analyse(made, FitOptions(law=CHINCHILLA))
    assert a.uncertainty.shift == 0.0
    assert a.uncertainty.method.startswith("least squares")


def test_fixed_tokens_per_parameter_are_refused_unless_forced() -> None:
    made = study(ratio=20.0)
    with pytest.raises(LawsmithError, match=r"unidentifiable.*collinear_design.*--force"):
        analyse(made, FitOptions(law=CHINCHILLA))
    forced = analyse(made, FitOptions(law=CHINCHILLA, force=True))
    assert "collinear_design" in {w.code for w in forced.warnings}
    assert analyse(made, FitOptions(law=LC)).fit.n_points >= 3


def test_fixed_parameters_reach_the_fit_and_the_interval() -> None:
    made = study()
    pinned = analyse(made, FitOptions(law=CHINCHILLA, fixed={"E": 1.75}))
    assert pinned.fit.params["E"] == pytest.approx(1.75)
    low, high = pinned.uncertainty.params()["E"][1:]
    assert low == pytest.approx(1.75, rel=1e-9)
    assert high == pytest.approx(1.75, rel=1e-9)


def test_the_same_seed_gives_the_same_interval_and_another_nearly_so() -> None:
    made = study(noise=0.004)
    first, again, other = (
        analyse(made, FitOptions(law=LC, seed=seed)).uncertainty for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.cov, again.cov)
    assert not np.array_equal(first.cov, other.cov)
    np.testing.assert_allclose(first.phi, other.phi, atol=np.sqrt(np.diag(first.cov)).max())


def test_best_hyperparameters_follow_the_drift_that_was_put_in() -> None:
    laws = analyse(study(noise=1e-4), FitOptions(law=LC)).hyperparameters
    assert [law.axis for law in laws] == ["lr"]
    interval = laws[0].uncertainty.params()
    assert interval["a"].low < -0.3 < interval["a"].high
    assert interval["b"].low < 0.1 < interval["b"].high


def test_laws_are_ranked_on_compute_they_have_not_seen() -> None:
    ranking = compare_laws(study(), FitOptions(law=LC, hold_out=HeldOut.by_compute(0.5)))
    known = {"N", "D", "C"}
    assert {c.law.name for c in ranking} == {n for n, w in LAWS.items() if {*w.inputs} <= known}
    assert ranking[0].law.name in {"chinchilla", "skaling", "gadre"}
    assert ranking[-1].score is None or ranking[-1].score.rmse >= ranking[0].score.rmse
    collinear = compare_laws(study(ratio=20.0), FitOptions(law=LC))
    reasons = {c.law.name: c.reason for c in collinear}
    assert "unidentifiable" in reasons["chinchilla"]
    assert reasons["LC"] == ""


def test_one_level_of_compute_is_told() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"N": 1e8, "D": 1e9, "lr": [1e-3, 2e-3, 3e-3], "loss": [3.0, 2.9, 3.1]})
    with pytest.raises(LawsmithError, match="one level of C"):
        analyse(study_from_frame(frame, name="flat"), FitOptions(law=LC))


def test_all_runs_diverged_is_told() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"N": [1e8, 1e9], "D": 1e9, "loss": [np.nan, np.inf]})
    with pytest.raises(LawsmithError, match="no finished run"):
        analyse(study_from_frame(frame, name="lost"), FitOptions(law=LC))


def test_isoflop_levels_go_on_over_small_gaps_up_to_a_span() -> None:
    C = np.array([1.0, 1.03, 1.06, 2.0, 2.1, 3.0, 1.09])
    np.testing.assert_array_equal(isoflop_levels(C), [0, 0, 0, 1, 2, 3, 0])
    dense = isoflop_levels(np.geomspace(1.0, 4.0, 200))
    assert dense.max() >= 6  # an unbroken range is cut, not one level
    assert np.all(np.diff(dense) >= 0)


def test_isoflop_cells_are_the_best_of_each_n_and_d() -> None:
    made = study()
    loss = made.runs.config_loss(len(made.grid))
    rows, _ = isoflop_cells(made.grid, np.arange(len(made.grid)), loss)
    assert len(rows) == 36
    for row in rows:
        same = (made.grid.N[row] == made.grid.N) & (made.grid.D[row] == made.grid.D)
        assert loss[row] == loss[same].min()


def test_replicates_show_the_noise_themselves() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    base = study(noise=0.0)
    frame = pd.DataFrame({n: base.grid.columns[n] for n in ("N", "D", "lr")})
    frame["loss"] = base.runs.config_loss(len(base.grid))
    twice = pd.concat([frame, frame], ignore_index=True)
    twice["loss"] *= np.exp(0.003 * rng.standard_normal(len(twice)))
    a = analyse(study_from_frame(twice, name="twice"), FitOptions(law=CHINCHILLA))
    sd, dof = a.study.runs.replicate_sd()
    assert dof == 180
    assert sd == pytest.approx(0.003, rel=0.2)
    assert a.uncertainty.noise_sd <= sd


def test_the_demo_is_labelled_synthetic_and_reads_options() -> None:
    made = demo_study(options=ReadOptions(where="N > 1e8"))
    assert made.synthetic
    assert made.grid.N.min() > 1e8


def test_replicates_of_every_point_give_the_textbooks_test_of_lack_of_fit() -> None:
    """F = [Σ nᵢ(ȳᵢ − ŷᵢ)²/(m − p)] / [Σ(yᵢⱼ − ȳᵢ)²/Σ(nᵢ − 1)], as in Draper and Smith."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    C = np.repeat(np.geomspace(1e18, 1e22, 10), 3)
    bend = 0.01 * np.sin(np.log(C))
    loss = (1.6 + 900 * C**-0.15) * np.exp(bend + 0.002 * rng.standard_normal(C.size))
    made = study_from_frame(pd.DataFrame({"C": C, "loss": loss}), name="thrice")
    a = analyse(made, FitOptions(law=LC, objective=LEAST_SQUARES_LOG))
    y = np.log(loss).reshape(10, 3)
    pure = ((y - y.mean(axis=1, keepdims=True)) ** 2).sum() / 20
    rows = np.argsort(made.grid.C[a.frontier])
    lack = 3 * (a.fit.residuals[rows] ** 2).sum() / 7
    assert a.uncertainty.noise_dof == 20
    assert a.uncertainty.misfit == pytest.approx(lack / pure, rel=1e-3)
    (warning,) = [w for w in a.warnings if w.code == "lack_of_fit"]
    assert warning.numbers["F_limit"] == pytest.approx(stats.f.ppf(0.99, 7, 20))
    quiet = (1.6 + 900 * C**-0.15) * np.exp(0.002 * rng.standard_normal(C.size))
    calm = study_from_frame(pd.DataFrame({"C": C, "loss": quiet}), name="calm")
    assert "lack_of_fit" not in {w.code for w in analyse(calm, FitOptions(law=LC)).warnings}


def test_influence_is_not_silently_off_above_400_points() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    N, D = (v.ravel() for v in np.meshgrid(np.geomspace(1e7, 1e9, 21), np.geomspace(1e9, 1e11, 21)))
    loss = (1.8 + 400 * N**-0.34 + 410 * D**-0.28) * np.exp(0.001 * rng.standard_normal(N.size))
    made = study_from_frame(pd.DataFrame({"N": N, "D": D, "loss": loss}), name="many")
    a = analyse(made, FitOptions(law=CHINCHILLA, targets=(Target(1e22),)))
    assert a.fit.n_points == 441
    assert a.influence is not None
    assert a.influence.shift.shape == (441,)
    assert 0 < a.influence.n_refitted < 441


def test_akaikes_criterion_is_that_of_least_squares() -> None:
    """For a line in logs: the likelihood of normal errors, by scipy, with its k = p + 1."""
    rng = np.random.default_rng(6)
    x = rng.uniform(15, 25, (2, 12))
    y = 0.6 - 0.7 * x[0] + 0.3 * x[1] + 0.1 * rng.standard_normal(12)
    fit = fit_law(HYPERPARAMETER, {"N": np.exp(x[0]), "D": np.exp(x[1])}, np.exp(y))
    X = np.concatenate([np.ones((1, 12)), x]).T
    residual = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    sd = np.sqrt((residual**2).mean())
    aic = -2 * stats.norm.logpdf(residual, scale=sd).sum() + 2 * 4
    constant = 12 * (np.log(2 * np.pi) + 1)  # the same for every law, and left out
    assert aicc(fit) == pytest.approx(aic - constant + 2 * 4 * 5 / (12 - 4 - 1))
    few = fit_law(HYPERPARAMETER, {"N": np.exp(x[0, :5]), "D": np.exp(x[1, :5])}, np.exp(y[:5]))
    assert np.isnan(aicc(few))


def test_each_cut_is_a_fit_of_the_runs_below_it() -> None:
    made = study()
    options = FitOptions(law=LC, targets=(Target(1e23),))
    cuts = rolling_cuts(made, options)
    top = made.grid.C.max()
    assert len(cuts) == 3
    for cut, ratio in zip(cuts, (3, 8, 30), strict=True):
        assert made.grid.C[cut.pool].max() < top / ratio <= made.grid.C[cut.best].min()
    (found,) = compare_laws(made, options, (CHINCHILLA,))
    loss = made.runs.config_loss(len(made.grid))
    below = cuts[1].pool
    rows = below[frontier(made.grid.subset(below), loss[below], ("N", "D"))]
    alone = fit_law(CHINCHILLA, {"N": made.grid.N[rows], "D": made.grid.D[rows]}, loss[rows])
    judged = cuts[1].best
    want = alone.predict({"N": made.grid.N[judged], "D": made.grid.D[judged]})
    np.testing.assert_allclose(found.on_cuts[1].predicted, want, rtol=1e-9)
    np.testing.assert_array_equal(found.on_cuts[1].measured, loss[judged])
    assert len(found.score.measured) == sum(len(cut.best) for cut in cuts)


def test_the_surface_is_judged_on_the_same_runs_as_the_laws() -> None:
    made = study()
    options = FitOptions(law=LC, hold_out=HeldOut.by_compute(0.5))
    cuts = rolling_cuts(made, options)
    assert cuts[0].name == "0.5"
    for cut, runs in zip(cuts, surface_on_cuts(made, cuts, 0.95), strict=True):
        np.testing.assert_array_equal(runs.rows, cut.best)
        np.testing.assert_array_equal(
            runs.measured, made.runs.config_loss(len(made.grid))[cut.best]
        )
        assert runs.rms_error < 0.02


def test_a_lower_loss_of_a_smaller_run_is_told() -> None:
    made = study(noise=0.0)
    loss = made.runs.config_loss(len(made.grid))
    fixed = {"E": float(np.nanmin(loss)) + 0.05}
    targets = (Target(1e24), Target(6 * 4e9 * 2e11, 4e9, 2e11))
    a = analyse(made, FitOptions(law=CHINCHILLA, targets=targets, fixed=fixed))
    found = [w for w in a.warnings if w.code == "law_above_observed"]
    assert [w.numbers["reached"] for w in found] == pytest.approx([np.nanmin(loss)] * 2)
