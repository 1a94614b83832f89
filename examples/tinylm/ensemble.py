"""Members of an ensemble in training: learning-rate schedule, AdamW, and one step of all members.

All parameters of a member lie in one row, so that the optimiser is a few operations on (M, P), and
on a GPU the whole step, from reading tokens to the new parameters, is one CUDA graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from data import Corpus, read_windows, window_order
from tinylm import Size, fused, initial_weights, model_losses, rotary

BETAS = (0.9, 0.95)
EPSILON = 1e-8
WEIGHT_DECAY = 0.1
CLIP = 1.0
WARMUP_TOKENS = 2**17  # fixed, not a share of the budget: runs of all budgets share one trunk
EVAL_SEQUENCES = {"cuda": 64, "cpu": 8}  # evaluated at once


def schedule(
    step: torch.Tensor, warmup: int, end: torch.Tensor, decay: torch.Tensor
) -> torch.Tensor:
    """Factor on the learning rate at step 1, 2, …: linear rise over ``warmup`` steps, then 1, then
    a linear fall over the last ``decay`` steps that would reach 0 one step after ``end``."""
    rise = (step / warmup).clamp(max=1.0)
    return torch.minimum(rise, ((end + 1 - step) / (decay + 1)).clamp(max=1.0))


def _adamw(
    weights: torch.Tensor, grad: torch.Tensor, lr: torch.Tensor, state: dict[str, torch.Tensor]
) -> None:
    """One AdamW step in place on stacked members (M, P), gradients clipped member by member.

    ``weights`` is the copy of the parameters, in lower precision, that the model computes with. A
    member whose gradient is not finite is marked dead and never changed again.
    """
    grad, step, alive = grad.float(), state["step"].float(), state["alive"]
    norm = grad.square().sum(1, keepdim=True).sqrt()
    alive.logical_and_(norm.isfinite())
    grad = grad * (CLIP / (norm + 1e-6)).clamp(max=1.0)
    first = torch.lerp(state["first"], grad, 1 - BETAS[0])
    second = torch.lerp(state["second"], grad * grad, 1 - BETAS[1])
    scale = (second / (1 - BETAS[1] ** step)).sqrt() + EPSILON
    params = state["params"] * (1 - lr * WEIGHT_DECAY)
    params = params - lr * (first / (1 - BETAS[0] ** step)) / scale
    for name, new in (("params", params), ("first", first), ("second", second)):
        state[name].copy_(torch.where(alive, new, state[name]))
    weights.copy_(state["params"])


adamw = fused(_adamw)


class Ensemble:
    """Members of one size, batch and seed, at one learning rate each, in training.

    ``step`` and ``evaluate`` only queue work on a GPU: each is captured once as a CUDA graph, since
    a tiny model's step is otherwise bound by launching its kernels.
    """

    def __init__(
        self, size: Size, lrs: Sequence[float], *, batch: int, seed: int, corpus: Corpus
    ) -> None:
        device = corpus.device
        self.size, self.batch, self.corpus = size, batch, corpus
        self.step_tokens = batch * size.context
        self.warmup = max(1, WARMUP_TOKENS // self.step_tokens)
        self.order = window_order(corpus, size.context, seed)
        self.angles = rotary(size, device)
        self.lrs = torch.tensor(lrs, device=device)[:, None]
        self.state = self._fresh_state(seed)
        params = self.state["params"]
        self.optimiser = {k: t for k, t in self.state.items() if k != "curve"}
        self.end = torch.full((1,), torch.inf, device=device)
        self.decay = torch.ones(1, device=device)
        self.flat = params.to(torch.bfloat16) if device.type == "cuda" else params.clone()
        self.weights = self._views(self.flat)
        self.eval_sum = torch.zeros(len(lrs), device=device, dtype=torch.float64)
        self.eval_at = torch.zeros(1, device=device, dtype=torch.int64)
        self.n_eval = (len(corpus.heldout) - 1) // size.context
        self.eval_batch = math.gcd(self.n_eval, EVAL_SEQUENCES[device.type])
        self._train, self._eval = self._train_step, self._eval_step
        if device.type == "cuda":
            self.stream = torch.cuda.Stream()
            self._capture()

    def _fresh_state(self, seed: int) -> dict[str, torch.Tensor]:
        device, members = self.corpus.device, len(self.lrs)
        params = initial_weights(self.size, seed).to(device).repeat(members, 1)
        return {
            "params": params,
            "first": torch.zeros_like(params),
            "second": torch.zeros_like(params),
            "step": torch.zeros(1, device=device, dtype=torch.int64),
            "alive": torch.ones(members, 1, device=device, dtype=torch.bool),
            "curve": torch.zeros(len(self.order) // self.batch, members, device=device),
        }

    def begin_again(self, lrs: Sequence[float], seed: int) -> None:
        """Become the new ensemble of as many learning rates and another seed.

        Everything is written in place, so that the captured graphs stay valid.
        """
        if len(lrs) != len(self.lrs):
            raise ValueError(f"{len(lrs)} learning rates for {len(self.lrs)} members")
        self.order.copy_(window_order(self.corpus, self.size.context, seed))
        self.lrs.copy_(torch.tensor(lrs)[:, None])
        self.plan_decay(math.inf, 1)
        self.load(self._fresh_state(seed))

    def _views(self, flat: torch.Tensor) -> list[torch.Tensor]:
        views, at = [], 0
        for rows, columns in self.size.shapes:
            view = flat[:, at : at + rows * columns].view(len(flat), rows, columns)
            views.append(view.detach().requires_grad_())
            at += rows * columns
        return views

    def _train_step(self) -> None:
        state = self.state
        ids = state["step"] * self.batch + torch.arange(self.batch, device=self.corpus.device)
        tokens = read_windows(self.corpus.train, self.order[ids], self.size.context)
        losses = model_losses(self.size, self.weights, tokens, self.angles).mean(1)
        grads = torch.autograd.grad(losses.sum(), self.weights)
        flat = torch.cat([grad.reshape(len(grad), -1) for grad in grads], 1)
        state["curve"].index_copy_(0, state["step"], losses.detach()[None])
        state["step"].add_(1)
        factor = schedule(state["step"].float(), self.warmup, self.end, self.decay)
        adamw(self.flat, flat, self.lrs * factor, self.optimiser)

    @torch.no_grad()
    def _eval_step(self) -> None:
        windows = self.eval_at + torch.arange(self.eval_batch, device=self.corpus.device)
        tokens = read_windows(self.corpus.heldout, windows, self.size.context)
        losses = model_losses(self.size, self.weights, tokens, self.angles)
        self.eval_sum.add_(losses.double().sum(1))
        self.eval_at.add_(self.eval_batch)

    def _capture(self) -> None:
        """Record both steps as CUDA graphs, leaving the state as it was."""
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        before = self.save()
        torch.cuda.synchronize()
        with torch.cuda.stream(self.stream):
            for _ in range(2):  # compiles, and lets libraries take their memory
                self._train_step()
                self.load(before)
                self.start_evaluation()
                self._eval_step()
        torch.cuda.synchronize()
        train, evaluation = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(train, stream=self.stream):
            self._train_step()
        with torch.cuda.graph(evaluation, stream=self.stream, pool=train.pool()):
            self._eval_step()
        self._train, self._eval = train.replay, evaluation.replay

    def step(self) -> None:
        """One training step."""
        self._train()

    def start_evaluation(self) -> int:
        """Get ready to evaluate; returns how many ``evaluation_step`` it takes."""
        self.eval_sum.zero_()
        self.eval_at.zero_()
        return self.n_eval // self.eval_batch

    def evaluation_step(self) -> None:
        """Evaluate one piece of the held-out set."""
        self._eval()

    def heldout_losses(self) -> list[float]:
        """Mean held-out loss of each member, after all evaluation steps; nan for a dead one."""
        mean = self.eval_sum / (self.n_eval * self.size.context)
        return torch.where(self.state["alive"][:, 0], mean, torch.nan).tolist()

    def plan_decay(self, end: float, decay: int) -> None:
        """Let the learning rate fall over the ``decay`` steps before ``end``; inf: no fall."""
        self.end.fill_(end)
        self.decay.fill_(decay)

    def save(self) -> dict[str, torch.Tensor]:
        """A copy of the whole state of training."""
        return {name: tensor.clone() for name, tensor in self.state.items()}

    def load(self, state: dict[str, torch.Tensor]) -> None:
        """Go back to a saved state."""
        for name, tensor in self.state.items():
            tensor.copy_(state[name])
        self.flat.copy_(self.state["params"])
