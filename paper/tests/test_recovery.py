"""The recovery chart: its staircases, means and floors by value, and what it draws."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import vl_convert

from lawsmith.charts import NARROW, WIDE, ChartUnavailable
from lawsmith.charts.theme import N_SERIES
from lawsmith.datasets import demo_study
from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import CHINCHILLA, GADRE, KAPLAN, LC, SKALING
from lawsmith.policies import make_policy
from lawsmith.replay import run_replay
from lawsmith_paper.charts.data.recovery import (
    N_GRID,
    recovery_data,
    regret_keys,
    series,
    standing,
)
from lawsmith_paper.charts.draw.recovery import key_entries, recovery
from lawsmith_paper.curves import curves_of

SPENT = (0.01, 0.02, 0.1, 1.0)


def held_out_mse(task, off):
    """Of the reference's law with every searched parameter moved by ``off``."""
    phi = task.reference.validation.phi + off
    if np.isnan(off):
        return off
    predicted = task.law.predict(task.law.natural(phi), task.held_out.inputs)
    return np.mean((predicted - task.held_out.loss) ** 2)


def panel(data, key):
    (found,) = [p for p in data.panels if p.key == key]
    return found


def lines(data, key, fit, label="window"):
    frame = panel(data, key).lines
    return frame[(frame["fit"] == fit) & (frame["label"] == label)]


@pytest.mark.parametrize(
    ("law", "keys"),
    [
        (LC, ("log_E", "log_A", "alpha")),
        (CHINCHILLA, ("alpha", "beta", "log_E")),
        (SKALING, ("alpha", "beta", "k", "log_E")),
        (GADRE, ("b", "log_E")),
        (KAPLAN, ("alpha_N", "alpha_D")),
    ],
)
def test_the_regrets_shown_are_the_papers(law, keys):
    assert regret_keys(law) == keys


def test_the_panels_of_a_law_of_compute_are_the_papers_five(compute_task, make_curves):
    data = recovery_data(make_curves(compute_task, SPENT, (None, 0.4, 0.2, 0.0)))
    assert [p.title for p in data.panels] == [
        *("Regret of ln E", "Regret of ln A", "Regret of α"),
        *("Held-out MSE", "Envelope recovered (%)"),
    ]


def test_one_seed_is_shown_step_by_step_from_its_first_law_on(compute_task, make_curves):
    trace = make_curves(compute_task, SPENT, (None, 0.4, 0.2, 0.0), (None, 0.6, 0.5, 0.0))
    data = recovery_data(trace)
    found = lines(data, "alpha", "fantasized")
    assert found["spent"].tolist() == [2.0, 10.0, 100.0]
    assert found["mean"].tolist() == pytest.approx([0.4, 0.2, 0.0])
    assert found["low"].isna().all()
    assert lines(data, "alpha", "observed")["mean"].tolist() == pytest.approx([0.6, 0.5, 0.0])
    assert lines(data, "held_out_mse", "observed")["mean"].tolist() == pytest.approx(
        [held_out_mse(compute_task, off) for off in (0.6, 0.5, 0.0)]
    )
    assert lines(data, "envelope", "fantasized")["mean"].tolist() == [2.0, 10.0, 100.0]
    assert lines(data, "envelope", "observed")["mean"].tolist() == [1.0, 5.0, 50.0]


def test_a_long_replay_of_one_seed_is_read_on_a_grid(compute_task, make_curves):
    spent, off = np.geomspace(0.01, 1.0, 500), np.linspace(1.0, 0.0, 500)
    found = lines(recovery_data(make_curves(compute_task, spent, off)), "alpha", "fantasized")
    assert len(found) == N_GRID
    for at, mean in found[["spent", "mean"]].to_numpy()[[0, 40, 100, -1]]:
        past = np.flatnonzero(100 * spent <= at * (1 + 1e-5))
        assert mean == pytest.approx(off[past[-1]])


def test_a_value_that_stands_is_held_once_and_at_the_end(compute_task, make_curves):
    trace = make_curves(compute_task, (0.01, 0.02, 0.1, 0.3, 1.0), (None, 0.4, 0.4, 0.1, 0.1))
    found = lines(recovery_data(trace), "alpha", "fantasized")
    assert found["spent"].tolist() == [2.0, 30.0, 100.0]


def test_a_law_that_is_lost_again_leaves_a_gap(compute_task, make_curves):
    trace = make_curves(compute_task, SPENT, (0.4, None, 0.2, 0.0))
    found = lines(recovery_data(trace), "alpha", "fantasized")["mean"].to_numpy()
    np.testing.assert_allclose(found, [0.4, np.nan, 0.2, 0.0], atol=1e-12)


def test_the_incumbents_are_the_running_minima_of_the_regrets_only(compute_task, make_curves):
    trace = make_curves(compute_task, SPENT, (0.2, 0.4, None, 0.1))
    data = recovery_data(trace, value="incumbent")
    found = lines(data, "alpha", "fantasized")["mean"]
    np.testing.assert_allclose(found, [0.2, np.nan, 0.1])  # 0.2 stands when 0.4 is found
    # What is no regret has no incumbent, and no panel here.
    assert [p.key for p in data.panels] == ["log_E", "log_A", "alpha"]
    with pytest.raises(LawsmithError, match="value: got 'best', want one of current, incumbent"):
        recovery_data(trace, value="best")


def test_a_value_stands_from_its_step_to_the_next_and_not_beyond_the_last():
    spent, values = np.array([0.1, 0.2, 0.5]), np.array([3.0, 2.0, 1.0])
    found = standing(spent, values, np.array([0.05, 0.1, 0.15, 0.2, 0.4999, 0.5, 0.6]))
    np.testing.assert_array_equal(found, [np.nan, 3, 3, 2, 2, 1, np.nan])


def test_several_seeds_are_their_mean_and_standard_deviation_at_each_spend(
    compute_task, make_curves
):
    seeds = [
        make_curves(compute_task, (0.01, 0.05, 1.0), (0.9, 0.3, 0.0)),
        make_curves(compute_task, (0.02, 0.40, 1.0), (0.5, 0.1, 0.0), seed=1),
        make_curves(compute_task, (0.01, 0.10, 1.0), (0.7, 0.2, 0.0), seed=2),
    ]
    data = recovery_data({"window": seeds})
    frame = lines(data, "alpha", "fantasized")
    grid = 100 * np.geomspace(0.01, 1, N_GRID)
    np.testing.assert_allclose(frame["spent"], grid[grid >= 2.0], rtol=1e-5)  # all have begun
    for spent, mean, low, high, n in frame[["spent", "mean", "low", "high", "n"]].to_numpy():
        known = []
        for seed in seeds:
            past = np.flatnonzero(100 * seed.cost_fraction <= spent * (1 + 1e-5))
            reference = compute_task.reference.validation.params["alpha"]
            alpha = seed.laws["fantasized"][:, compute_task.law.position("alpha")]
            known += [abs(alpha[past[-1]] - reference)] if len(past) else []
        assert n == len(known)
        assert mean == pytest.approx(np.mean(known))
        assert (high - low) / 2 == pytest.approx(np.std(known, ddof=1))
    assert data.n_seeds == {"window": 3}


def test_a_mean_needs_half_of_the_seeds(compute_task, make_curves):
    whole = make_curves(compute_task, (0.01, 1.0), (0.4, 0.0))
    stopped = [make_curves(compute_task, (0.01, 0.1), (0.4, 0.2), seed=s) for s in (1, 2)]
    frame = lines(recovery_data({"window": [whole, *stopped]}), "alpha", "fantasized")
    assert frame["spent"].max() == pytest.approx(10, rel=0.05)
    frame = lines(recovery_data({"window": [whole, stopped[0]]}), "alpha", "fantasized")
    assert frame["spent"].max() == pytest.approx(100)
    assert frame["n"].iloc[-1] == 1
    assert np.isnan(frame["high"].iloc[-1])


def test_labels_keep_their_order_and_their_colours(compute_task, make_curves):
    traces = [make_curves(compute_task, SPENT, (None, 0.4, 0.2, 0.0), seed=s) for s in (0, 1)]
    labels = {"window": traces, "full": traces[:1]}
    entries = key_entries(recovery_data(labels))
    assert [(e.style, e.text) for e in entries] == [
        ("series-0", "window"),
        ("series-1", "full"),
        ("key-curve", "observed + fantasized"),
        ("key-curve-dashed", "observed only"),
        ("band-grey", "± 1 SD"),
        ("threshold", "MSE of the pool's own law"),
    ]


def test_fantasized_lines_are_solid_and_observed_ones_dashed(compute_task, make_curves):
    trace = make_curves(compute_task, SPENT, (None, 0.4, 0.2, 0.0), (None, 0.6, 0.5, 0.0))
    spec = recovery(trace).to_dict()
    first = spec["vconcat"][1]["concat"][0]["layer"]
    drawn = {part["mark"]["style"]: part["data"]["name"] for part in first if "data" in part}
    solid = [row["mean"] for row in spec["datasets"][drawn["series-0"]]]
    dashed = [row["mean"] for row in spec["datasets"][drawn["series-0-dashed"]]]
    assert solid[:2] == [0.4, 0.2]
    assert dashed[:2] == [0.6, 0.5]


def test_a_band_that_reaches_below_zero_ends_at_the_foot_of_a_log_axis(compute_task, make_curves):
    seeds = [
        make_curves(compute_task, SPENT, (v, v, v, v), seed=i) for i, v in enumerate((1, 0.01))
    ]
    data = recovery_data({"window": seeds})
    alpha = panel(data, "alpha")
    assert alpha.lines["low"].max() < 0
    spec = recovery({"window": seeds}).to_dict()
    layers = spec["vconcat"][1]["concat"][2]["layer"]
    band = next(part for part in layers if part["mark"]["type"] == "area")
    drawn = [row["low"] for row in spec["datasets"][band["data"]["name"]]]
    assert drawn == pytest.approx([alpha.floor] * len(drawn), rel=1e-3)


def test_random_search_has_no_fantasized_lines_and_no_key_for_them(compute_task, make_curves):
    trace = make_curves(compute_task, SPENT, (None,) * 4, (None, 0.6, 0.5, 0.0))
    data = recovery_data(trace)
    assert lines(data, "alpha", "fantasized").empty
    assert next(entry.text for entry in key_entries(data)) == "observed only"
    recovery(trace).to_dict()


@pytest.mark.parametrize(
    ("values", "floor"),
    [
        ((0.4, 0.2, 0.0), 0.1),  # zeros lie apart below the least value
        ((0.4, 1e-3, 0.0), 5e-4),
        ((0.4, 1e-12, 0.0), 0.4e-5),  # five decades are enough
        ((0.0, 0.0, 0.0), 1e-6),
    ],
)
def test_exact_zeros_are_kept_and_drawn_at_the_foot_of_the_axis(
    compute_task, make_curves, values, floor
):
    trace = make_curves(compute_task, SPENT, (None, *values))
    alpha = panel(recovery_data(trace), "alpha")
    assert alpha.floor == pytest.approx(floor)
    assert alpha.lines["mean"].min() == pytest.approx(0.0, abs=1e-15)
    spec = recovery(trace).to_dict()
    layer = spec["vconcat"][1]["concat"][2]["layer"][0]
    drawn = [row["mean"] for row in spec["datasets"][layer["data"]["name"]]]
    assert min(drawn) == pytest.approx(floor)
    assert layer["encoding"]["y"]["scale"]["domain"][0] < floor


def test_the_held_out_panel_has_the_reference_law_as_a_rule(compute_task, make_curves):
    data = recovery_data(make_curves(compute_task, SPENT, (None, 0.4, 0.2, 0.0)))
    own = panel(data, "held_out_mse").reference
    held = compute_task.held_out
    predicted = compute_task.reference.validation.predict(held.inputs)
    assert own == pytest.approx(np.mean((predicted - held.loss) ** 2))
    assert np.isnan(panel(data, "alpha").reference)


def test_series_are_read_from_the_curves(chinchilla_task, make_curves):
    run = make_curves(chinchilla_task, SPENT, (None, 0.4, 0.2, 0.0))
    beta = series(run, "beta", "observed")
    np.testing.assert_allclose(beta, [np.nan, 0.4, 0.2, 0.0], atol=1e-12)
    np.testing.assert_allclose(series(run, "envelope", "observed"), [0.5, 1, 5, 50])


def test_a_trace_gives_the_numbers_of_its_own_scores(compute_task):
    trace = run_replay(compute_task, make_policy("full", None), seed=0)
    run = curves_of(trace)
    for fit, value in (("observed", "current"), ("observed", "incumbent")):
        for key in ("log_E", "log_A", "alpha"):
            scores = [step.observed for step in trace.steps]
            want = np.array([np.nan if s is None else s.regret[key] for s in scores])
            if value == "incumbent":  # its line has the gaps of the law's
                want = np.where(np.isnan(want), np.nan, np.fmin.accumulate(want))
            np.testing.assert_allclose(series(run, key, fit, value), want, atol=1e-9)
    for one, other in zip(recovery_data(trace).panels, recovery_data(run).panels, strict=True):
        pd.testing.assert_frame_equal(one.lines, other.lines)
    assert recovery(trace).to_dict() == recovery(run).to_dict()


def test_only_the_fits_asked_for_are_drawn_and_the_subtitle_says_which(compute_task, make_curves):
    seeds = [make_curves(compute_task, SPENT, (None, 0.4, 0.2, 0.0), seed=s) for s in (0, 1)]
    labels = {"EI": seeds, "PI": seeds}
    data = recovery_data(labels, fits=("fantasized",))
    assert set(panel(data, "alpha").lines["fit"]) == {"fantasized"}
    assert [entry.text for entry in key_entries(data)] == [
        *("EI", "PI", "± 1 SD", "MSE of the pool's own law")
    ]
    spec = recovery(labels, fits=("fantasized",), title="Acquisitions").to_dict()
    assert "dashed" not in str(spec["vconcat"])
    assert spec["title"]["text"] == ["Acquisitions: small, L(C) = E + A·C^α"]
    assert "laws on observed and fantasized losses" in " ".join(spec["title"]["subtitle"])
    with pytest.raises(LawsmithError, match="fits: got 'fantasised', want one of"):
        recovery_data(labels, fits=("fantasised",))
    with pytest.raises(LawsmithError, match="fits"):
        recovery_data(labels, fits=())


def test_a_figure_of_many_seeds_carries_the_grid_and_no_traces(compute_task, make_curves, tmp_path):
    spent, off = np.geomspace(1e-4, 1.0, 879), np.geomspace(1.0, 1e-6, 879)
    seeds = [make_curves(compute_task, spent, off * (1 + s / 10), seed=s) for s in range(10)]
    spec = recovery({"Window": seeds, "Full": seeds}).to_dict()
    assert max(len(rows) for rows in spec["datasets"].values()) <= N_GRID
    text = json.dumps({k: spec[k] for k in ("vconcat", "datasets")}, separators=(",", ":"))
    assert len(text) < 250_000


def test_replays_of_different_laws_are_not_drawn_together(
    compute_task, chinchilla_task, make_curves
):
    traces = [make_curves(task, SPENT, (0.1,) * 4) for task in (compute_task, chinchilla_task)]
    with pytest.raises(LawsmithError, match="got LC on small and chinchilla on small, want"):
        recovery({"both": traces})


def test_more_labels_than_colours_are_refused(compute_task, make_curves):
    trace = make_curves(compute_task, SPENT, (0.1,) * 4)
    many = {str(k): [trace] for k in range(N_SERIES + 1)}
    with pytest.raises(LawsmithError, match="got 7 labels, want at most 6"):
        recovery(many)


def test_a_replay_without_runs_cannot_be_drawn(compute_task, make_curves):
    with pytest.raises(ChartUnavailable, match="no run was replayed"):
        recovery(make_curves(compute_task, (), ()))


def test_a_replay_without_a_law_has_nothing_to_compare(compute_task, make_curves):
    with pytest.raises(ChartUnavailable, match="no law was found"):
        recovery(make_curves(compute_task, SPENT, (None,) * 4))


def test_a_synthetic_study_is_named_so_in_the_title(compute_task, make_curves):
    task = replace(compute_task, study=replace(compute_task.study, truth=demo_study().truth))
    spec = recovery(make_curves(task, SPENT, (0.1,) * 4)).to_dict()
    assert " ".join(spec["title"]["text"]).startswith("Recovery of the law: small (synthetic), L(C")


@pytest.mark.parametrize(("width", "n_columns"), [(NARROW, 1), (WIDE, 3), (1200, 5)])
def test_panels_stand_in_as_many_columns_as_there_is_room_for(
    compute_task, make_curves, width, n_columns
):
    spec = recovery(make_curves(compute_task, SPENT, (0.1,) * 4), width=width).to_dict()
    rows = spec["vconcat"][1]
    assert rows["columns"] == n_columns
    titled = [
        i
        for i, part in enumerate(rows["concat"])
        if part["layer"][0]["encoding"]["x"]["title"] is not None
    ]
    assert titled == [i for i in range(5) if i // n_columns == 4 // n_columns]
    assert "<svg" in vl_convert.vegalite_to_svg(spec)
