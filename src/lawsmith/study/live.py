"""A live study: its file, candidates, policy and journal, put together."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from lawsmith import __version__
from lawsmith.costs import Pricing
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid, IntArray
from lawsmith.journal import Event, Journal, Kind, Ledger, make
from lawsmith.journal.events import VERSION
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.law import Law
from lawsmith.policies.base import Policy
from lawsmith.spec import Candidates, StudySpec, build_candidates, load_spec
from lawsmith.study.history import History, history_of
from lawsmith.study.layout import Layout
from lawsmith.study.pricing import make_pricing
from lawsmith.study.schedule import live_surrogate
from lawsmith.surrogates.base import Surrogate


@dataclass
class LiveStudy:
    """What a study file says, and the journal beside it."""

    layout: Layout
    spec: StudySpec
    candidates: Candidates
    law: Law
    journal: Journal
    _pools: dict[bytes, Grid] = field(default_factory=dict, repr=False)

    @property
    def grid(self) -> Grid:
        return self.candidates.grid

    @property
    def budget(self) -> float:
        """FLOPs."""
        return self.spec.budget_flops

    @cached_property
    def pricing(self) -> Pricing:
        return make_pricing(self.spec.cost)

    @cached_property
    def surrogate(self) -> Surrogate | None:
        """What predicts the runs not made; None where proposals are drawn at random."""
        return live_surrogate(self.spec.policy.surrogate, seed=self.spec.seed)

    def policy(self, pool: Grid, budget: float) -> Policy:
        """The policy on a pool, whose initial design is no larger than the pool.

        budget   FLOPs for all runs of the pool together, as a policy counts them: by their compute
        """
        from lawsmith.acquisition import KAPPA
        from lawsmith.policies import make_policy
        from lawsmith.policies.spaces import REACH

        told = self.spec.policy
        return make_policy(
            told.name,
            self.surrogate,
            acquisition=told.acquisition,
            kappa=KAPPA if told.kappa is None else told.kappa,
            reach=REACH if told.reach is None else told.reach,
            n_init=min(told.n_init, len(pool)),
            law=self.law,
            target=self.spec.law.targets[0] if self.spec.law.targets else None,
            budget=budget,
        )

    def history(self, ledger: Ledger) -> History:
        """The ledger on the grid."""
        return history_of(ledger, self.candidates)

    def pool(self, rows: IntArray) -> Grid:
        """The grid of the pool; the same object for the same rows, by which surrogates go on."""
        if len(rows) == len(self.grid):
            return self.grid
        key = rows.tobytes()
        if key not in self._pools:
            self._pools.clear()
            self._pools[key] = self.grid.subset(rows)
        return self._pools[key]

    def begin(self) -> Ledger:
        """The ledger, with a first line on record if there was none."""
        if self.read().created is None:
            self.journal.update(self._created)
        return self.read()

    def read(self) -> Ledger:
        """The ledger as it is on disk, which must be this study's; nothing is written."""
        told = self.journal.refresh().created
        if told is not None and told["study"] != self.spec.name:
            got = f"the journal of study {told['study']!r}"
            want = f"one of {self.spec.name!r}"
            hint = "every study has a folder of its own"
            raise LawsmithError(str(self.layout.journal), got=got, want=want, hint=hint)
        return self.journal.ledger

    def note_changes(self) -> None:
        """Put on record that the study file is not what it was."""
        digest = self.digest()
        self.journal.update(
            lambda ledger: [] if ledger.spec == digest else [make(Kind.CHANGED, spec=digest)]
        )

    def digest(self) -> str:
        """A short name of what the study file says."""
        return hashlib.sha256(self.spec.model_dump_json().encode()).hexdigest()[:12]

    def _created(self, ledger: Ledger) -> list[Event]:
        if ledger.created is not None:
            return []
        about = {"study": self.spec.name, "id": os.urandom(3).hex(), "seed": self.spec.seed}
        return [
            make(Kind.CREATED, version=VERSION, lawsmith=__version__, spec=self.digest(), **about)
        ]


def open_study(file: str | Path) -> LiveStudy:
    """The study of a file; nothing is written yet."""
    layout = Layout.of(file)
    spec = load_spec(file)
    try:
        candidates = build_candidates(spec)
        law = get_law(spec.law.name)
    except LawsmithError as error:
        raise LawsmithError(f"{file}: {error}") from None
    return LiveStudy(layout, spec, candidates, law, Journal(layout.journal))
