"""`lawsmith count`: the parameters and FLOPs per token of an architecture."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lawsmith.cli import console as out
from lawsmith.cli.commands import CountRequest
from lawsmith.counting import Arch, Count, read_arch, read_config
from lawsmith.counting import count as counted
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops, percent


def count(request: CountRequest) -> None:
    """Run `lawsmith count`."""
    counts = counted(_arch(request))
    if request.as_json:
        out.print_json(payload(counts, request.tokens))
    else:
        show_count(counts, request.tokens)


def _arch(request: CountRequest) -> Arch:
    others = ("words", "config", "tokens", "as_json")
    given = {k: v for k, v in vars(request).items() if v is not None and k not in others}
    if request.config is None and not given:
        want = "a config.json, or --layers, --width, --heads and --vocab"
        raise LawsmithError("count", got="nothing", want=want)
    base = {} if request.config is None else vars(read_config(request.config))
    return read_arch({**base, **given})


def payload(counts: Count, D: float | None) -> dict[str, Any]:
    """What ``--json`` prints; ``training_flops`` only with a number of tokens."""
    forward = {kind: counts.forward(kind) for kind in ("causal", "full")}
    training = {kind: counts.training(kind) for kind in ("causal", "full")}
    training["without_attention"] = 6.0 * counts.matrices
    training["6N"] = 6.0 * counts.active
    training["6N_without_embeddings"] = 6.0 * counts.active_without_embeddings
    payload: dict[str, Any] = {
        "arch": asdict(counts.arch),
        "N": {
            "total": counts.total,
            "active": counts.active,
            "total_without_embeddings": counts.without_embeddings,
            "active_without_embeddings": counts.active_without_embeddings,
            "embedding": counts.embedding,
            "unembedding": counts.unembedding,
        },
        "flops_per_token": {
            "forward": {**forward, "without_attention": 2.0 * counts.matrices},
            "training": training,
        },
    }
    if D is not None:
        payload |= {"tokens": D, "training_flops": {k: v * D for k, v in training.items()}}
    return payload


def show_count(counts: Count, D: float | None) -> None:
    """Show parameters, then FLOPs per token beside 6N."""
    arch, counted = counts.arch, counts.training()
    sizes = {
        "with embeddings": (counts.total, counts.active),
        "without embeddings": (counts.without_embeddings, counts.active_without_embeddings),
    }
    rows = [(name, *(f"{n:,}" for n in both)) for name, both in sizes.items()]
    out.table("Parameters", ("", "total", "active"), rows)
    training = {
        "counted, causal attention": counts.training("causal"),
        "counted, full attention": counts.training("full"),
        "6N, N active with embeddings": 6.0 * counts.active,
        "6N, N active without embeddings": 6.0 * counts.active_without_embeddings,
    }
    title = f"FLOPs per token in training, context {arch.context:,}"
    shares = [(name, flops(x, 4), percent(x / counted)) for name, x in training.items()]
    out.table(title, ("", "FLOPs", "of counted"), shares)
    if D is not None:
        text = f"Training on {D:,.0f} tokens: {flops(D * counted, 4)} FLOPs"
        out.prose(f"{text}, {arch.attention} attention.")
