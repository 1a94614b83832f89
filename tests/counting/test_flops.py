"""FLOPs and parameters beside torch: small models of each kind, counted by torch itself."""

from __future__ import annotations

import pytest

from lawsmith.counting import Arch, count

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

CONTEXT = 24
KINDS = {
    "gpt2": Arch(3, 32, 4, 101, tied=True, biases="all", norm="layer", positions=CONTEXT),
    "pythia": Arch(2, 48, 4, 97, biases="all", norm="layer"),
    "llama": Arch(2, 64, 8, 103, kv_heads=2, ffn=80, gated=True),
    "wide heads": Arch(2, 64, 4, 103, head_dim=24, ffn=80, gated=True, tied=True, biases="qkv"),
    "mixtral": Arch(2, 32, 4, 89, kv_heads=2, ffn=48, gated=True, experts=4, active=2),
    "shared": Arch(2, 32, 4, 89, ffn=16, gated=True, experts=4, active=1, shared=1),
}
KINDS = {name: Arch(**{**vars(arch), "context": CONTEXT}) for name, arch in KINDS.items()}


class Norm(nn.Module):
    def __init__(self, width, kind):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width)) if kind == "layer" else None

    def forward(self, x):
        x = x * self.scale / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()
        return x if self.shift is None else x + self.shift


class Expert(nn.Module):
    def __init__(self, a):
        super().__init__()
        bias, inner = a.biases == "all", a.ffn or 4 * a.width
        self.up = nn.Linear(a.width, inner, bias=bias)
        self.gate = nn.Linear(a.width, inner, bias=bias) if a.gated else None
        self.down = nn.Linear(inner, a.width, bias=bias)

    def forward(self, x):
        h = self.up(x)
        return self.down(h.relu() if self.gate is None else h * self.gate(x).sigmoid())


class Layer(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.a, self.d = a, a.head_dim or a.width // a.heads
        kv, bias = a.kv_heads or a.heads, a.biases != "none"
        self.q = nn.Linear(a.width, a.heads * self.d, bias=bias)
        self.k = nn.Linear(a.width, kv * self.d, bias=bias)
        self.v = nn.Linear(a.width, kv * self.d, bias=bias)
        self.o = nn.Linear(a.heads * self.d, a.width, bias=a.biases == "all")
        self.experts = nn.ModuleList(Expert(a) for _ in range(a.experts))
        self.shared = nn.ModuleList(Expert(a) for _ in range(a.shared))
        self.router = nn.Linear(a.width, a.experts, bias=False) if a.experts > 1 else None
        self.first, self.second = Norm(a.width, a.norm), Norm(a.width, a.norm)

    def forward(self, x, start=0):
        """The rows of x from ``start`` on attend to every row of x."""
        h = self.first(x)
        x = x[start:] + self.attend(h[start:], h)
        return x + self.feed(self.second(x))

    def attend(self, new, seen):
        q = self.q(new).view(len(new), -1, self.d).transpose(0, 1)
        k, v = (m(seen).view(len(seen), -1, self.d).transpose(0, 1) for m in (self.k, self.v))
        k, v = (z.repeat_interleave(self.a.heads // len(z), 0) for z in (k, v))
        mixed = (q @ k.transpose(1, 2)).softmax(-1) @ v
        return self.o(mixed.transpose(0, 1).reshape(len(new), -1))

    def feed(self, x):
        out = sum((expert(x) for expert in self.shared), torch.zeros_like(x))
        if self.router is None:
            return out + self.experts[0](x)
        score, chosen = self.router(x).topk(self.a.active)
        # Every token to its own experts, so that torch counts those alone.
        rows = [
            sum(s * self.experts[int(e)](row[None]) for s, e in zip(ss, ee, strict=True))
            for row, ss, ee in zip(x, score, chosen, strict=True)
        ]
        return out + torch.cat(rows)


class Model(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.embed = nn.Embedding(a.vocab, a.width)
        self.positions = nn.Embedding(a.positions, a.width) if a.positions else None
        self.layers = nn.ModuleList(Layer(a) for _ in range(a.layers))
        self.norm = Norm(a.width, a.norm)
        self.head = nn.Linear(a.width, a.vocab, bias=False)
        if a.tied:
            self.head.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens)
        if self.positions is not None:
            x = x + self.positions(torch.arange(len(tokens)))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def small(kind):
    torch.manual_seed(0)
    return KINDS[kind], Model(KINDS[kind]), torch.arange(CONTEXT) % KINDS[kind].vocab


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_are_those_that_torch_holds(kind):
    arch, model, _ = small(kind)
    assert count(arch).total == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_forward_flops_are_as_torch_counts_them(kind):
    arch, model, tokens = small(kind)
    with FlopCounterMode(display=False) as counter:
        model(tokens)
    assert count(arch).forward("full") == counter.get_total_flops() / CONTEXT


@pytest.mark.parametrize("kind", KINDS)
def test_training_flops_are_as_torch_counts_them(kind):
    arch, model, tokens = small(kind)
    with FlopCounterMode(display=False) as counter:
        model(tokens).sum().backward()
    assert count(arch).training("full") == counter.get_total_flops() / CONTEXT


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_causal_attention_is_what_torch_counts_token_by_token(kind):
    arch, model, _ = small(kind)
    layer, x = model.layers[0], torch.randn(CONTEXT, arch.width)
    scores = 0
    for t in range(1, CONTEXT + 1):
        with FlopCounterMode(display=False) as counter:
            layer.attend(x[t - 1 : t], x[:t])
        found = counter.get_flop_counts()["Global"]
        scores += found[torch.ops.aten.bmm]
    assert count(arch).attention("causal") == arch.layers * scores / CONTEXT
