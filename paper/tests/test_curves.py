"""Curves: the arrays agree with the scores of every step, from a trace and from its records."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lawsmith.datasets import demo_study
from lawsmith.laws.catalogue import get_law
from lawsmith.policies import make_policy
from lawsmith.replay import Stop, prepare, run_replay
from lawsmith.surrogates.gp import GP
from lawsmith_paper.curves import FITS, curves_from, curves_of, incumbent_index, running_minimum
from lawsmith_paper.records import step_record

NAN = float("nan")
# Few values, so that ties are common.
VALUES = st.sampled_from([0.0, 0.5, 1.0, 2.0, NAN, np.inf])
TRACES = hnp.arrays(np.float64, st.integers(0, 12), elements=VALUES)


@pytest.fixture(scope="module", params=["LC", "chinchilla"])
def trace(request):
    task = prepare(demo_study(), get_law(request.param))
    return run_replay(task, make_policy("window", GP()), seed=1, stop=Stop(iterations=60))


def from_records(trace):
    lines = [json.dumps(step_record(step, trace.task.law)) for step in trace.steps]
    records = [json.loads(line) for line in lines]
    return curves_from(trace.task, records, policy="p", seed=1, settings={})


@pytest.mark.parametrize("make", [curves_of, from_records])
@pytest.mark.parametrize("fit", FITS)
def test_every_metric_is_that_of_the_step(trace, make, fit):
    curves, law = make(trace), trace.task.law
    scores = [getattr(step, fit) for step in trace.steps]
    assert curves.has_law(fit).tolist() == [s is not None for s in scores]
    assert 0 < curves.has_law(fit).sum() <= 51

    def same(array, value):
        wanted = [np.nan if s is None else value(s) for s in scores]
        np.testing.assert_allclose(array, wanted, rtol=1e-9, atol=1e-12)

    for key in [*law.names, *(f"log_{p.name}" for p in law.params if p.positive)]:
        same(curves.regret(key, fit), lambda s, key=key: s.regret[key])
    same(curves.held_out_mse(fit), lambda s: s.held_out_mse)
    same(curves.held_out_mse_beyond(fit), lambda s: s.held_out_mse_beyond)
    same(curves.pool_mse(fit), lambda s: s.pool_mse)
    same(curves.extrapolation("1e25", fit), lambda s: s.extrapolation["1e25"])
    name = "envelope_observed" if fit == "observed" else "envelope_mixed"
    wanted = [getattr(step, name) for step in trace.steps]
    np.testing.assert_array_equal(
        curves.envelope[fit], [np.nan if v is None else v for v in wanted]
    )


def test_the_incumbents_of_a_trace_are_the_nearest_parameters_so_far(trace):
    curves, task, law = curves_of(trace), trace.task, trace.task.law
    phi, off = (
        curves.incumbent_laws("fantasized"),
        curves.extrapolation_incumbent("1e25", "fantasized"),
    )
    wanted = task.reference.validation.phi
    nearest = np.full(law.n_params, np.inf)
    for i, step in enumerate(trace.steps):
        if step.fantasized is not None:
            found = step.fantasized.params | step.fantasized.log_params
            now = np.array([found[name] for name in law.names])
            nearest = np.where(np.abs(now - wanted) < np.abs(nearest - wanted), now, nearest)
        if np.isinf(nearest).any():
            assert np.isnan(phi[i]).all()
            continue
        np.testing.assert_allclose(phi[i], nearest, rtol=1e-12)
        if law.name == "LC":
            predicted = np.exp(nearest[0]) + np.exp(nearest[1]) * 1e25 ** nearest[2]
            assert off[i] == pytest.approx(100 * (predicted / task.reference.losses["1e25"] - 1))


def test_spend_and_rows_are_the_traces(trace):
    curves = curves_of(trace)
    np.testing.assert_allclose(curves.cost_fraction, trace.cost_fraction, rtol=1e-12)
    assert curves.rows.tolist() == [step.candidate for step in trace.steps]
    assert len(curves) == 60


def test_the_incumbent_skips_what_is_unknown_and_never_rises() -> None:
    values = [NAN, 3.0, 1.0, NAN, 2.0, 1.0, 0.5]
    np.testing.assert_array_equal(running_minimum(values), [NAN, 3.0, 1.0, 1.0, 1.0, 1.0, 0.5])
    np.testing.assert_array_equal(incumbent_index(values), [-1, 1, 2, 2, 2, 2, 6])
    assert running_minimum([]).shape == incumbent_index([]).shape == (0,)


@given(TRACES)
def test_the_incumbent_is_the_least_finite_value_so_far(values) -> None:
    for step, (least, at) in enumerate(
        zip(running_minimum(values), incumbent_index(values), strict=True)
    ):
        seen = [value for value in values[: step + 1] if np.isfinite(value)]
        assert least == min(seen) if seen else np.isnan(least)
        assert values[: step + 1].tolist().index(min(seen)) == at if seen else at == -1


def test_the_law_of_the_incumbents_takes_each_parameter_from_its_own_step() -> None:
    E, alpha = np.array([1.2, 1.5, 1.9]), np.array([-0.10, -0.20, -0.14])
    steps = [incumbent_index(np.abs(E - 1.6)), incumbent_index(np.abs(alpha + 0.15))]
    assert (E[steps[0]].tolist(), alpha[steps[1]].tolist()) == (
        [1.2, 1.5, 1.5],
        [-0.10, -0.10, -0.14],
    )
