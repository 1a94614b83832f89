"""Average ranks and verdicts, counted by hand on results of a few numbers."""

from __future__ import annotations

import numpy as np
from paper.tests.methods.fakes import outcome

from lawsmith_paper.methods.contenders import CONTENDERS
from lawsmith_paper.methods.results import METRICS, common
from lawsmith_paper.methods.standings import average_ranks, rankable, verdicts

BY_NAME = {contender.name: contender for contender in CONTENDERS}
THREE = [BY_NAME[name] for name in ("frontier", "window-lcb", "random")]
DIFFERENCE, PARAMETERS, _, MIXED, *_ = METRICS
NAN = np.nan


def three(first, second, third, column="difference"):
    values = dict(zip(("frontier", "window-lcb", "random"), (first, second, third), strict=True))
    return {name: outcome(**{column: v}) for name, v in values.items()}


def test_ranks_are_averaged_over_seeds_then_over_subjects():
    results = {
        "a": three([1.0, 1.0], [2.0, 0.5], [3.0, 3.0]),  # 1.5, 1.5, 3
        "b": three([1.0], [2.0], [3.0]),  # 1, 2, 3: a subject of one seed counts the same
    }
    assert average_ranks(results, DIFFERENCE, THREE, 0.05).tolist() == [1.25, 1.75, 3.0]


def test_more_of_the_envelope_is_better_and_no_law_is_worst():
    more = {"a": three([0.9, 0.8], [0.5, 0.8], [0.1, 0.0], "envelope_mixed")}
    assert average_ranks(more, MIXED, THREE, 0.05).tolist() == [1.25, 1.75, 3.0]
    none = {"a": three([NAN, 5.0], [2.0, NAN], [NAN, NAN])}
    assert average_ranks(none, DIFFERENCE, THREE, 0.05).tolist() == [1.75, 1.75, 2.5]


def test_the_parameters_count_together_whatever_their_number():
    def both(E, alpha):
        return outcome(regret_log_E=E, regret_alpha=alpha)

    results = {
        "a": {
            "frontier": both([1.0], [3.0]),
            "window-lcb": both([2.0], [2.0]),
            "random": both([3.0], [1.0]),
        }
    }
    assert average_ranks(results, PARAMETERS, THREE, 0.05).tolist() == [2.0, 2.0, 2.0]


def test_only_seeds_and_subjects_that_all_have_are_ranked():
    results = {"a": three([1.0, 9.0], [2.0, 1.0], [3.0, 3.0]), "b": three([9.0], [1.0], [2.0])}
    del results["b"]["random"]
    results["a"]["random"] = outcome(seeds=[0], difference=[3.0])
    assert rankable(results, DIFFERENCE, [c.name for c in THREE]) == ["a"]
    assert average_ranks(results, DIFFERENCE, THREE, 0.05).tolist() == [1.0, 2.0, 3.0]
    assert average_ranks(results, MIXED, THREE, 0.05) is None
    pair = [results["a"]["frontier"], outcome(seeds=[1, 4], difference=[7.0, 8.0])]
    assert common(pair, "difference", 0.05).tolist() == [[9.0], [7.0]]


def subject(gap, n=10):
    """Ours is better by ``gap`` on every seed."""
    base = np.linspace(1.0, 2.0, n)
    return {"frontier": outcome(difference=base), "window-lcb": outcome(difference=base + gap)}


def test_a_verdict_needs_a_p_that_survives_the_number_of_subjects():
    few = {"better": subject(0.1), "worse": subject(-0.1), "same": subject(0.0)}
    found = verdicts(few, DIFFERENCE, "window-lcb", 0.1)
    assert (found.better, found.worse, found.n_subjects) == (("better",), ("worse",), 3)
    # 2/1024 times 26 is more than 5 %, times 25 is not.
    for n, certain in ((25, 25), (26, 0)):
        many = {f"{i}": subject(0.1) for i in range(n)}
        assert len(verdicts(many, DIFFERENCE, "window-lcb", 0.1).better) == certain
    assert verdicts({"a": subject(0.1, n=5)}, DIFFERENCE, "window-lcb", 0.1).better == ()
    assert verdicts({}, DIFFERENCE, "window-lcb", 0.1).n_subjects == 0


def test_drawn_families_and_tables_are_corrected_apart():
    # Ten seeds give no p below 2^-9, 26 times which is above the level: 15 and 15 pass, 30 fail.
    tables = {f"table {k}": subject(0.1) for k in range(15)}
    drawn = {f"drawn-{k}, noise × 1": subject(0.1) for k in range(15)}
    found = verdicts(tables | drawn, DIFFERENCE, "window-lcb", 0.1)
    assert (len(found.better), found.worse, found.n_subjects) == (30, (), 30)
    more = tables | {f"further {k}": subject(0.1) for k in range(15)}
    assert verdicts(more, DIFFERENCE, "window-lcb", 0.1).better == ()


def test_regrets_are_compared_by_their_ratios_so_that_units_do_not_matter():
    rng = np.random.default_rng(0)
    regrets = rng.uniform(0.5, 1.0, (2, 2, 10))
    regrets[0, 0] *= 0.2  # ours is five times nearer in E, no nearer in A
    for unit in (1.0, 1e6):
        ours = outcome(regret_log_E=regrets[0, 0], regret_log_A=unit * regrets[0, 1])
        theirs = outcome(regret_log_E=regrets[1, 0], regret_log_A=unit * regrets[1, 1])
        results = {"a": {"frontier": ours, "window-lcb": theirs}}
        assert verdicts(results, PARAMETERS, "window-lcb", 0.1).better == ("a",)
    exact = outcome(regret_log_E=np.zeros(10), regret_log_A=np.zeros(10))
    results = {"a": {"frontier": exact, "window-lcb": exact}}
    found = verdicts(results, PARAMETERS, "window-lcb", 0.1)
    assert (found.better, found.worse, found.n_subjects) == ((), (), 1)
