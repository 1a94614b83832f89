"""The choices chart: what was run and when, the envelope, the laws, and what is off the axis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.charts import ChartUnavailable, choices
from lawsmith.charts.choices import FANTASIZED, OBSERVED, REFERENCE, choices_data
from lawsmith.frontier import frontier
from lawsmith.replay import prepare

from .answers import key_of

SPENT = (0.01, 0.1, 0.2)
ROWS = (4, 0, 2)


@pytest.fixture
def trace(compute_task, make_trace):
    return make_trace(compute_task, SPENT, (None, 0.4, 0.2), rows=ROWS)


def test_runs_are_shown_in_the_order_they_were_chosen(trace):
    data, pool = choices_data(trace), trace.task.pool
    assert data.x == "C"
    assert data.chosen["iteration"].tolist() == [1, 2, 3]
    assert data.chosen["initial"].tolist() == [True, False, False]
    np.testing.assert_allclose(data.chosen["x"], pool.C[list(ROWS)], rtol=1e-5)
    np.testing.assert_allclose(data.chosen["loss"], trace.task.loss[list(ROWS)], rtol=1e-5)
    np.testing.assert_allclose(data.chosen["N"], pool.N[list(ROWS)], rtol=1e-5)


def test_the_rest_of_the_pool_stays_behind(trace):
    data, task = choices_data(trace), trace.task
    rest = [row for row in range(len(task.pool)) if row not in ROWS]
    np.testing.assert_allclose(data.pool["loss"], task.loss[rest], rtol=1e-5)
    assert len(choices_data(trace, max_runs=5).pool) == 5


def test_the_envelope_is_the_pools_and_knows_what_was_run(trace):
    data, task = choices_data(trace), trace.task
    rows = frontier(task.pool, task.loss, ("C",))
    np.testing.assert_allclose(data.envelope["x"], task.pool.C[rows], rtol=1e-5)
    assert data.envelope["run"].tolist() == [row in ROWS for row in rows]
    subtitle = " ".join(choices(trace).to_dict()["title"]["subtitle"])
    n_run = sum(row in ROWS for row in rows)
    assert f"{n_run} of {len(rows)} envelope points run" in subtitle


def test_the_lines_are_the_reference_and_the_laws_of_the_last_step(trace):
    last = trace.steps[-1]
    other = replace(last.observed, params={"E": 2.0, "A": 1e3, "alpha": -0.15})
    steps = (*trace.steps[:-1], replace(last, observed=other))
    lines = choices_data(replace(trace, steps=steps)).lines
    assert list(lines["law"].unique()) == [REFERENCE, FANTASIZED, OBSERVED]
    found = lines[lines["law"] == OBSERVED]
    np.testing.assert_allclose(found["loss"], 2 + 1e3 * found["x"] ** -0.15, rtol=1e-4)
    reference = lines[lines["law"] == REFERENCE]
    fit = trace.task.reference.validation
    np.testing.assert_allclose(reference["loss"], fit.predict({"C": reference["x"]}), rtol=1e-4)


def test_the_lines_reach_the_held_out_frontier(trace):
    data, held = choices_data(trace), trace.task.held_out
    np.testing.assert_allclose(data.held_out["x"], held.inputs["C"], rtol=1e-5)
    assert data.lines["x"].max() == pytest.approx(held.inputs["C"].max(), rel=1e-5)
    assert data.lines["x"].min() == pytest.approx(trace.task.pool.C.min(), rel=1e-5)


def test_a_law_of_N_and_D_is_drawn_against_compute_at_its_best_N_and_D(chinchilla_task, make_trace):
    trace = make_trace(chinchilla_task, SPENT, (None, 0.4, 0.2))
    data, fit = choices_data(trace), chinchilla_task.reference.validation
    assert data.x == "C"
    held = chinchilla_task.held_out.inputs
    np.testing.assert_allclose(data.held_out["x"], 6 * held["N"] * held["D"], rtol=1e-5)
    for C, loss in data.lines[data.lines["law"] == REFERENCE][["x", "loss"]].to_numpy()[::30]:
        N = np.geomspace(1e6, C / 6e6, 20_001)
        assert loss == pytest.approx(fit.predict({"N": N, "D": C / 6 / N}).min(), rel=1e-5)
    assert "laws at their best N and D" in choices(trace).to_dict()["title"]["subtitle"]


def test_diverged_and_far_runs_are_counted_along_the_edge(make_study, compute_law, make_trace):
    grid, loss = compute_law.study.grid, compute_law.loss.copy()
    spare = np.setdiff1d(np.flatnonzero(grid.C < 1e19), compute_law.frontier)[:2]
    loss[spare] = [np.nan, 50.0]
    task = prepare(make_study(grid.columns, loss), compute_law.law)
    rows = [int(np.flatnonzero(task.rows == row)[0]) for row in spare]
    trace = make_trace(task, (0.01, 0.1), (0.2, 0.2), rows=rows)
    data = choices_data(trace)
    assert data.chosen.empty
    assert data.off_scale["state"].tolist() == ["diverged", "above"]
    assert (data.n_diverged, data.n_above) == (1, 1)
    assert data.top < 50
    assert key_of(choices(trace))[-1].startswith("1 diverged, 1 above ")


def test_the_key_names_only_what_is_there(compute_task, make_trace):
    rows = tuple(range(len(compute_task.pool)))
    spent = np.linspace(0.1, 1, len(rows)).tolist()
    trace = make_trace(compute_task, spent, [None] * len(rows), [0.1] * len(rows), rows=rows)
    assert key_of(choices(trace)) == [
        *("initial design", "run", "true envelope of the pool", "held-out frontier"),
        *("law of the whole pool", "law found: observed only"),
    ]


def test_held_out_runs_that_all_diverged_are_no_points(compute_task, make_trace):
    nothing = {"C": np.empty(0)}
    held = replace(
        compute_task.held_out, inputs=nothing, loss=np.empty(0), beyond=np.empty(0, bool)
    )
    trace = make_trace(replace(compute_task, held_out=held), SPENT, (0.2, 0.2, 0.2))
    data = choices_data(trace)
    assert data.held_out.empty
    assert "held-out frontier" not in key_of(choices(trace))


def test_a_replay_without_runs_cannot_be_drawn(compute_task, make_trace):
    with pytest.raises(ChartUnavailable, match="no run was replayed"):
        choices(make_trace(compute_task, (), ()))


def test_a_synthetic_study_is_named_so_in_the_title(compute_task, make_trace):
    trace = make_trace(replace(compute_task, synthetic=True), SPENT, (0.1, 0.1, 0.1))
    assert "small (synthetic)" in " ".join(choices(trace).to_dict()["title"]["text"])
