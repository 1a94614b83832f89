"""The law of a schedule: by hand, in the limit of a constant rate, and recovered from a draw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.curves.ends import cut, scheduled_ends, try_laws
from lawsmith.curves.schedule import ScheduleLaw, Steps, Units, fit_law
from lawsmith.trajectory import RatePath, curve, rate_path

UNITS = Units(3e-4, 1e10)
THETA = np.log([2.5, 0.25, 0.5, 0.2, 100.0, 0.5, 0.5])
D = np.linspace(1e9, 1e10, 181)


def rate(kind: str, D=D) -> np.ndarray:
    share = (D - D[0]) / (D[-1] - D[0])
    return (
        3e-4
        * {
            "constant": np.ones_like(D),
            "cosine": 0.55 + 0.45 * np.cos(np.pi * share),
            "wsd": np.clip((1.0 - share) / 0.2, 0.1, 1.0),
            "linear": 1.0 - 0.9 * share,
        }[kind]
    )


def drawn(kind: str, noise: float = 0.0, N: float = 1e8):
    path = rate_path(D, rate(kind))
    loss = np.exp(Steps(path, UNITS, D).log_loss(THETA))
    rng = np.random.default_rng(len(kind))
    return curve(
        f"{kind}-{N:g}", "scheduled", D, loss * np.exp(noise * rng.standard_normal(len(D))),
        rate(kind), N=N,
    )  # fmt: skip


def test_a_constant_rate_is_a_power_law_in_tokens():
    got = Steps(rate_path(D, rate("constant")), UNITS, D).log_loss(THETA)
    assert np.exp(got) == pytest.approx(2.5 + 0.25 * (D / 1e10) ** -0.5)


def test_one_step_down_releases_what_the_formula_says():
    path = RatePath(
        np.array([1e9, 5e9, 5e9, 9e9]), 3e-4 * np.array([1.0, 1.0, 0.5, 0.5]), np.empty(0)
    )
    path = rate_path(path.D, path.lr)
    got = Steps(path, UNITS, np.array([9e9])).log_loss(THETA)
    S, since = 0.5 + 0.5 * 0.4, 0.5 * 0.4  # in units of the largest rate and 1e10 tokens
    released = 1.0 - (1.0 + 100.0 * 0.5**-0.5 * since) ** -0.5
    assert np.exp(got) == pytest.approx([2.5 + 0.25 * S**-0.5 - 0.2 * 0.5 * released])


def test_thinning_a_path_does_not_move_the_loss():
    many = np.linspace(1e9, 1e10, 20001)
    whole, few = (rate_path(many, rate("cosine", many), most) for most in (10**6, 400))
    at = np.array([5e9, 1e10])
    a, b = (Steps(path, UNITS, at).log_loss(THETA) for path in (whole, few))
    assert b == pytest.approx(a, abs=2e-4)


def test_ends_of_other_schedules_follow_from_two():
    known = [drawn("constant", 5e-4), drawn("cosine", 5e-4)]
    law = fit_law(known, UNITS)
    for kind in ("wsd", "linear"):
        end = drawn(kind)
        assert law.end(end)[0] == pytest.approx(np.log(end.loss[-1]), abs=0.005)


def test_errors_by_theta_are_those_of_a_finite_step():
    law = ScheduleLaw(UNITS, THETA, np.diag([1e-4, 0, 0, 0, 0, 0, 0]), 0.001)
    value, variance = law.log_loss(rate_path(D, rate("constant")), np.array([1e10]))
    slope = 2.5 / np.exp(value)  # d ln L / d ln L0
    assert np.sqrt(variance) == pytest.approx(0.01 * slope, rel=1e-3)


def test_unfinished_runs_end_within_their_intervals():
    finished = [drawn(kind, 5e-4) for kind in ("constant", "cosine", "wsd")]
    planned = cut(drawn("linear", 5e-4), 0.5)
    ends, (y, cov), notes = scheduled_ends([*finished, planned], 0.95)
    assert notes == ()
    assert len(y) == 1
    assert cov.shape == (1, 1)
    truth = float(drawn("linear").loss[-1])
    assert ends[0].run_low <= truth <= ends[0].run_high
    assert ends[0].loss == pytest.approx(truth, rel=0.005)
    assert planned.end == ends[0].D


def test_a_law_that_cannot_be_tried_is_not_used_and_the_note_says_why():
    ends, _, notes = scheduled_ends([drawn("cosine"), cut(drawn("wsd"), 0.5)], 0.95)
    assert ends == ()
    assert "at least 2 finished runs" in notes[0]


def test_a_law_that_errs_is_not_used_and_the_note_says_by_how_much():
    rng = np.random.default_rng(0)
    wild = []
    for kind in ("constant", "cosine", "wsd", "linear"):
        c = drawn(kind)
        wild.append(replace(c, loss=c.loss * np.exp(0.3 * rng.standard_normal())))
    ends, _, notes = scheduled_ends([*wild, cut(drawn("linear", N=1e8), 0.0)], 0.95)
    assert ends == ()
    assert "erred by" in notes[0]
    assert "held out" in notes[0]


def test_trials_count_finished_scheduled_runs_alone():
    trunk = replace(drawn("constant"), kind="trunk")
    group = [trunk, drawn("cosine"), drawn("wsd"), cut(drawn("linear"), 0.5)]
    assert try_laws([group], 0.0).n == 2
