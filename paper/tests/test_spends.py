"""The spend until a goal is met, by hand and by definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lawsmith_paper.spends import spend_until_settled

NAN = float("nan")


def test_spend_to_reach_counts_from_where_the_goal_is_met_for_good() -> None:
    fraction = [0.1, 0.2, 0.4, 0.7, 1.0]
    error = np.array([NAN, 0.4, 3.0, -0.5, 0.2])
    assert spend_until_settled(fraction, np.abs(error) <= 1.0) == 0.7
    assert spend_until_settled(fraction, np.abs(error) <= 5.0) == 0.2
    assert spend_until_settled(fraction, np.abs(error) <= 0.1) is None
    assert spend_until_settled(fraction, [True] * 5) == 0.1
    assert spend_until_settled(fraction, [True] * 4 + [False]) is None
    assert spend_until_settled([], []) is None
    assert spend_until_settled(fraction, np.array([0.1, 0.9, 0.95, 0.9, NAN]) >= 0.9) is None


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_after_the_spend_to_reach_and_not_before_the_goal_is_met_to_the_end(within) -> None:
    fraction = np.linspace(0.1, 1.0, len(within))
    spend = spend_until_settled(fraction, within)
    settled = [bool(np.all(within[step:])) for step in range(len(within))]
    assert spend == (fraction[settled.index(True)] if any(settled) else None)
