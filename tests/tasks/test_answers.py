"""Accuracies at a target beside worlds whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from lawsmith.answer import Target
from lawsmith.errors import LawsmithError
from lawsmith.tasks import Task, answer_task
from lawsmith.tasks.curve import Shape, mean_and_scale
from lawsmith.tasks.members import x_of

from .worlds import accuracy_at, loss_at, world

TARGETS = [Target(6.0 * n * d, n, d) for n, d in ((1.4e9, 2.8e10), (1.4e9, 2.2e11), (7e9, 1.4e11))]
TASK = Task("acc:drawn", chance=0.25, questions=2000)


def truth(target):
    return accuracy_at(loss_at(target.N, target.D))


@pytest.fixture(scope="module")
def found():
    return [answer_task(world(seed), TASK, TARGETS) for seed in range(6)]


def test_the_true_accuracy_lies_in_the_interval(found):
    inside = [f.low <= truth(f.target) <= f.high for a in found for f in a.forecasts]
    assert np.mean(inside) > 0.9


def test_the_value_is_near_the_truth_and_inside_its_interval(found):
    errors = [abs(f.value - truth(f.target)) for a in found for f in a.forecasts]
    assert np.mean(errors) < 0.03
    assert all(f.low <= f.value <= f.high for a in found for f in a.forecasts)
    assert all(f.mean_low <= f.value <= f.mean_high for a in found for f in a.forecasts)


def test_intervals_are_of_some_use(found):
    # A straight guess between chance and the ceiling would be ±35 points.
    assert np.median([f.half_width for a in found for f in a.forecasts]) < 0.1


def test_weights_sum_to_one_over_both_ways(found):
    for answer in found:
        assert set(answer.model.way_weights()) == {"two steps", "direct"}
        assert sum(answer.model.way_weights().values()) == pytest.approx(1.0)


def test_a_given_chance_is_kept_and_a_missing_one_estimated(found):
    assert not found[0].to_dict()["chance"]["estimated"]
    guessed = answer_task(world(0), replace(TASK, chance=None), TARGETS)
    assert guessed.to_dict()["chance"]["estimated"]
    assert guessed.chance.low < 0.25 < guessed.chance.high
    assert guessed.to_dict()["chance"]["estimated"] is True


def test_without_a_loss_the_direct_way_answers_alone():
    alone = answer_task(world(0, via=""), TASK, TARGETS)
    assert set(alone.model.way_weights()) == {"direct"}
    assert alone.to_dict()["answers"][0]["loss"] is None
    assert all(f.low <= truth(f.target) <= f.high for f in alone.forecasts)


def test_a_target_of_compute_alone_is_answered_at_the_best_scales(found):
    C = TARGETS[0].C
    best = answer_task(world(0), TASK, [Target(C)]).forecasts[0]
    ratios = np.geomspace(1.0, 1000.0, 200)
    N = np.sqrt(C / 6.0 / ratios)
    top = max(accuracy_at(loss_at(n, r * n)) for n, r in zip(N, ratios, strict=True))
    assert best.low <= top <= best.high
    assert best.value > found[0].forecasts[0].value - 0.02


def test_runs_at_chance_are_warned_of_and_leave_the_answer_open():
    flat = world(1, accuracy=lambda loss: np.full_like(loss, 0.25))
    answer = answer_task(flat, TASK, TARGETS[2:])
    assert "at_chance" in {w.code for w in answer.warnings}
    assert "near chance" in answer.verdict
    assert answer.forecasts[0].high > 0.28  # the task may rise
    assert "at_chance" not in {w.code for w in answer_task(world(1), TASK, TARGETS).warnings}


def test_fewer_questions_make_a_wider_interval():
    some = answer_task(world(2, questions=50), replace(TASK, questions=50), TARGETS[:1])
    many = answer_task(world(2, questions=20000), replace(TASK, questions=20000), TARGETS[:1])
    assert some.forecasts[0].half_width > 1.5 * many.forecasts[0].half_width


def test_the_unit_of_the_loss_does_not_matter():
    nats = world(3)
    runs = replace(nats.runs, loss=nats.runs.loss / np.log(2.0))
    bits = replace(nats, runs=runs)
    ends = [
        [(f.value, f.low, f.high) for f in answer_task(w, TASK, TARGETS).forecasts]
        for w in (nats, bits)
    ]
    np.testing.assert_allclose(ends[0], ends[1], atol=0.01)


def test_held_out_runs_are_predicted_and_not_used():
    scores = world(4)
    held = np.flatnonzero(np.quantile(scores.grid.C, 0.7) < scores.grid.C)
    answer = answer_task(scores, TASK, TARGETS[:1], held_out=held)
    assert answer.n_runs == len(scores.grid) - len(held)
    assert answer.held_out is not None
    assert sorted(answer.held_out.rows) == sorted(held)
    assert answer.held_out.inside.mean() > 0.7
    spoilt = scores.accuracy.copy()
    spoilt[held] = 0.0
    other = answer_task(replace(scores, accuracy=spoilt), TASK, TARGETS[:1], held_out=held)
    assert other.forecasts[0].value == answer.forecasts[0].value


def test_the_noise_of_questions_is_binomial():
    still = [np.array([[v]]) for v in (0.25, 0.9, 9.0, 1.0, 1e-9, 1e-9)]
    x = np.array([0.8, 1.0, 1.3])
    mean, scale = mean_and_scale(Shape(*still), x, 400)
    np.testing.assert_allclose(scale[0], binom.std(400, mean[0]) / 400, rtol=1e-6)
    assert np.all(np.diff(mean[0]) < 0)  # less loss, more accuracy
    assert mean.min() > 0.25
    assert mean.max() < 0.9


def test_n_and_d_join_so_that_the_scarcer_one_counts():
    u = np.zeros((1, 8))
    x = x_of(u, np.array([[0.0, 0.0], [5.0, 5.0], [40.0, 0.0], [0.0, 40.0]]))[0]
    np.testing.assert_allclose(x[:2], [0.0, -5.0])
    # However much there is of the other, half of the sum is left: ln 2 / a of scale.
    np.testing.assert_allclose(x[2:], -np.log(2.0) / 0.35, rtol=1e-4)


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [
        (lambda y: 100.0 * y, "want a fraction from 0 to 1 .divide percentages by 100"),
        (lambda y: y - 0.5, "accuracy: got -0"),
        (lambda y: np.where(np.arange(len(y)) < 3, y, np.nan), "got 3 runs with an accuracy"),
    ],
)
def test_accuracies_that_are_none_are_refused(accuracy, words):
    scores = world(0)
    with pytest.raises(LawsmithError, match=words):
        answer_task(replace(scores, accuracy=accuracy(scores.accuracy)), TASK, TARGETS)


def test_a_target_without_a_scale_of_the_study_is_refused():
    with pytest.raises(LawsmithError, match="the scales of this study"):
        answer_task(world(0), TASK, [Target(np.nan, N=1e9)])


def test_text_and_html_tell_the_same_numbers(found):
    answer = found[0]
    first = answer.forecasts[0]
    for text in (answer.summary(), answer._repr_html_()):
        assert f"{100 * first.value:.1f}%" in text
        assert f"{100 * first.low:.1f}%" in text
        assert "Chance 25.0%" in text


def test_ways_that_cannot_be_judged_count_the_same_and_it_says_so():
    scores = world(0)
    few = scores.take(np.arange(len(scores.runs)) < 6)
    answer = answer_task(few, TASK, TARGETS[:1])
    assert answer.model.way_weights() == pytest.approx({"two steps": 0.5, "direct": 0.5})
    assert "too few runs to judge" in answer.summary()
    assert "few_runs" in {w.code for w in answer.warnings}
