"""Arch: the shape of a decoder-only transformer, from a study file or the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from lawsmith.errors import LawsmithError, unknown

Attention = Literal["causal", "full"]
Biases = Literal["none", "qkv", "all"]
Norm = Literal["rms", "layer", "none"]
_CHOICES = {"attention": get_args(Attention), "biases": get_args(Biases), "norm": get_args(Norm)}
_FROM_ZERO = ("kv_heads", "head_dim", "ffn", "positions", "shared")
_REQUIRED = ("layers", "width", "heads", "vocab")
LARGEST = 10**9  # for any size: more is a mistake


@dataclass(frozen=True)
class Arch:
    """A decoder-only transformer.

    layers, width, heads, vocab   as usual
    kv_heads    heads of keys and values; 0: as many as heads
    head_dim    width of a head; 0: width / heads
    ffn         inner width of the feed-forward block, or of one expert; 0: 4 × width
    gated       whether that block has a gate, a third matrix (SwiGLU, GeGLU)
    tied        whether the output shares the matrix of the input embedding
    experts     feed-forward blocks to choose from; ``active`` is how many a token uses
    shared      further experts that every token uses
    context     tokens of a training sequence; it determines the cost of attention
    attention   'causal' counts the keys that a token sees, 'full' the whole context
    biases      of linear maps: 'none', 'qkv' or 'all' (the output matrix never has one)
    norm        'rms' (a scale), 'layer' (a scale and a shift) or 'none' (no parameters)
    positions   learned positions; 0 for rotary and others without parameters

    >>> Arch(layers=12, width=768, heads=12, vocab=50257).inner
    3072
    """

    layers: int
    width: int
    heads: int
    vocab: int
    kv_heads: int = 0
    head_dim: int = 0
    ffn: int = 0
    gated: bool = False
    tied: bool = False
    experts: int = 1
    active: int = 1
    shared: int = 0
    context: int = 2048
    attention: Attention = "causal"
    biases: Biases = "none"
    norm: Norm = "rms"
    positions: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name))
        if not self.head_dim and self.width % self.heads:
            got = f"{self.heads} heads for a width of {self.width}"
            raise LawsmithError("heads", got=got, want="a divisor of the width, or a head_dim")
        if self.kv_heads and self.heads % self.kv_heads:
            got = f"{self.kv_heads} for {self.heads} heads"
            raise LawsmithError("kv_heads", got=got, want="a divisor of the heads")
        if self.active > self.experts:
            got = f"{self.active} of {self.experts} experts"
            raise LawsmithError("active", got=got, want="at most the experts")

    @property
    def head_width(self) -> int:
        return self.head_dim or self.width // self.heads

    @property
    def key_heads(self) -> int:
        return self.kv_heads or self.heads

    @property
    def inner(self) -> int:
        return self.ffn or 4 * self.width


def read_arch(table: object) -> Arch:
    """The architecture written as a table of keys; errors name the key."""
    if isinstance(table, Arch):
        return table
    if not isinstance(table, Mapping):
        want = "a table such as { layers = 12, width = 768, heads = 12, vocab = 50257 }"
        raise LawsmithError("", got=repr(table)[:60], want=want)
    known = [field.name for field in fields(Arch)]
    for key in table:
        if key not in known:
            raise unknown("", str(key), known)
    for key in _REQUIRED:
        if key not in table:
            raise LawsmithError(key, got="nothing", want="a whole number above 0")
    return Arch(**table)


def _check(name: str, value: Any) -> None:
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            raise unknown(name, str(value), _CHOICES[name])
    elif name in ("gated", "tied"):
        if not isinstance(value, bool):
            raise LawsmithError(name, got=repr(value), want="true or false")
    else:
        least = 0 if name in _FROM_ZERO else 1
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not least <= value <= LARGEST:
            want = f"a whole number from {least} to {LARGEST:,}"
            raise LawsmithError(name, got=repr(value), want=want)
