"""Stop rules: what they say, and when they are met."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.answer import Answer, Forecast, Target
from lawsmith.answer.cautions import verdict
from lawsmith.errors import LawsmithError
from lawsmith.stopping import StopRule, parse_rule
from tests.answer.test_make import forecast


@pytest.mark.parametrize(
    ("text", "compute", "within"),
    [
        ("loss@1e25 within 1%", 1e25, 0.01),
        ("loss @ 3.5e24 within 0.25 %", 3.5e24, 0.0025),
        ("  loss@1e25   within   10%  ", 1e25, 0.1),
    ],
)
def test_a_rule_is_read_and_written_as_people_write_it(text, compute, within):
    rule = parse_rule(text)
    assert rule.compute == compute
    assert rule.within == pytest.approx(within)
    assert parse_rule(str(rule)) == rule


@pytest.mark.parametrize(
    "text",
    [
        *("", "loss@1e25", "loss@1e25 within 1", "loss@ within 1%", "loss@-1 within 1%"),
        *("loss@1e25 within 0%", "loss@nan within 1%", "loss@1e25 within x%"),
        "loss@1e25 within 1%; x",
    ],
)
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(LawsmithError, match=r"stop rule: got .*loss@1e25 within 1%"):
        parse_rule(text)


def answer_of(found: Forecast) -> Answer:
    return Answer(
        study="",
        level=0.95,
        n_runs=20,
        largest=1e21,
        forecasts=(found,),
        left_out=np.arange(0),
        held_out=None,
        warnings=(),
        verdict="",
        surface=None,
    )


def known_to(low: float, high: float, run: float = 0.5) -> Answer:
    """An answer of 2.0 at 1e25 FLOPs."""
    found = forecast(
        target=Target(1e25), low=low, high=high, run_low=low - run, run_high=high + run
    )
    return answer_of(found)


def test_a_rule_is_on_the_interval_of_the_loss_and_not_of_a_run():
    rule = StopRule(1e25, 0.01)
    assert rule.met(known_to(1.981, 2.019))
    assert not rule.met(known_to(1.979, 2.021))
    assert rule.met(known_to(1.999, 2.037))  # half the width counts, wherever the loss lies in it


def test_a_rule_holds_what_the_verdict_says():
    answer = known_to(1.97, 2.03)
    told = verdict(answer.forecasts, (), 0.95)
    assert "±1.5%" in told
    assert StopRule(1e25, 0.015001).met(answer)
    assert not StopRule(1e25, 0.014999).met(answer)


def test_a_rule_at_a_compute_that_was_not_asked_for_is_a_slip():
    with pytest.raises(LawsmithError, match="target: got 1e\\+24, want 1e25 FLOPs"):
        StopRule(1e24, 0.01).met(known_to(1.9, 2.1))


def test_a_size_of_that_compute_is_not_the_best_at_it():
    sized = forecast(target=Target(1e25, 1e12, 1e25 / 6e12))
    answer = answer_of(sized)
    with pytest.raises(LawsmithError, match="target"):
        StopRule(1e25, 0.5).met(answer)
