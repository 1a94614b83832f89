"""Stop rules: what they say, and when they are met."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.laws.uncertainty import Interval
from lawsmith.outlook import DRAWS
from lawsmith.stopping import StopRule, parse_rule, reach, settled


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


def test_a_rule_is_on_the_interval_of_the_true_loss():
    def outlook(low, high):
        truth = SimpleNamespace(truth=Interval(2.0, low, high), pool=Interval(2.0, 2.0, 2.0))
        return SimpleNamespace(at=lambda compute: truth)

    rule = StopRule(1e25, 0.01)
    assert rule.met(outlook(1.981, 2.019))
    assert not rule.met(outlook(1.979, 2.021))
    assert reach(Interval(9.9, 1.0, 3.0)) == pytest.approx(0.5)


def test_a_rule_met_by_luck_is_looked_at_again_with_more_draws():
    looked = []

    def seen(within):
        truth = SimpleNamespace(truth=Interval(1.0, 1.0 - within, 1.0 + within))
        return SimpleNamespace(at=lambda compute: truth)

    def look(first, second):
        def at(n_draws):
            looked.append(n_draws)
            return first if n_draws == DRAWS else second

        return at

    rule = StopRule(1e25, 0.01)
    assert not settled(rule, look(seen(0.009), seen(0.011)))
    assert settled(rule, look(seen(0.009), seen(0.0099)))
    assert looked == [DRAWS, 10 * DRAWS] * 2
    looked.clear()
    assert not settled(rule, look(seen(0.011), None))
    assert not settled(rule, look(None, None))
    assert looked == [DRAWS, DRAWS]
