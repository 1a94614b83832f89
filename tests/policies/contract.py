"""What every policy keeps, as checks to be inherited.

No row twice, the same rows from the same seed, fewer when the grid is exhausted. A test class has a
fixture ``policy_of``, the policy by the size of its initial design, and the names ``spaces``.
"""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.policies import unasked
from lawsmith.runs import Runs
from tests.policies.fakes import box, ladder, runs_of

GRIDS = {
    "box": box(3, 5, 2),
    "one level": ladder([1.0], n_lr=12),
    "one row a level": ladder(np.logspace(0, 3, 12)),
    "near levels": ladder([1.0, 1.01, 2.0, 2.02, 4.0, 4.04], n_lr=2),
    "sliced by N": box(3, 2, 3, slice_by="N"),
    "one row": ladder([1.0]),
}

STATES = np.array(["done", "done", "diverged", "failed", "pending"])


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


class PolicyContract:
    """The checks."""

    spaces: tuple[str, ...]

    @pytest.fixture(params=GRIDS)
    def grid(self, request):
        return GRIDS[request.param]

    @pytest.mark.parametrize("n", [1, 3, 100])
    def test_every_row_is_asked_exactly_once_whatever_becomes_of_it(self, policy_of, grid, n):
        batches, runs = play(policy_of(1), grid, n, seed=4)
        asked = [row for rows in batches for row in rows]
        assert sorted(asked) == list(range(len(grid)))
        assert all(isinstance(row, int) for row in asked)
        assert [len(rows) for rows in batches[:-1]] == [n] * (len(batches) - 1)
        assert not policy_of(1).candidates(grid, runs).any()

    def test_the_same_seed_gives_the_same_rows(self, policy_of, grid):
        n_init = min(5, len(grid))
        assert (
            play(policy_of(n_init), grid, 2, seed=1)[0]
            == play(policy_of(n_init), grid, 2, seed=1)[0]
        )

    def test_asking_changes_nothing_but_the_generator(self, policy_of, grid):
        policy, runs = policy_of(1), runs_of(done=[0])
        first = policy.ask(grid, runs, 4, np.random.default_rng(0))
        assert runs.index.tolist() == [0]
        assert policy.ask(grid, runs, 4, np.random.default_rng(0)) == first

    def test_each_row_of_a_batch_is_a_candidate_when_it_is_chosen(self, policy_of, grid):
        policy, rng = policy_of(min(4, len(grid))), np.random.default_rng(2)
        runs = Runs.empty()
        for _ in range(len(grid)):
            inside = policy.candidates(grid, runs)
            assert inside.shape == (len(grid),)
            assert not (inside & ~unasked(grid, runs)).any()
            (row,) = policy.ask(grid, runs, 1, rng)
            assert inside[row]
            runs = runs.append(runs_of(done=[row]))

    def test_the_initial_rows_do_not_depend_on_how_many_are_asked_at_once(self, policy_of, grid):
        n_init = min(5, len(grid))
        policy = policy_of(n_init)
        rng, single = np.random.default_rng(8), []
        for _ in range(n_init):
            single += policy.ask(grid, runs_of(pending=single), 1, rng)
        assert single == policy.ask(grid, Runs.empty(), n_init, np.random.default_rng(8))

    def test_the_name_says_space_and_surrogate(self, policy_of):
        policy = policy_of(1)
        space, surrogate, *_ = policy.name.split("+")
        assert space in self.spaces
        assert surrogate == (policy.surrogate.name if policy.surrogate else "none")
