"""`lawsmith count`: parameters and FLOPs a token of an architecture."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import typer

from lawsmith.cli import console as out
from lawsmith.cli.params import Request, argument, flag, option, reader, takes, whole
from lawsmith.counting import Arch, Count, read_arch, read_config
from lawsmith.counting import count as counted
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops, percent

_shape = partial(option, "Shape", "INT", parser=whole)
_experts = partial(option, "Experts", "INT", parser=whole)
_detail = partial(option, "Details")


@dataclass(frozen=True, kw_only=True)
class CountRequest(Request):
    """What `lawsmith count` is asked: the fields of an Arch, and what is printed."""

    config: Path | None = argument(
        "[CONFIG.JSON]", "A model's public config.json; options below override what it says.", None
    )
    layers: int | None = _shape("Layers.")
    width: int | None = _shape("Width of the residual stream.")
    heads: int | None = _shape("Attention heads.")
    kv_heads: int | None = _shape("Heads of keys and values; by default as many as heads.")
    head_dim: int | None = _shape("Width of a head; by default width / heads.")
    ffn: int | None = _shape("Inner width of the feed-forward block; by default 4 × width.")
    vocab: int | None = _shape("Size of the vocabulary.")
    context: int | None = _shape("Tokens of a sequence in training; by default 2048.")
    experts: int | None = _experts("Feed-forward experts of a layer.")
    active: int | None = _experts("Experts that a token uses.")
    shared: int | None = _experts("Experts that every token uses besides.")
    gated: bool | None = _detail(None, "The feed-forward block has a gate.")
    tied: bool | None = _detail(None, "Input and output share one embedding.")
    biases: str | None = _detail("none|qkv|all", "Which linear maps have biases.")
    norm: str | None = _detail("rms|layer|none", "Parameters of a norm.")
    positions: int | None = _detail("INT", "Learned positions.", parser=whole)
    attention: str | None = _detail(
        "causal|full", "Count the keys a token may see, or all of them."
    )
    tokens: float | None = option(
        None,
        "D",
        "Count the FLOPs of training on so many tokens too.",
        parser=reader("training_tokens"),
    )
    as_json: bool = flag(None, "--json", "One JSON object instead of a table.")


@takes(CountRequest)
def count(asked: CountRequest) -> None:
    """Count the parameters of a model, with and without embeddings, and its FLOPs a token.

    For example: lawsmith count --layers 12 --width 768 --heads 12 --vocab 50257 --tied
    """
    found = counted(_arch(asked))
    if asked.as_json:
        typer.echo(json.dumps(payload(found, asked.tokens), indent=2))
    else:
        show_count(found, asked.tokens)


def _arch(asked: CountRequest) -> Arch:
    others = ("words", "config", "tokens", "as_json")
    given = {k: v for k, v in vars(asked).items() if v is not None and k not in others}
    if asked.config is None and not given:
        want = "a config.json, or --layers, --width, --heads and --vocab"
        raise LawsmithError("count", got="nothing", want=want)
    base = {} if asked.config is None else vars(read_config(asked.config))
    return read_arch({**base, **given})


def payload(found: Count, D: float | None) -> dict[str, Any]:
    """What ``--json`` prints; ``training_flops`` only with a number of tokens."""
    made: dict[str, Any] = {
        "arch": asdict(found.arch),
        "N": {
            "total": found.total,
            "active": found.active,
            "total_without_embeddings": found.without_embeddings,
            "active_without_embeddings": found.active_without_embeddings,
            "embedding": found.embedding,
            "unembedding": found.unembedding,
        },
        "flops_per_token": flops_per_token(found),
    }
    if D is not None:
        made["tokens"] = D
        made["training_flops"] = {k: v * D for k, v in made["flops_per_token"]["training"].items()}
    return made


def flops_per_token(found: Count) -> dict[str, Any]:
    """Forward and training FLOPs a token, counted, and by 6N."""
    return {
        "forward": {
            "causal": found.forward("causal"),
            "full": found.forward("full"),
            "without_attention": 2.0 * found.matrices,
        },
        "training": {
            "causal": found.training("causal"),
            "full": found.training("full"),
            "without_attention": 6.0 * found.matrices,
            "6N": 6.0 * found.active,
            "6N_without_embeddings": 6.0 * found.active_without_embeddings,
        },
    }


def show_count(found: Count, D: float | None) -> None:
    """Parameters, then FLOPs a token beside what 6N says."""
    console, arch, counted = out.stdout(), found.arch, found.training()
    sizes = {
        "with embeddings": (found.total, found.active),
        "without embeddings": (found.without_embeddings, found.active_without_embeddings),
    }
    rows = [(name, *(f"{n:,}" for n in both)) for name, both in sizes.items()]
    out.table(console, "Parameters", ("", "total", "active"), rows)
    training = {
        "counted, causal attention": found.training("causal"),
        "counted, full attention": found.training("full"),
        "6N, N active with embeddings": 6.0 * found.active,
        "6N, N active without embeddings": 6.0 * found.active_without_embeddings,
    }
    title = f"FLOPs a token in training, context {arch.context:,}"
    shares = [(name, flops(x, 4), percent(x / counted)) for name, x in training.items()]
    out.table(console, title, ("", "FLOPs", "of counted"), shares)
    if D is not None:
        text = f"Training on {D:,.0f} tokens: {flops(D * counted, 4)} FLOPs"
        out.prose(console, f"{text}, {arch.attention} attention.")
