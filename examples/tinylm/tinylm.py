"""A small language model, several of which are computed at once: sizes, weights and losses.

Decoder-only transformer: rotary positions, RMSNorm without gains (the next matrix can absorb one),
GELU in an MLP of four widths, no biases, output tied to the input embedding. Half the channels that
attention reads are those of the token before (token shift): a single layer can then look up what
followed an earlier copy of the current token. Without it two layers must discover that together,
which small models do late and all at once, so that their loss falls in one great step.

Members of an ensemble differ in learning rate alone; every product is a batched one over members,
so members never mix and one that diverges leaves the others as they are.

    M members   B sequences   T context   n = B·T   d width   V vocabulary   P a member's parameters
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from errors import TinylmError

ROTARY_BASE = 10_000.0


@dataclass(frozen=True)
class Size:
    """Shape of a model, and what follows from it alone: parameters and arithmetic."""

    width: int
    depth: int
    vocabulary: int = 1024
    context: int = 512

    def __post_init__(self) -> None:
        if self.width < 8 or self.depth < 1 or self.width % self.heads or self.head_dim % 8:
            raise TinylmError(
                f"width {self.width}, depth {self.depth}: want depth ≥ 1 and heads of a multiple "
                "of 8 (a width that is a multiple of 32, or 8, 16, 24, 48)"
            )

    @property
    def heads(self) -> int:
        return max(1, self.width // 32)

    @property
    def head_dim(self) -> int:
        return self.width // self.heads

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Matrices in the order of use: embedding, then per layer qkv, out, up, down."""
        d = self.width
        return [(self.vocabulary, d)] + [(d, 3 * d), (d, d), (d, 4 * d), (4 * d, d)] * self.depth

    @property
    def params_non_embedding(self) -> int:
        return 12 * self.depth * self.width**2

    @property
    def params(self) -> int:
        """N: all parameters. The tied embedding counts once; as output matrix it does work."""
        return self.params_non_embedding + self.vocabulary * self.width

    @property
    def flops_per_token(self) -> int:
        """Exact floating-point operations of products, forward and backward, for one token.

        6 per parameter; attention's two products add 2·d each way per visible position, of which
        there are (T + 1)/2 on average, again three times for forward and backward.
        """
        return 6 * self.params + 6 * self.depth * self.width * (self.context + 1)


def initial_weights(size: Size, seed: int) -> torch.Tensor:
    """One member's parameters (P,), float32, the same on every device.

    Entries have standard deviation 1/√inputs; embeddings 0.02, and the two matrices of a layer that
    write to the residual stream are smaller by √(2·depth).
    """
    generator = torch.Generator().manual_seed(seed)
    flat = []
    for i, (rows, columns) in enumerate(size.shapes):
        writes_residual = i > 0 and i % 2 == 0
        scale = 0.02 if i == 0 else rows**-0.5
        if writes_residual:
            scale /= (2 * size.depth) ** 0.5
        flat.append(torch.randn(rows * columns, generator=generator) * scale)
    return torch.cat(flat)


def fused(
    function: Callable[..., Any], *, open_dims: Sequence[tuple[int, int]] = ()
) -> Callable[..., Any]:
    """``function`` compiled into few kernels when its first argument is on a GPU.

    ``open_dims`` names (argument, dimension) that count tokens: they stay open, so that all batches
    of one size share the kernels. TINYLM_COMPILE=0 in the environment switches compiling off.
    """
    compiled: Callable[..., Any] | None = None  # made at need: on a CPU it would double the start

    def call(*args: Any) -> Any:
        nonlocal compiled
        if not args[0].is_cuda or os.environ.get("TINYLM_COMPILE") == "0":
            return function(*args)
        if compiled is None:
            compiled = torch.compile(function)
        torch._dynamo.config.automatic_dynamic_shapes = False
        torch._dynamo.config.recompile_limit = 256
        for which, dim in open_dims:
            torch._dynamo.maybe_mark_dynamic(args[which], dim)
        return compiled(*args)

    return call


def _normal(x: torch.Tensor) -> torch.Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)).type_as(x)


def _add_norm(x: torch.Tensor, change: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    total = x + change
    return total, _normal(total)


def _shift(h: torch.Tensor) -> torch.Tensor:
    """(sequences, T, d) with the first half of the channels one token late, zero at the start."""
    half = h.shape[-1] // 2
    return torch.cat((F.pad(h[:, :-1, :half], (0, 0, 1, 0)), h[..., half:]), -1)


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    a, b = x.float().chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1).type_as(x)


def _split_heads(
    qkv: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """(M·B, T, 3, heads, head_dim) into rotated queries and keys, and values."""
    q, k, v = qkv.unbind(2)
    return _rotate(q, cos, sin), _rotate(k, cos, sin), v.contiguous()


def _token_losses(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy (M, n) of logits (M, n, V). The target is picked by comparing, not by gather,
    whose gradient would be a scatter."""
    wide = logits.float()
    hit = targets[:, None] == torch.arange(logits.shape[-1], device=logits.device)
    return torch.logsumexp(wide, -1) - torch.where(hit, wide, 0.0).sum(-1)


normal = fused(_normal, open_dims=[(0, 1)])
add_norm = fused(_add_norm, open_dims=[(0, 1), (1, 1)])
shift = fused(_shift, open_dims=[(0, 0)])
split_heads = fused(_split_heads, open_dims=[(0, 0)])
token_losses = fused(_token_losses, open_dims=[(0, 1), (1, 0)])


class Lookup(torch.autograd.Function):
    """Rows (M, n, d) of a table (M, V, d); the gradient is a product with one-hot rows, which
    unlike a scatter is quick and always sums in the same order."""

    @staticmethod
    def forward(ctx: Any, table: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(ids)
        ctx.rows = table.shape[1]
        return table[:, ids]

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        (ids,), (grad,) = ctx.saved_tensors, grads
        hot = (torch.arange(ctx.rows, device=ids.device)[:, None] == ids).to(grad.dtype)
        return torch.bmm(hot.expand(len(grad), -1, -1), grad), None


def rotary(size: Size, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosine and sine (T, 1, head_dim / 2) of each position's angles."""
    half = size.head_dim // 2
    rates = ROTARY_BASE ** (-torch.arange(half, device=device) / half)
    angles = torch.arange(size.context, device=device)[:, None, None] * rates
    return angles.cos(), angles.sin()


def model_losses(
    size: Size,
    weights: Sequence[torch.Tensor],
    tokens: torch.Tensor,
    angles: tuple[torch.Tensor, torch.Tensor],
) -> torch.Tensor:
    """Loss (M, n) of each member at each of the tokens (B, T + 1) but the first of a sequence."""
    inputs, targets = tokens[:, :-1].reshape(-1), tokens[:, 1:].reshape(-1)
    embedding, members, sequences = weights[0], len(weights[0]), len(tokens)
    x = h = normal(Lookup.apply(embedding, inputs))
    for layer in range(size.depth):
        qkv, out, up, down = weights[1 + 4 * layer : 5 + 4 * layer]
        late = shift(h.view(members * sequences, size.context, -1)).view(h.shape)
        parts = torch.bmm(late, qkv).view(
            members * sequences, size.context, 3, size.heads, size.head_dim
        )
        q, k, v = (part.transpose(1, 2) for part in split_heads(parts, *angles))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x, h = add_norm(x, torch.bmm(seen.transpose(1, 2).reshape(x.shape), out))
        inner = F.gelu(torch.bmm(h, up), approximate="tanh")
        x, h = add_norm(x, torch.bmm(inner, down))
    return token_losses(torch.bmm(h, embedding.transpose(1, 2)), targets)
