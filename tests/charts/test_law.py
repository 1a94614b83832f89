"""The law chart: its numbers against the law's own, and what it says in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.analysis import FitOptions, Target, analyse
from lawsmith.charts import WIDE, ChartUnavailable, law
from lawsmith.charts.law import (
    draw_losses,
    law_data,
    law_inputs,
    loss_top,
    off_scale_text,
    target_text,
    x_variable,
)
from lawsmith.laws.catalogue import CHINCHILLA, LC, LD, LN
from lawsmith.laws.law import coefficient, define, exponent

from .answers import key_of


def test_the_line_of_a_compute_law_is_the_law_and_its_band_the_interval(compute_law):
    line = law_data(compute_law).line
    np.testing.assert_allclose(line["loss"], compute_law.fit.predict({"C": line["C"]}))
    band = compute_law.uncertainty.loss({"C": line["C"].to_numpy()}, 0.95)
    for name in ("low", "high"):
        np.testing.assert_allclose(line[name], getattr(band, name))


def test_without_a_target_the_line_reaches_a_decade_beyond_the_data(compute_law):
    line, C = law_data(compute_law).line, compute_law.study.grid.C
    assert line["C"].iloc[0] == pytest.approx(C.min())
    assert line["C"].iloc[-1] == pytest.approx(10 * C.max())


def test_the_line_reaches_the_farthest_target(demo):
    assert law_data(demo).line["C"].iloc[-1] == pytest.approx(1e23)


def test_the_line_of_a_law_of_N_and_D_is_its_least_loss_at_that_compute(chinchilla):
    line = law_data(chinchilla).line
    for C, fitted in line[["C", "loss"]].to_numpy()[::20]:
        N = np.geomspace(1e6, C / 6e6, 20_001)
        assert fitted == pytest.approx(chinchilla.fit.predict({"N": N, "D": C / 6 / N}).min())


def test_the_band_of_a_law_of_N_and_D_is_the_interval_there(chinchilla):
    line = law_data(chinchilla).line
    along = law_inputs(chinchilla.law, chinchilla.fit.phi, line["C"].to_numpy())
    band = chinchilla.uncertainty.loss(along, 0.95)
    np.testing.assert_allclose(line["low"], band.low)
    np.testing.assert_allclose(line["high"], band.high)


def test_the_level_of_the_interval_is_the_options_own(compute_law):
    narrow = replace(compute_law, options=replace(compute_law.options, level=0.5))
    wide, line = law_data(compute_law).line, law_data(narrow).line
    assert (line["high"] < wide["high"]).all()
    assert "50% interval" in key_of(law(narrow))


def test_a_law_without_uncertainty_has_a_line_and_no_band(compute_law):
    data = law_data(replace(compute_law, uncertainty=None))
    assert data.line["loss"].notna().all()
    assert data.line[["low", "high"]].isna().all(axis=None)
    assert "95% interval" not in key_of(law(replace(compute_law, uncertainty=None)))


def test_targets_carry_the_predictions(demo):
    targets = law_data(demo).targets
    assert targets["C"].tolist() == [1e22, 1e23]
    assert targets["loss"].tolist() == [p.loss for p in demo.predictions]
    assert targets["high"].tolist() == [p.interval.high for p in demo.predictions]
    assert targets["label"].tolist() == ["1e22 FLOPs", "1e23 FLOPs"]


@pytest.mark.parametrize(("form", "x"), [(LC, "C"), (LN, "N"), (LD, "D"), (CHINCHILLA, "C")])
def test_a_law_is_drawn_along_its_own_input_or_compute(form, x):
    assert x_variable(form) == x


def test_a_law_of_three_inputs_has_no_axis():
    form = define(
        "three",
        lambda x, E, a: E + x["N"] ** -a * x["D"] ** -a * x["V"] ** -a,
        inputs=["N", "D", "V"],
        params=[coefficient("E", lower=0.1, upper=10), exponent("a")],
    )
    with pytest.raises(ChartUnavailable, match="a law of N, D, V has no single axis"):
        x_variable(form)


def test_a_law_of_N_is_drawn_over_the_sizes(make_study, chinchilla):
    options = FitOptions(LN, targets=(Target(1e24, N=1e11, D=1e12),))
    analysis = analyse(chinchilla.study, options)
    data = law_data(analysis)
    assert data.x == "N"
    assert data.line["N"].iloc[[0, -1]].tolist() == pytest.approx([1e8, 1e11])
    assert data.targets["N"].tolist() == [1e11]
    drawn = [part["encoding"]["x"].get("field") for part in law(analysis).to_dict()["layer"]]
    assert set(drawn) == {"N", None}  # those without a field are of the key


def test_diverged_runs_are_counted_and_placed_at_their_compute(demo):
    data = law_data(demo)
    assert data.n_diverged == 106
    assert data.n_above == 0
    assert len(data.off_scale) == 106
    assert off_scale_text(data) == "106 diverged"
    assert set(data.off_scale["state"]) == {"diverged"}


def test_a_run_that_all_but_diverged_does_not_stretch_the_axis(make_study, compute_law):
    grid, loss = compute_law.study.grid, compute_law.loss.copy()
    worst = int(np.flatnonzero(~np.isin(np.arange(25), compute_law.frontier))[0])
    loss[worst] = 11.0
    study = make_study({"N": grid.N, "D": grid.D}, loss)
    data = law_data(analyse(study, FitOptions(LC)))
    assert data.top < 5
    assert (data.n_above, data.n_diverged) == (1, 0)
    assert worst not in data.runs.frame.index
    assert data.off_scale["loss"].tolist() == [11.0]
    assert off_scale_text(data).startswith("1 above ")
    assert not data.runs.thinned


def test_the_axis_holds_every_fitted_and_held_out_point(demo):
    points = [*demo.loss[demo.frontier], *demo.score.measured]
    assert loss_top(demo) >= max(points)


def test_the_threshold_is_where_compute_is_held_out(compute_law, chinchilla):
    assert law_data(compute_law).threshold == 0.5 * compute_law.study.grid.C.max()
    assert np.isnan(law_data(chinchilla).threshold)  # held out by N, drawn along C


def test_the_band_holds_the_line_wherever_its_estimator_puts_the_middle(compute_law):
    higher = compute_law.uncertainty.phi + np.array([0.05, 0, 0])
    shifted = replace(compute_law, uncertainty=replace(compute_law.uncertainty, phi=higher))
    line = law_data(shifted).line
    assert (line["low"] <= line["loss"]).all()
    assert (line["loss"] <= line["high"]).all()


def test_a_thinned_chart_says_so(demo):
    data = law_data(demo, max_runs=100)
    assert len(data.runs.frame) == 100
    means = {"fitted": "fitted", "line": "law", "band": "interval"}
    title = draw_losses(data, means, "Losses", ["runs"], width=WIDE).to_dict()["title"]
    told = "100 of 795 configurations drawn, grey ones thinned evenly"
    assert title["subtitle"] == ["runs", told]


def test_titles_say_study_law_runs_spend_split_and_objective(demo):
    title = law(demo).to_dict()["title"]
    assert " ".join(title["text"]).startswith("Loss against compute: synthetic-demo, L(N, D) =")
    words = " ".join(title["subtitle"])
    assert "791 runs, 31 fitted: the best of each (N, D)" in words
    assert "1.16e22 FLOPs" in words
    assert "held out: largest N" in words
    assert "Huber δ = 1e-3 on log loss" in words


def test_a_synthetic_study_is_called_so_whatever_its_name(demo):
    renamed = replace(demo, study=replace(demo.study, name="/somewhere/runs.csv"))
    assert "runs.csv (synthetic)" in " ".join(law(renamed).to_dict()["title"]["text"])


def test_a_target_is_labelled_with_the_law_and_its_interval():
    assert target_text(1.6957, 1.7137, 1.7592) == "1.696 [1.714, 1.759]"
    assert target_text(2.0, np.nan, np.nan) == "2.000"
