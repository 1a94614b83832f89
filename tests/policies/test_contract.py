"""What every policy keeps: no row twice, the same rows from the same seed, fewer when exhausted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.policies import make_policy, unasked
from lawsmith.runs import Runs
from tests.policies.fakes import Distance, box, ladder, runs_of

POLICIES = {
    "frontier": lambda n: make_policy("frontier", Distance(), n_init=n),
    "random": lambda n: make_policy("full", None, n_init=n),
    "random window": lambda n: make_policy("window", None, n_init=n),
    "full lcb": lambda n: make_policy("full", Distance(), n_init=n),
    "window lcb": lambda n: make_policy("window", Distance(), n_init=n),
    "window ei": lambda n: make_policy("window", Distance(), acquisition="ei", n_init=n),
    "full ei per flop": lambda n: replace(
        make_policy("full", Distance(), acquisition="ei", n_init=n), cost_exponent=1.0
    ),
    "cheapest": lambda n: make_policy("cheapest", None),
    "V-optimal": lambda n: make_policy("vopt", None, n_init=n),
    "slice by slice pi": lambda n: make_policy(
        "window", Distance(), acquisition="pi", reach=None, n_init=n
    ),
}

GRIDS = {
    "box": box(3, 5, 2),
    "one level": ladder([1.0], n_lr=12),
    "one row a level": ladder(np.logspace(0, 3, 12)),
    "rounded levels": ladder([1.0, 1.01, 2.0, 2.02, 4.0, 4.04], n_lr=2, tolerance=0.02),
    "sliced by N": box(3, 2, 3, slice_by="N"),
    "one row": ladder([1.0]),
}

STATES = np.array(["done", "done", "diverged", "failed", "pending"])


@pytest.fixture(params=POLICIES)
def policy_of(request):
    """``policy_of(n_init)``"""
    return POLICIES[request.param]


@pytest.fixture(params=GRIDS)
def grid(request):
    return GRIDS[request.param]


def play(policy, grid, n, seed):
    """All batches of ``n`` until the grid is exhausted; each run's fate is drawn from the seed."""
    rng, fates = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    runs, batches = Runs.empty(), []
    while rows := policy.ask(grid, runs, n, rng):
        batches.append(rows)
        for row in rows:
            runs = runs.append(runs_of(**{str(fates.choice(STATES)): [row]}))
        assert len(batches) <= len(grid)
    return batches, runs


@pytest.mark.parametrize("n", [1, 3, 100])
def test_every_row_is_asked_exactly_once_whatever_becomes_of_it(policy_of, grid, n):
    batches, runs = play(policy_of(1), grid, n, seed=4)
    asked = [row for rows in batches for row in rows]
    assert sorted(asked) == list(range(len(grid)))
    assert all(isinstance(row, int) for row in asked)
    assert [len(rows) for rows in batches[:-1]] == [n] * (len(batches) - 1)
    assert not policy_of(1).candidates(grid, runs).any()


def test_the_same_seed_gives_the_same_rows(policy_of, grid):
    n_init = min(5, len(grid))
    assert (
        play(policy_of(n_init), grid, 2, seed=1)[0] == play(policy_of(n_init), grid, 2, seed=1)[0]
    )


def test_asking_changes_nothing_but_the_generator(policy_of, grid):
    policy, runs = policy_of(1), runs_of(done=[0])
    first = policy.ask(grid, runs, 4, np.random.default_rng(0))
    assert runs.index.tolist() == [0]
    assert policy.ask(grid, runs, 4, np.random.default_rng(0)) == first


def test_each_row_of_a_batch_is_a_candidate_when_it_is_chosen(policy_of, grid):
    policy, rng = policy_of(min(4, len(grid))), np.random.default_rng(2)
    runs = Runs.empty()
    for _ in range(len(grid)):
        inside = policy.candidates(grid, runs)
        assert inside.shape == (len(grid),)
        assert not (inside & ~unasked(grid, runs)).any()
        (row,) = policy.ask(grid, runs, 1, rng)
        assert inside[row]
        runs = runs.append(runs_of(done=[row]))


def test_the_initial_rows_do_not_depend_on_how_many_are_asked_at_once(policy_of, grid):
    n_init = min(5, len(grid))
    policy = policy_of(n_init)
    rng, single = np.random.default_rng(8), []
    for _ in range(n_init):
        single += policy.ask(grid, runs_of(pending=single), 1, rng)
    assert single == policy.ask(grid, Runs.empty(), n_init, np.random.default_rng(8))


def test_the_name_says_space_and_surrogate(policy_of):
    policy = policy_of(1)
    space, surrogate, *_ = policy.name.split("+")
    assert space in ("frontier", "full", "window", "cheapest", "vopt")
    assert surrogate == (policy.surrogate.name if policy.surrogate else "none")
