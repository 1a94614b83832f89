"""Frontier: envelope and answer per cost, by hand and on a study whose answer is known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from lawsmith.costs import SeparateRuns, Trunks
from lawsmith.datasets import demo_study
from lawsmith.errors import LawsmithError
from lawsmith.policies import (
    Choice,
    Frontier,
    InitialDesign,
    Method,
    make_policy,
    unasked,
)
from lawsmith.policies.frontier import BEYOND
from lawsmith.runs import Runs
from lawsmith.surface import fit_surface
from lawsmith.surrogates import make_surrogate
from lawsmith.surrogates.base import Aim, Posterior
from tests.policies.fakes import Told, box, ladder, runs_of
from tests.synthetic import synthetic_study


class Fixed:
    """A posterior that is given, and the rows' covariances with an answer of variance 1."""

    name = "fixed"

    def __init__(self, mean, sd, scale="loss", covariance=None):
        self.targets: list[float] = []
        m = len(mean)

        def aim(C: float) -> Aim:
            self.targets.append(C)
            one = np.ones(1)
            return Aim(np.array(covariance)[None], one, one, np.zeros(m), 0.0)

        told = aim if covariance is not None else None
        self.posterior = Posterior(np.array(mean), np.array(sd), scale, 0.0, aim=told)

    def fit(self, grid, runs):
        return self.posterior


def ask(policy, grid, runs, **given):
    return policy.ask(grid, runs, 1, np.random.default_rng(0), **given)[0]


def weigh(policy, grid, runs, left=None):
    return policy.weigh(grid, runs, unasked(grid, runs), left)


def test_improvement_is_over_the_best_at_no_more_compute_and_per_flop():
    grid = ladder([1.0, 2.0, 4.0, 8.0])
    runs = Runs.from_losses([0, 2], [3.0, 2.0])
    # Row 1 improves on 3.0 by 0.5 at cost 2, row 3 on 2.0 by 0.5 at cost 8.
    policy = Frontier(Fixed([3.0, 2.5, 2.0, 1.5], [1e-6] * 4), InitialDesign(1))
    np.testing.assert_allclose(weigh(policy, grid, runs).improvement, [0.5, 0.5], rtol=1e-6)
    assert ask(policy, grid, runs) == 1
    # An improvement five times as large outweighs four times the cost.
    policy = Frontier(Fixed([3.0, 2.5, 2.0, -0.5], [1e-6] * 4), InitialDesign(1))
    assert ask(policy, grid, runs) == 3


def test_logs_are_compared_with_logs():
    grid = ladder([1.0, 2.0])
    runs = Runs.from_losses([0], [np.e])
    policy = Frontier(Fixed([1.0, 0.9], [1e-6, 1e-6], "log"), InitialDesign(1))
    assert weigh(policy, grid, runs).improvement[0] == pytest.approx(0.1, rel=1e-4)


def test_a_batch_takes_different_rows_and_an_exhausted_grid_gives_none():
    grid = ladder([1.0, 2.0, 4.0])
    policy = Frontier(Fixed([3.0, 2.5, 2.0], [0.1] * 3), InitialDesign(1))
    rng = np.random.default_rng(0)
    assert sorted(policy.ask(grid, Runs.empty(), 9, rng)) == [0, 1, 2]
    assert policy.ask(grid, Runs.from_losses([0, 1, 2], [3.0, 2.0, 1.0]), 1, rng) == []


def test_improvements_per_flop_and_ranks_are_those_of_a_hand():
    grid = ladder([1.0, 2.0, 4.0, 8.0])
    runs = Runs.from_losses([0, 2], [3.0, 2.0])
    # Row 1 is 0.5 below the envelope at cost 2, row 3 is 1.0 below it at cost 8.
    policy = Frontier(Told([3.0, 2.5, 2.0, 1.0], 1e-6), InitialDesign(1))
    found = weigh(policy, grid, runs)
    assert found.rows.tolist() == [1, 3]
    np.testing.assert_allclose(found.improvement, [0.5, 1.0], rtol=1e-6)
    np.testing.assert_allclose(np.exp(found.scores["envelope"]), [0.25, 0.125], rtol=1e-6)
    assert (found.turn, found.row, found.gain) == ("envelope", 1, None)
    assert [found.rank("envelope", row) for row in (1, 3)] == [1, 2]
    assert found.rank("answer", 1) is None


def told(covariance) -> Frontier:
    """Rows that would each lower the envelope by 1, and tell of the answer what is said."""
    m = len(covariance)
    model = Fixed([1.0] + [0.0] * (m - 1), [1.0] * m, "log", covariance)
    return Frontier(model, InitialDesign(0))


def test_values_take_turns_and_the_gain_is_covariance_squared_per_cost():
    grid = ladder([1.0, 2.0, 4.0, 8.0])
    policy = told([0.0, 0.1, 0.4, 0.2])
    runs = Runs.from_losses([0], [np.e])
    # An SD of 1 and runs of variance 1: gains are covariance²/2.
    odd = weigh(policy, grid, runs)
    np.testing.assert_allclose(odd.gain, [0.005, 0.08, 0.02], rtol=1e-12)
    assert (odd.turn, odd.row) == ("envelope", 1)
    even = weigh(policy, grid, runs.append(runs_of(failed=[3])))
    np.testing.assert_allclose(np.exp(even.scores["answer"]), [0.0025, 0.02], rtol=1e-12)
    assert (even.turn, even.row) == ("answer", 2)
    chosen = policy.choose(grid, runs, 2, np.random.default_rng(0))
    assert [choice.why for choice in chosen] == ["to lower the envelope", "to know the answer"]
    assert [choice.row for choice in chosen] == [1, 2]


def test_a_choice_has_its_values_by_name_in_units_of_loss():
    grid = ladder([1.0, 2.0])
    policy = Frontier(Fixed([1.0, 0.9], [0.1, 0.1], "log", [0.0, 0.05]), InitialDesign(0))
    (chosen,) = policy.choose(grid, Runs.from_losses([0], [np.e]), 1, np.random.default_rng(0))
    # EI of a normal that is expected 0.1 below the best, with an SD of 0.1: 0.1·(Φ(1) + φ(1)).
    expected = {
        "lowers the envelope by": 0.1 * (0.841345 + 0.241971),
        "worth for the answer": 0.05**2 / 2 / 0.1**2,
        "expected loss": np.exp(0.9),
        "SD": 0.1 * np.exp(0.9),
    }
    assert chosen == Choice(1, "to lower the envelope", chosen.values)
    assert dict(chosen.values) == pytest.approx(expected, rel=1e-5)


def test_the_target_is_the_one_given_or_a_hundred_times_the_largest_compute():
    grid, runs = ladder([1.0, 2.0]), Runs.from_losses([0], [np.e])
    policy = told([0.1, 0.1])
    ask(policy, grid, runs)
    ask(replace(policy, target=7.0), grid, runs)
    assert policy.surrogate.targets == [BEYOND * 2.0, 7.0]


def test_one_value_alone_is_never_out_of_turn():
    grid = ladder([1.0, 2.0, 4.0, 8.0])
    for value, row in (("answer", 2), ("envelope", 1)):
        policy = replace(told([0.0, 0.1, 0.4, 0.2]), values=(value,))
        for runs in (runs_of(done=[0]), runs_of(done=[0], failed=[3])):
            assert ask(policy, grid, runs) == row


def test_where_no_run_tells_of_the_answer_the_envelope_chooses():
    grid = ladder([1.0, 2.0, 4.0])
    runs = Runs.from_losses([0], [np.e]).append(runs_of(failed=[2]))
    found = weigh(told([0.0, 0.0, 0.0]), grid, runs)
    assert (found.turn, found.row) == ("envelope", 1)
    assert "answer" not in found.scores


def test_before_any_run_the_answer_chooses():
    found = weigh(told([0.1, 0.1, 0.5]), ladder([1.0, 2.0, 4.0]), Runs.empty())
    assert (found.turn, found.row, found.improvement) == ("answer", 2, None)


def test_a_row_beyond_what_is_left_is_never_asked():
    grid = ladder([1.0, 2.0, 4.0, 8.0])
    runs = Runs.from_losses([0], [np.e])
    rng = np.random.default_rng(0)
    policy = told([0.0, 0.1, 0.1, 9.0])
    assert policy.ask(grid, runs, 9, rng, left=8.0) == [1, 2]
    assert policy.ask(grid, runs, 9, rng, left=6.0 * (1 - 1e-12)) == [1, 2]  # a sum of costs
    assert policy.ask(grid, runs, 9, rng, left=5.9) == [1]
    assert policy.ask(grid, runs, 9, rng, left=1.9) == []
    assert policy.ask(grid, runs, 9, rng, left=0.0) == []
    assert policy.ask(grid, runs, 9, rng, left=-1.0) == []


@pytest.mark.parametrize("n_init", [0, 3])
def test_what_may_not_be_asked_is_not_asked_in_the_design_or_after_it(n_init):
    grid = box(2, 3, 2)
    policy = make_policy("frontier", make_surrogate("surface"), n_init=n_init)
    allowed = np.zeros(len(grid), dtype=bool)
    allowed[[1, 4, 7, 10]] = True
    rows = policy.ask(grid, Runs.empty(), 9, np.random.default_rng(0), allowed=allowed)
    assert sorted(rows) == [1, 4, 7, 10]


def test_a_sequence_never_costs_more_than_is_left():
    study = demo_study()
    policy = make_policy("frontier", make_surrogate("surface"), n_init=0, pricing=Trunks(0.2))
    left = 0.002 * study.grid.C.sum()
    rows = policy.ask(study.grid, Runs.empty(), 12, np.random.default_rng(0), left=left)
    assert len(set(rows)) == len(rows) > 3
    assert Trunks(0.2).total(study.grid, rows) <= left * (1 + 1e-9)


def test_prices_of_trunks_change_the_choice():
    # Two N; a run of the first left a trunk, so that going on from it costs a tenth of its compute.
    grid = box(2, 2, 1)  # C/6: 10, 20, 20, 40
    runs = Runs.from_losses([1], [np.e])
    model = Fixed([0.0, 1.0, 0.0, 0.0], [1.0] * 4, "log", [0.2, 0.0, 0.3, 0.0])
    apart = Frontier(model, InitialDesign(0), values=("answer",))
    # Gains of 0.02 and 0.045 for 10 and 20.
    assert ask(apart, grid, runs) == 2
    assert ask(replace(apart, pricing=Trunks(0.1)), grid, runs) == 0


def test_with_much_left_a_cheap_run_is_not_chosen_for_its_price_alone():
    grid = ladder([1.0, 2.0, 20.0])
    runs = Runs.from_losses([0], [np.e])
    # Gains of 0.02 and 0.08 for 2 and 20: per FLOP the first is better by 2.5.
    policy = replace(told([0.0, 0.2, 0.4]), values=("answer",))
    assert ask(policy, grid, runs) == 1
    # left/horizon is added to each price: 0.02/(2 + 10) against 0.08/(20 + 10).
    assert ask(replace(policy, horizon=20.0), grid, runs, left=200.0) == 2
    # 0.02/(2 + 3) against 0.08/(20 + 3).
    assert ask(replace(policy, horizon=20.0), grid, runs, left=60.0) == 1
    assert ask(replace(policy, horizon=np.inf), grid, runs, left=200.0) == 1
    scores = weigh(replace(policy, horizon=20.0), grid, runs, left=200.0).scores["answer"]
    np.testing.assert_allclose(np.exp(scores), [0.02 / 12, 0.08 / 30], rtol=1e-12)


def test_at_the_end_of_a_budget_a_cheap_run_that_nobody_wants_is_not_made():
    grid = ladder([1.0, 2.0, 100.0])
    runs = Runs.from_losses([0], [np.e])
    rng = np.random.default_rng(0)
    policy = replace(told([0.0, 0.1, 9.0]), values=("answer",))  # the last is wanted
    # More than a hundredth of the budget is left: what can be paid is made.
    assert policy.ask(grid, runs, 1, rng, left=3.0, budget=200.0) == [1]
    assert policy.ask(grid, runs, 1, rng, left=3.0, budget=300.0) == []
    # Where the wanted run itself is cheap enough, it is made to the last FLOP.
    policy = replace(told([0.0, 9.0, 0.1]), values=("answer",))
    assert policy.ask(grid, runs, 1, rng, left=2.0, budget=300.0) == [1]


@pytest.mark.parametrize("runs", [Runs.empty(), Runs.from_losses([0], [3.0])])
def test_a_design_is_drawn_and_has_no_values(runs):
    policy = Frontier(Told([3.0, 2.5, 2.0], 0.1), InitialDesign(2))
    (chosen,) = policy.choose(ladder([1.0, 2.0, 4.0]), runs, 1, np.random.default_rng(0))
    assert (chosen.why, dict(chosen.values)) == ("initial design, at random", {})


def test_a_surrogate_without_a_prior_is_not_asked_before_a_loss_is_there():
    policy = Frontier(Told([3.0, 2.5, 2.0], 0.1), InitialDesign(1))
    grid, rng = ladder([1.0, 2.0, 4.0]), np.random.default_rng(0)
    (chosen,) = policy.choose(grid, runs_of(diverged=[0]), 1, rng)
    assert (chosen.why, dict(chosen.values)) == ("at random", {})


@pytest.mark.parametrize("options", [{}, {"pricing": Trunks(0.2)}, {"n_init": 4}])
def test_what_is_weighed_is_what_the_policy_goes_by(options):
    study = demo_study()
    grid, loss = study.grid, study.runs.config_loss(len(study.grid))
    policies = [
        make_policy("frontier", make_surrogate("surface"), **{"n_init": 0, **options})
        for _ in range(2)
    ]
    runs, turns = Runs.empty(), []
    for n in range(10):
        left = 0.02 * float(grid.C.sum()) - float(grid.C[runs.index].sum())
        (chosen,) = policies[0].choose(grid, runs, 1, np.random.default_rng([3, n]), left=left)
        row = chosen.row
        if policies[1].searching(grid, runs):
            free, _ = policies[1].payable(grid, runs, left)
            found = policies[1].weigh(grid, runs, free, left)
            turns.append(found.turn)
            assert found.row == row
            assert found.rank(found.turn, row) == 1
            assert dict(found.choice().values) == dict(chosen.values)
        runs = runs.append(Runs.from_losses([row], loss[[row]]))
    assert set(turns) == {"envelope", "answer"}
    assert len(turns) == 10 - options.get("n_init", 0)


def test_it_needs_a_surrogate():
    with pytest.raises(LawsmithError, match=r"policy frontier: got no surrogate"):
        make_policy("frontier", None)


def test_a_surrogate_without_a_prior_needs_a_first_run():
    with pytest.raises(LawsmithError, match="n_init: got 0 initial runs with surrogate told"):
        make_policy("frontier", Told([1.0]), n_init=0)


@dataclass(frozen=True)
class AtRandom(Frontier):
    """Any row that can be paid."""

    def weigh(self, grid, runs, free, left):
        return None


def spend(policy, study, budget, seed):
    """Runs that a policy makes of a study, one at a time, within a budget."""
    grid, loss = study.grid, study.runs.config_loss(len(study.grid))
    runs = Runs.empty()
    while True:
        left = budget - float(grid.C[runs.index].sum())
        rows = policy.ask(grid, runs, 1, np.random.default_rng([seed, len(runs)]), left=left)
        if not rows:
            return runs
        runs = runs.append(Runs.from_losses(rows, loss[rows]))


def test_its_answer_is_known_better_than_that_of_runs_at_random_and_near_the_truth():
    """A study drawn from a known surface, a twentieth of its compute, a target beyond it."""
    study = synthetic_study()
    target = 10.0 * float(study.grid.C.max())
    N = np.geomspace(1e8, 1e12, 4000)
    law = 1.62 + 170.0 * N**-0.287 + 190.0 * (target / (6 * N)) ** -0.264
    truth, budget = float(law.min()), 0.05 * float(study.grid.C.sum())
    found = {}
    for kind in (Frontier, AtRandom):
        policy = kind(make_surrogate("surface"), InitialDesign(0), target)
        found[kind] = [
            fit_surface(study.grid, spend(policy, study, budget, seed)).best(target)
            for seed in range(1 if kind is Frontier else 5)
        ]
    (ours,) = found[Frontier]
    widths = [np.log(one.high / one.low) for one in found[AtRandom]]
    assert np.log(ours.high / ours.low) < 0.8 * np.median(widths)
    assert ours.low < truth < ours.high
    assert abs(np.log(ours.loss / truth)) < 0.02


def test_a_method_says_how_many_first_runs_it_makes():
    assert Method().n_first == 0
    assert Method(n_init=4).n_first == 4
    assert Method(surrogate="gp").n_first == 10
    assert Method(policy="window").n_first == 10
    assert isinstance(Method().pricing, SeparateRuns)
    told = Method(policy="window", surrogate="gp", kernel="linear", target=1e20).settings()
    assert told["n_init"] == 10
    assert (told["policy"], told["surrogate"], told["kernel"]) == ("window", "gp", "linear")
    assert "target" not in told
    assert "pricing" not in told


def test_it_finds_the_envelope_of_a_study_with_a_tenth_of_its_compute():
    from lawsmith.laws.catalogue import get_law
    from lawsmith.replay import Stop, prepare, run_replay

    task = prepare(synthetic_study(), get_law("LC"))
    stop = Stop(budget=0.1 * task.total_compute)
    shares = {}
    for how in (Method(), Method("window", "gp")):
        policy = make_policy(how.policy, how.make_surrogate(), **how.options())
        shares[how.policy] = run_replay(task, policy, seed=0, stop=stop).steps[-1].envelope_observed
    assert shares["frontier"] >= 0.6
    assert shares["frontier"] > shares["window"]
