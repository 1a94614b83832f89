"""The answer with curves, on drawn trunks whose annealed losses are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lawsmith.analysis import Target, answer_study
from lawsmith.datasets import CurveOptions, curves_from_frame, study_from_frame
from lawsmith.grid import HeldOut

from .drawn import SIZES, gain, study, trunk_loss


def annealed(N, D, shape=0.0):
    return trunk_loss(N, 0.9 * D, shape) * np.exp(-gain(N, D))


def target(N: float, D: float) -> Target:
    return Target(6.0 * N * D, float(N), float(D))


def answers(runs, curves, targets):
    table = None if curves is None else curves_from_frame(curves, CurveOptions())
    return answer_study(study_from_frame(runs, name="drawn"), targets, curves=table)


def test_a_size_without_branches_is_predicted_from_its_trunk():
    """Shapes differ by 1 %, so N and D cannot say this, and the trunk can."""
    errors, inside, widths = [], [], []
    for seed in range(4):
        runs, curves = study(seed)
        held = runs[runs["parent"] == "trunk-3"]
        rest = runs.drop(held.index)
        targets = [target(N, D) for N, D in zip(held["N"], held["D"], strict=True)]
        with_curves, without = (answers(rest, c, targets).forecasts for c in (curves, None))
        for f, plain, loss in zip(with_curves, without, held["loss"], strict=True):
            assert f.source == "trunk-3"
            assert plain.source == ""
            errors.append(abs(np.log(f.loss / loss)))
            inside.append(f.run_low <= loss <= f.run_high)
            widths.append((f.run_high - f.run_low) / (plain.run_high - plain.run_low))
    assert np.median(errors) < 0.0025
    assert np.mean(inside) >= 0.9
    assert np.median(widths) < 0.6


def test_beyond_the_end_of_a_trunk_the_interval_is_wider_and_holds():
    for seed in (5, 6, 7):
        runs, curves = study(seed, odd=0.03)
        short = curves[(curves["run"] != "trunk-3") | (curves["D"] <= 3e10)]
        held = runs[runs["parent"] == "trunk-3"].iloc[-1]
        rest = runs[runs["parent"] != "trunk-3"]
        asked = [target(SIZES[3], 3e10), target(SIZES[3], held["D"])]
        near, far = answers(rest, short, asked).forecasts
        assert (near.source, far.source) == ("trunk-3", "trunk-3")
        assert far.half_width > near.half_width
        assert far.run_low <= held["loss"] <= far.run_high


def test_beyond_a_trunk_the_others_say_how_loss_falls_and_the_trunk_how_odd_it_is():
    """Only a tenth of an odd trunk is known: by itself it could say little of its end."""
    for seed in (5, 6, 7):
        runs, curves = study(seed)
        odd = curves["run"] == "trunk-3"
        curves.loc[odd, "loss"] *= 1.05
        held = runs[runs["parent"] == "trunk-3"].iloc[-1]
        rest = runs[runs["parent"] != "trunk-3"]
        short = curves[~odd | (curves["D"] <= 1e10)]
        told = answers(rest, short, [target(SIZES[3], held["D"])]).forecasts[0]
        assert told.source == "trunk-3"
        assert abs(np.log(told.loss / (1.05 * held["loss"]))) < 0.01
        assert told.run_low <= 1.05 * held["loss"] <= told.run_high
        assert told.half_width < 0.03


def test_sizes_without_a_trunk_gain_from_the_others():
    """Branches end at 2e10 tokens and trunks at 1e11: the surface learns how loss falls after."""
    runs, curves = study(6, odd=0.002)
    short = runs[runs["D"] < 3e10]
    at = target(3.3e8, 1e11)
    assert not np.isclose(SIZES, 3.3e8, rtol=0.01).any()
    with_curves, without = (answers(short, c, [at]).forecasts[0] for c in (curves, None))
    truth = annealed(3.3e8, 1e11)
    assert with_curves.source == ""
    assert with_curves.low <= truth <= with_curves.high
    assert with_curves.half_width < 0.7 * without.half_width


def best_rate(N):
    return 1e-3 * (N / 3e8) ** -0.3


def asked_of_rates(rates_of_4, asked):
    """Trunks of three rates a size, with a bowl in the rate; one size has no branches.

    The others differ by 0.1 % beside that: where trunks do not, a surface needs none.
    """
    rng = np.random.default_rng(0)
    runs, curves = [], []
    for i, N in enumerate(SIZES):
        for j, lr in enumerate(rates_of_4 if i == 4 else (5e-4, 1e-3, 2e-3)):
            above = 0.02 * np.log(lr / best_rate(N)) ** 2
            above += 0.0 if i == 4 else 1e-3 * rng.standard_normal()
            D = np.arange(1, 101) * 1e9
            loss = trunk_loss(N, D, above) * np.exp(3e-4 * rng.standard_normal(100))
            told = {"run": f"t{i}-{j}", "D": D, "loss": loss, "N": N, "lr": lr, "kind": "trunk"}
            curves.append(pd.DataFrame(told))
            for b in (1e10, 3e10) if i != 4 else ():
                row = {"parent": f"t{i}-{j}", "N": N, "D": b / 0.9, "lr": lr, "branch_at": b}
                runs.append(row | {"loss": annealed(N, b / 0.9, above)})
    table = curves_from_frame(pd.concat(curves), CurveOptions(carry=("lr",)))
    return answer_study(study_from_frame(pd.DataFrame(runs)), asked, curves=table).forecasts


def test_the_best_learning_rate_is_told_from_trunks_with_others():
    """Three rates a size, the best between them: the surface has the bowl, trunks the rest."""
    N = float(SIZES[4])
    asked = [target(N, 1e11), Target(6.0 * N * 1e11, N, 1e11, {"lr": 5e-4})]
    tuned, given = asked_of_rates((5e-4, 1e-3, 2e-3), asked)
    assert tuned.source.startswith("t4-")
    assert given.source == "t4-0"
    assert tuned.low <= annealed(N, 1e11) <= tuned.high
    above = 0.02 * np.log(5e-4 / best_rate(N)) ** 2
    assert given.low <= annealed(N, 1e11, above) <= given.high
    assert tuned.half_width < 0.005


def test_a_trunk_with_a_poor_rate_does_not_answer_for_the_best_one():
    N = float(SIZES[4])
    tuned, given = asked_of_rates(
        (2e-3,), [target(N, 1e11), Target(6.0 * N * 1e11, N, 1e11, {"lr": 2e-3})]
    )
    assert tuned.source == ""
    assert tuned.low <= annealed(N, 1e11) <= tuned.high
    assert given.source == "t4-0"


def test_a_trunk_at_a_rate_that_no_branch_has_tried_says_less():
    N = float(SIZES[4])
    asked = [Target(6.0 * N * 1e11, N, 1e11, {"lr": rate}) for rate in (2e-3, 6e-3)]
    near, far = (asked_of_rates((t.hp["lr"],), [t])[0] for t in asked)
    assert far.half_width > 3.0 * near.half_width


def test_without_curves_an_answer_says_nothing_of_them():
    runs, curves = study(7)
    plain = answers(runs, None, [target(1e9, 1e11)])
    assert plain.curves is None
    assert "curves" not in plain.to_dict()
    assert "source" not in plain.to_dict()["answers"][0]
    told = answers(runs, curves, [target(1e9, 1e11)]).to_dict()
    assert told["curves"]["n_branches"] == len(runs)
    assert told["curves"]["gain"] == pytest.approx(0.03, abs=0.003)
    assert told["curves"]["decay_share"] == pytest.approx(0.1)


def test_held_out_runs_are_predicted_from_trunks_that_have_lost_them():
    runs, curves = study(8)
    table = study_from_frame(runs, name="drawn")
    rule = HeldOut.by_compute(0.9)
    told = curves_from_frame(curves, CurveOptions())
    judged = answer_study(table, [1e22], hold_out=rule, curves=told).held_out
    plain = answer_study(table, [1e22], hold_out=rule).held_out
    assert judged.inside.all()
    assert judged.median_error < 0.5 * plain.median_error


def test_trunks_that_reach_far_beyond_the_runs_leave_the_runs_in_the_window():
    """Branches end at 2e10 tokens: small sizes must not be left to members that saw none of them.

    The trunks of the largest sizes alone lie within a factor of ten of the longest trunk.
    """
    errors, inside = [], []
    for seed in range(3):
        runs, curves = study(seed, odd=0.002)
        short = runs[runs["D"] < 3e10]
        sizes = (1.2e8, 1.4e8)
        found = answers(short, curves, [target(N, 1e11) for N in sizes])
        lows = [m.data.points.c.min() for m in found.surface.members if m.name.endswith("/10")]
        top = found.surface.frame.log_top
        largest = np.log(6.0 * (short["N"] * short["D"]).max())
        assert all(low + top < largest - 1.5 for low in lows)
        for f, N in zip(found.forecasts, sizes, strict=True):
            truth = annealed(N, 1e11)
            errors.append(abs(np.log(f.loss / truth)))
            inside.append(f.low <= truth <= f.high)
            assert f.half_width < 0.01
    assert np.median(errors) < 0.004
    assert np.mean(inside) >= 0.8


def test_an_n_of_all_digits_is_not_answered_by_the_trunk_of_another():
    """Sizes 0.3 % apart are two; 100M is what people write for 100,200,000."""
    runs, curves = study(9, odd=0.03)
    near = 1.003 * SIZES[3]
    rounded = float(f"{SIZES[3]:.3g}")
    found = answers(runs, curves, [target(N, 1e11) for N in (SIZES[3], near, rounded)]).forecasts
    assert [f.source for f in found] == ["trunk-3", "", "trunk-3"]
