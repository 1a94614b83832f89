"""Losses that follow from other losses of the same runs, against drawn truths and plain algebra."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lawsmith
from lawsmith.answer.related import _features, fit_curve
from lawsmith.surface.frame import Points
from tests.answer.tables import law

TARGET = "N=5e9,D=1.8e11"


def code_law(N, D):
    """Another loss of the same runs: other numbers, the same form."""
    return 0.9 + 210.0 * N**-0.33 + 300.0 * D**-0.29


def study(seed: int, *, shared: float = 1.0) -> pd.DataFrame:
    """36 runs with two losses and noise of 1 %, a share of whose variance they have in common."""
    rng = np.random.default_rng(seed)
    sizes, tokens = np.meshgrid(np.geomspace(3e7, 1e9, 6), np.geomspace(1e9, 3e10, 6))
    N, D = sizes.ravel(), tokens.ravel()
    own = np.sqrt(1.0 - shared) * rng.standard_normal((2, len(N)))
    noise = np.exp(0.01 * (np.sqrt(shared) * rng.standard_normal(len(N)) + own))
    return pd.DataFrame(
        {"N": N, "D": D, "web": law(N, D) * noise[0], "code": code_law(N, D) * noise[1]}
    )


def lacking(table: pd.DataFrame) -> pd.Series:
    """The larger half of the runs."""
    return (table.N * table.D).median() < table.N * table.D


def hidden(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(code=table.code.where(~lacking(table)))


def code_answer(table: pd.DataFrame, **options):
    return lawsmith.fit_losses(table, ["web", "code"], TARGET, **options)["code"]


def off(answer) -> float:
    return abs(float(np.log(answer.forecasts[0].loss / code_law(5e9, 1.8e11))))


def test_a_loss_that_shares_its_noise_halves_the_error_and_the_interval_still_holds_the_truth():
    without, with_it, wide, narrow, held = [], [], [], [], 0
    for seed in range(6):
        table = study(seed)
        less = code_answer(table[~lacking(table)])
        more = code_answer(hidden(table))
        assert more.others.n_without == 18
        assert more.others.relations[0].name == "web"
        assert more.others.relations[0].n_rows == 18
        without.append(off(less))
        with_it.append(off(more))
        wide.append(less.forecasts[0].half_width)
        narrow.append(more.forecasts[0].half_width)
        held += more.forecasts[0].low <= code_law(5e9, 1.8e11) <= more.forecasts[0].high
    assert np.mean(with_it) < 0.6 * np.mean(without)
    assert np.mean(narrow) < 0.75 * np.mean(wide)  # 0.72
    assert held >= 5


def test_a_loss_that_says_nothing_of_another_is_not_used():
    table = hidden(study(1))
    rng = np.random.default_rng(7)
    table["web"] = 3.0 * (table.N * table.D / 1e17) ** -0.05 * np.exp(0.1 * rng.standard_normal(36))
    found = code_answer(table)
    assert found.others.relations == ()
    assert found.forecasts == code_answer(table[~lacking(table)]).forecasts
    assert "18 runs without this loss left out" in found.summary()


def test_a_run_that_lacks_one_loss_did_not_diverge_and_one_that_lacks_all_did():
    table = study(2)
    table.loc[3, ["web", "code"]] = np.nan
    table.loc[30:, "code"] = np.nan
    found = lawsmith.fit_losses(table, ["web", "code"], TARGET)
    assert (found["web"].n_diverged, found["code"].n_diverged) == (1, 1)
    assert (found["web"].n_runs, found["code"].n_runs) == (36, 30)
    assert found["web"].others is None
    assert found["code"].others.n_without == 6


def test_a_run_whose_state_says_diverged_is_not_inferred_from_its_other_loss():
    table = hidden(study(2)).assign(state="finished")
    table.loc[35, "state"] = "diverged"
    assert code_answer(table).others.n_without == 17


def test_held_out_runs_are_not_inferred():
    table = hidden(study(3))
    found = code_answer(table, hold_out="50%")
    assert found.others.n_without < 18
    assert found.largest <= 0.5 * (6 * table.N * table.D).max()


def test_losses_are_answered_at_one_target_that_all_share():
    found = lawsmith.fit_losses(hidden(study(4)), ["web", "code"])
    targets = {name: one.forecasts[0].target for name, one in found.items()}
    assert targets["web"] == targets["code"]
    assert targets["web"].C == 1e21


def test_a_study_of_compute_alone_leaves_out_what_lacks_a_loss():
    table = hidden(study(5))
    plain = pd.DataFrame({"C": 6 * table.N * table.D, "web": table.web, "code": table.code})
    found = lawsmith.fit_losses(plain, ["web", "code"], 1e21)
    assert found["code"].others.n_without == 18
    assert found["code"].others.relations == ()


def test_other_losses_are_in_the_text_the_html_and_the_plain_values():
    found = code_answer(hidden(study(0)))
    text = "18 runs without this loss: 18 inferred from web (18 runs with both"
    assert text in found.summary()
    assert text in found._repr_html_()
    (told,) = found.to_dict()["other_losses"]["relations"]
    assert (told["name"], told["n_shared"], told["n_rows"]) == ("web", 18, 18)


def points(n: int, rng: np.random.Generator) -> Points:
    S = rng.normal(size=(n, 2))
    G = np.eye(2)[rng.integers(0, 2, n)]
    return Points(S, np.empty((n, 0)), G, S.sum(axis=1))


def test_the_curve_is_found_again_with_its_scatter():
    rng = np.random.default_rng(0)
    at, a = points(400, rng), 1.0 + 0.2 * rng.standard_normal(400)
    level = np.array([0.0, 0.3])

    def truth(a, at):
        u = a - 1.0
        return 0.2 + 0.8 * u + 0.3 * u**2 + at.S @ [0.01, -0.02] + at.G @ level

    curve = fit_curve(a, truth(a, at) + 0.004 * rng.standard_normal(400), at)
    new, b = points(200, rng), 1.0 + 0.2 * rng.standard_normal(200)
    mean, cov = curve.predict(b, new)
    assert curve.scatter == pytest.approx(0.004, rel=0.15)
    assert np.abs(mean - truth(b, new)).max() < 5.0 * np.sqrt(np.diag(cov)).max()
    assert np.sqrt(np.diag(cov)).max() < 0.004


def test_left_out_runs_are_as_if_each_had_been_left_out():
    rng = np.random.default_rng(1)
    at, a = points(30, rng), 0.2 * rng.standard_normal(30)
    b = 0.7 * a + 0.02 * rng.standard_normal(30)
    curve = fit_curve(a, b, at)
    F = _features(a - curve.centre[0], at, curve.centre[2])
    t = b - curve.centre[1] - (a - curve.centre[0])
    for i in range(30):
        rest = np.arange(30) != i
        ridge = F[rest].T @ F[rest] + curve.scatter**2 * np.eye(F.shape[1])
        w = np.linalg.solve(ridge, F[rest].T @ t[rest])
        # Equal but for the scatter, which the curve averages over.
        assert curve.left_out[i] == pytest.approx(t[i] - F[i] @ w, abs=0.004)
