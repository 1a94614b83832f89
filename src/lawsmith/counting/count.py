"""Parameters of an architecture by part, and FLOPs per token.

Notation
    w, v, d   width, vocabulary, width of a head
    h, k      heads of queries, heads of keys and values
    f, m      inner width of a feed-forward block, its matrices (2, or 3 with a gate)
    T         context; a token sees (T + 1)/2 keys on average (causal) or T (full)

Parameters of a layer: attention w·d·(2h + 2k), each expert m·w·f, router w·experts, biases, norms.
A matrix of P parameters costs 2P FLOPs per token in the forward pass. Attention costs 4·h·d per
key: the product with the keys, and the product with the values. As usual, norms, activations,
biases and softmax are not counted. The backward pass costs twice the forward pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from lawsmith.counting.arch import Arch, Attention

_NORM_WIDTHS = {"none": 0, "rms": 1, "layer": 2}
TRAINING = 3  # forward and backward pass, in units of a forward pass


@dataclass(frozen=True)
class Count:
    """Parameters and FLOPs of an architecture.

    embedding           input embedding with learned positions
    unembedding         the output matrix; 0 if it is tied to the input embedding
    without_embeddings  all the rest, with every expert; ``active_without_embeddings`` with only
                        those that a token uses
    matrices            parameters that multiply a token, the output matrix included
    """

    arch: Arch
    embedding: int
    unembedding: int
    without_embeddings: int
    active_without_embeddings: int
    matrices: int

    @property
    def total(self) -> int:
        """All parameters: the size by which models are known."""
        return self.without_embeddings + self.embedding + self.unembedding

    @property
    def active(self) -> int:
        """Parameters that a token uses, with embeddings."""
        return self.active_without_embeddings + self.embedding + self.unembedding

    def forward(self, attention: Attention | None = None) -> float:
        """FLOPs per token of one forward pass; ``attention`` overrides the architecture's."""
        return 2.0 * self.matrices + self.attention(attention)

    def attention(self, attention: Attention | None = None) -> float:
        """FLOPs per token of the products with keys and values in the forward pass."""
        arch = self.arch
        kind = attention or arch.attention
        keys = 0.5 * (arch.context + 1) if kind == "causal" else float(arch.context)
        return 4.0 * arch.layers * arch.heads * arch.head_width * keys

    def training(self, attention: Attention | None = None) -> float:
        """FLOPs per token of training: the forward and the backward pass."""
        return TRAINING * self.forward(attention)


def count(arch: Arch) -> Count:
    """The parameters and FLOPs of an architecture.

    arch   an `Arch`

    >>> found = count(Arch(layers=12, width=768, heads=12, vocab=50257, tied=True))
    >>> found.total, found.without_embeddings
    (123551232, 84953856)
    >>> f"{found.training():.3g} FLOPs a token"
    '8.54e+08 FLOPs a token'
    """
    w = arch.width
    attention = w * arch.head_width * (2 * arch.heads + 2 * arch.key_heads)
    expert = (3 if arch.gated else 2) * w * arch.inner
    router = w * arch.experts if arch.experts > 1 else 0
    norm = _NORM_WIDTHS[arch.norm] * w
    every, used = arch.experts + arch.shared, arch.active + arch.shared
    outside = attention + router + _attention_biases(arch) + 2 * norm
    inside = expert + _expert_biases(arch)
    matrices = arch.layers * (attention + router + used * expert) + arch.vocab * w
    return Count(
        arch=arch,
        embedding=(arch.vocab + arch.positions) * w,
        unembedding=0 if arch.tied else arch.vocab * w,
        without_embeddings=arch.layers * (outside + every * inside) + norm,
        active_without_embeddings=arch.layers * (outside + used * inside) + norm,
        matrices=matrices,
    )


def _attention_biases(arch: Arch) -> int:
    """Biases of queries, keys, values and the output of attention."""
    qkv = arch.head_width * (arch.heads + 2 * arch.key_heads)
    return {"none": 0, "qkv": qkv, "all": qkv + arch.width}[arch.biases]


def _expert_biases(arch: Arch) -> int:
    """Biases of one feed-forward block."""
    if arch.biases != "all":
        return 0
    return (2 if arch.gated else 1) * arch.inner + arch.width
