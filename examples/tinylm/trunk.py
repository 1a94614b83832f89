"""Trunks: one stable run per size and batch, from which each token budget branches its decay.

    ────┬──────────┬────────────────────┬───   trunk, constant learning rate
        └─╲ 2^20   └───╲ 2^21           └──────╲ 2^22      branches: the last fifth decays

A branch is the run one would have got by training for its budget alone, so a trunk gives the runs
of all budgets for little more than the price of the longest. On the way a trunk can be evaluated:
its held-out losses, at some marks and at every branch point, go into the rows of its branches. A
trunk trains in a generator that queues work and yields, so that several can share one GPU, which
tiny models cannot fill alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from data import Corpus
from ensemble import Ensemble
from errors import TinylmError
from tinylm import Size

DECAY_SHARE = 0.2
CURVE_POINTS = 8
QUEUED_STEPS = 16  # launches queued between two looks at a stream

Row = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What one trunk trains: all learning rates together, up to each budget in tokens.

    marks   tokens at which the trunk is evaluated, to the nearest step; with any, every branch
            point is a mark too
    """

    size: Size
    batch: int
    seed: int
    lrs: tuple[float, ...]
    budgets: tuple[int, ...]
    marks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.batch < 1 or not self.lrs or min(self.lrs) <= 0 or not self.budgets:
            raise TinylmError("want a batch of at least 1, learning rates above 0 and a budget")
        for tokens in self.budgets:
            if tokens < 1 or tokens % self.step_tokens:
                raise TinylmError(
                    f"budget of {tokens} tokens: want a multiple of batch × context = "
                    f"{self.step_tokens}"
                )

    @property
    def step_tokens(self) -> int:
        return self.batch * self.size.context

    @property
    def name(self) -> str:
        return f"w{self.size.width}-d{self.size.depth}-b{self.batch}-s{self.seed}"

    @property
    def shape(self) -> tuple[Size, int, int]:
        """What an ensemble must have in common with the plan to be used for it again."""
        return self.size, self.batch, len(self.lrs)

    @property
    def n_runs(self) -> int:
        return len(self.lrs) * len(self.budgets)

    def branch(self, budget: int) -> int:
        """The step after which the run of this budget leaves the trunk."""
        total, decay = self.steps(budget)
        return total - decay

    def steps(self, budget: int) -> tuple[int, int]:
        """Steps of a run of this budget, and how many of them, at its end, decay."""
        total = budget // self.step_tokens
        return total, max(1, round(DECAY_SHARE * total))

    def mark_steps(self) -> list[int]:
        """Steps after which the trunk is evaluated, in order."""
        if not self.marks:
            return []
        near = {max(1, round(mark / self.step_tokens)) for mark in self.marks}
        branches = {self.branch(budget) for budget in self.budgets}
        return sorted({step for step in near if step < max(branches)} | branches)


def check_corpus(plan: Plan, corpus: Corpus) -> None:
    """Refuse a plan that the corpus cannot serve without reading a token twice."""
    if plan.size.vocabulary != corpus.vocabulary:
        raise TinylmError(
            f"vocabulary of {plan.size.vocabulary}, but the corpus has {corpus.vocabulary}"
        )
    windows = (len(corpus.train) - 1) // plan.size.context
    if max(plan.budgets) > windows * plan.size.context:
        raise TinylmError(
            f"budget of {max(plan.budgets)} tokens: the corpus has {windows * plan.size.context}, "
            "and no token is read twice"
        )
    if len(corpus.heldout) <= plan.size.context:
        raise TinylmError("the held-out set is shorter than one sequence")


class Trunk:
    """A trunk in training; ``run`` does the work, ``checkpoint`` keeps it for later.

    spare   an ensemble of the plan's ``shape`` that an earlier trunk has done with
    """

    def __init__(self, plan: Plan, corpus: Corpus, spare: Ensemble | None = None) -> None:
        check_corpus(plan, corpus)
        self.plan, self.corpus = plan, corpus
        if spare is None:
            spare = Ensemble(plan.size, plan.lrs, batch=plan.batch, seed=plan.seed, corpus=corpus)
        else:
            with torch.cuda.stream(spare.stream if self._on_gpu else None):
                spare.begin_again(plan.lrs, plan.seed)
        self.ensemble = spare
        self.at = 0  # steps of the trunk itself, decays not counted
        self.along: dict[int, list[float | None]] = {}  # tokens: held-out loss of each member
        self.branch_point: dict[str, torch.Tensor] | None = None
        self.started = time.monotonic()

    def run(self, done: Sequence[int] = ()) -> Iterator[list[Row] | None]:
        """Train; yields None while work is queued and the rows of each budget as it ends.

        Budgets in ``done`` are passed without branching.
        """
        for budget in sorted(set(self.plan.budgets) - set(done)):
            branch = self.plan.branch(budget)
            if branch < self.at:
                raise TinylmError(f"{self.plan.name}: already past the branch for {budget} tokens")
            for mark in self.plan.mark_steps():
                noted = mark * self.plan.step_tokens in self.along
                if self.at <= mark <= branch and not noted:
                    yield from self.advance(mark)
                    yield from self._note()
            yield from self.advance(branch)
            with self._stream():
                self.branch_point = self.ensemble.save()
            yield from self.decay(self.plan.steps(budget)[0])
            yield from self.evaluate()
            with self._stream():
                rows = self._rows(budget)
                self.ensemble.plan_decay(math.inf, 1)
                self.ensemble.load(self.branch_point)
            self.branch_point = None
            yield rows

    def advance(self, step: int) -> Iterator[None]:
        """Train at the constant rate until ``step``."""
        while self.at < step:
            n = min(QUEUED_STEPS, step - self.at)
            self.at += n
            yield from self._queue(self.ensemble.step, n)

    def decay(self, total: int) -> Iterator[None]:
        """Train with a falling rate from here to step ``total``."""
        with self._stream():
            self.ensemble.plan_decay(total, total - self.at)
        yield from self._queue(self.ensemble.step, total - self.at)

    def evaluate(self) -> Iterator[None]:
        """Evaluate on the held-out set; then ``losses`` has what came out."""
        with self._stream():
            pieces = self.ensemble.start_evaluation()
        yield from self._queue(self.ensemble.evaluation_step, pieces)

    def losses(self) -> list[float]:
        """The held-out loss of each member when it was last evaluated."""
        with self._stream():
            return self.ensemble.heldout_losses()

    def _note(self) -> Iterator[None]:
        yield from self.evaluate()
        losses = self.losses()
        self.along[self.at * self.plan.step_tokens] = [
            round(loss, 6) if math.isfinite(loss) else None for loss in losses
        ]

    def _queue(self, work: Callable[[], None], times: int) -> Iterator[None]:
        """Do ``work`` so many times, yielding while the GPU is behind."""
        for at in range(0, times, QUEUED_STEPS):
            with self._stream():
                for _ in range(min(QUEUED_STEPS, times - at)):
                    work()
                last = torch.cuda.Event() if self._on_gpu else None
                if last is not None:
                    last.record()
            yield None
            while last is not None and not last.query():
                yield None

    @property
    def _on_gpu(self) -> bool:
        return self.corpus.device.type == "cuda"

    def _stream(self) -> Any:
        return torch.cuda.stream(self.ensemble.stream if self._on_gpu else None)

    def _rows(self, budget: int) -> list[Row]:
        size, plan = self.plan.size, self.plan
        total, decay = plan.steps(budget)
        pieces = self.ensemble.state["curve"][:total].tensor_split(min(CURVE_POINTS, total))
        curves = torch.stack([piece.mean(0) for piece in pieces], 1).tolist()
        common = {
            "N": size.params,
            "D": budget,
            "C": 6 * size.params * budget,
            "width": size.width,
            "depth": size.depth,
            "batch": plan.batch,
            "seed": plan.seed,
            "N_non_embedding": size.params_non_embedding,
            "flops_exact": size.flops_per_token * budget,
            "context": size.context,
            "steps": total,
            "decay_steps": decay,
            "branch_at": plan.branch(budget) * plan.step_tokens,
            "trunk_wall_s": round(time.monotonic() - self.started, 2),
        }
        rows = [
            {
                "loss": loss if math.isfinite(loss) else None,
                "diverged": not loss <= math.log(size.vocabulary),
                "lr": lr,
                **common,
                "curve": [round(v, 4) if math.isfinite(v) else None for v in curve],
            }
            for lr, loss, curve in zip(plan.lrs, self.losses(), curves, strict=True)
        ]
        if self.plan.marks:
            for member, row in enumerate(rows):
                row["along"] = [[D, losses[member]] for D, losses in self.along.items()]
        return rows

    def checkpoint(self, path: Path) -> None:
        """Keep the trunk's state in a file; inside a branch, that of its branch point."""
        if self._on_gpu:
            torch.cuda.synchronize()
        state = self.branch_point or self.ensemble.state
        kept = {"plan": self._identity(), "at": int(state["step"]), "state": state}
        kept["along"] = self.along
        temporary = path.with_suffix(".part")
        torch.save(kept, temporary)
        temporary.replace(path)

    def resume(self, path: Path) -> None:
        """Go on from a checkpoint; one of another configuration is refused."""
        with self._stream():  # what is loaded is the stream's memory until it has copied it
            kept = torch.load(path, map_location=self.corpus.device, weights_only=True)
        if kept["plan"] != self._identity():
            raise TinylmError(
                f"{path} is a checkpoint of another configuration; delete it to start this trunk "
                "from its beginning"
            )
        with self._stream():
            self.ensemble.load(kept["state"])
        self.at, self.along = kept["at"], kept["along"]

    def _identity(self) -> dict[str, Any]:
        plan = {"size": asdict(self.plan.size), "batch": self.plan.batch, "seed": self.plan.seed}
        return plan | {"lrs": list(self.plan.lrs), "corpus": self.corpus.checksum}
