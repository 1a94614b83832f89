"""tinylm's model against hand counts, torch's own counters and an implementation by other means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.conftest import extra

torch = extra("torch")

from errors import TinylmError  # noqa: E402
from tinylm import Size, initial_weights, model_losses, rotary  # noqa: E402

SIZE = Size(64, 2, 40, 12)


def views(size: Size, flat: torch.Tensor) -> list[torch.Tensor]:
    pieces = flat.split([rows * columns for rows, columns in size.shapes])
    return [p.view(1, *shape).clone() for p, shape in zip(pieces, size.shapes, strict=True)]


def member(size: Size, seed: int = 0) -> list[torch.Tensor]:
    return views(size, initial_weights(size, seed) * 3)


def tokens(size: Size, sequences: int = 2) -> torch.Tensor:
    rng = np.random.default_rng(3)
    return torch.from_numpy(rng.integers(0, size.vocabulary, (sequences, size.context + 1)))


def losses(size: Size, weights: list[torch.Tensor], ids: torch.Tensor) -> torch.Tensor:
    return model_losses(size, weights, ids, rotary(size, torch.device("cpu")))


def norm(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)


def turn(x: np.ndarray) -> np.ndarray:
    """Rotary positions as products of complex numbers, x (T, head_dim)."""
    half = x.shape[1] // 2
    angle = np.arange(len(x))[:, None] * 10_000.0 ** (-np.arange(half) / half)
    turned = (x[:, :half] + 1j * x[:, half:]) * np.exp(1j * angle)
    return np.concatenate([turned.real, turned.imag], 1)


def attention(size: Size, h: np.ndarray, qkv: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Token shift and attention of one sequence, position by position, h (T, d)."""
    half = size.width // 2
    late = h.copy()
    late[0, :half], late[1:, :half] = 0, h[:-1, :half]
    q, k, v = np.split(late @ qkv, 3, axis=1)
    mixed = np.zeros_like(h)
    for head in range(size.heads):
        at = slice(head * size.head_dim, (head + 1) * size.head_dim)
        qh, kh = turn(q[:, at]), turn(k[:, at])
        for t in range(len(h)):
            score = np.exp(kh[: t + 1] @ qh[t] / math.sqrt(size.head_dim))
            mixed[t, at] = score @ v[: t + 1, at] / score.sum()
    return mixed @ out


def plain_losses(size: Size, weights: list[np.ndarray], ids: np.ndarray) -> np.ndarray:
    """The losses of one sequence in NumPy, float64."""
    x = h = norm(weights[0][ids[:-1]])
    for layer in range(size.depth):
        qkv, out, up, down = weights[1 + 4 * layer : 5 + 4 * layer]
        x = x + attention(size, h, qkv, out)
        inner = norm(x) @ up
        bent = np.tanh(math.sqrt(2 / math.pi) * (inner + 0.044715 * inner**3))
        x = x + (0.5 * inner * (1 + bent)) @ down
        h = norm(x)
    logits = h @ weights[0].T
    return np.log(np.exp(logits).sum(1)) - logits[np.arange(len(x)), ids[1:]]


def test_losses_equal_those_of_a_plain_numpy_transformer():
    weights, ids = member(SIZE), tokens(SIZE)
    got = losses(SIZE, weights, ids).view(2, -1).numpy()
    wide = [w[0].double().numpy() for w in weights]
    want = [plain_losses(SIZE, wide, row) for row in ids.numpy()]
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


def test_a_token_changes_no_loss_before_it():
    weights, ids = member(SIZE), tokens(SIZE, 1)
    changed = ids.clone()
    changed[0, 7] = (changed[0, 7] + 1) % SIZE.vocabulary
    difference = (losses(SIZE, weights, ids) - losses(SIZE, weights, changed))[0].abs()
    assert difference[:6].max() == 0
    assert difference[6:].min() > 0


def test_gradients_agree_with_finite_differences():
    size = Size(8, 1, 5, 4)
    weights = [w.double().requires_grad_() for w in member(size)]
    ids, angles = tokens(size), rotary(size, torch.device("cpu"))
    angles = (angles[0].double(), angles[1].double())
    loss = model_losses(size, weights, ids, angles).mean()
    grads = torch.autograd.grad(loss, weights)
    with torch.no_grad():
        for weight, grad in zip(weights, grads, strict=True):
            step = torch.randn(weight.shape, generator=torch.Generator().manual_seed(1))
            ends = []
            for sign in (1e-3, -1e-3):
                moved = [w + sign * step if w is weight else w for w in weights]
                ends.append(model_losses(size, moved, ids, angles).mean().item())
            slope = (ends[0] - ends[1]) / 2e-3
            # losses pass through float32, which bounds what a difference can tell
            assert slope == pytest.approx((grad * step).sum().item(), rel=0.02, abs=2e-3)


def test_parameters_are_a_hand_count_and_what_torch_counts():
    assert Size(48, 2).params == 2 * 12 * 48 * 48 + 1024 * 48 == 104_448
    assert Size(256, 5).params == 4_194_304
    assert Size(256, 5).params_non_embedding == 3_932_160
    assert sum(w.numel() for w in member(SIZE)) == SIZE.params


def test_flops_are_those_torch_counts_plus_attention_by_hand():
    from torch.utils.flop_counter import FlopCounterMode

    weights, ids = member(SIZE), tokens(SIZE)
    with FlopCounterMode(display=False) as counter:
        losses(SIZE, weights, ids)
    n = 2 * SIZE.context
    products = counter.get_flop_counts()["Global"][torch.ops.aten.bmm]
    assert products == 2 * SIZE.params * n
    seen = sum(range(1, SIZE.context + 1))  # positions that queries of one sequence look at
    attend = 2 * SIZE.depth * 2 * (2 * SIZE.width) * seen
    assert SIZE.flops_per_token * n == 3 * (products + attend)


@pytest.mark.parametrize(("width", "depth"), [(4, 1), (64, 0), (100, 2), (0, 1)])
def test_a_shape_that_cannot_be_is_refused(width: int, depth: int):
    with pytest.raises(TinylmError, match=f"width {width}, depth {depth}"):
        Size(width, depth)


def test_a_new_model_guesses_uniformly():
    got = losses(SIZE, views(SIZE, initial_weights(SIZE, 0)), tokens(SIZE, 8)).mean()
    assert got.item() == pytest.approx(math.log(SIZE.vocabulary), abs=0.1)
