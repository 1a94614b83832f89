"""Counts of an architecture on the terminal and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lawsmith.cli import console as out
from lawsmith.counting import Count
from lawsmith.formats import flops, percent


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
    console = out.stdout()
    out.heading(console, "Parameters")
    table = out.table("", "total", "active")
    table.add_row("with embeddings", f"{found.total:,}", f"{found.active:,}")
    rest = found.without_embeddings, found.active_without_embeddings
    table.add_row("without embeddings", *(f"{n:,}" for n in rest))
    out.show(console, table)
    arch = found.arch
    out.heading(console, f"FLOPs a token in training, context {arch.context:,}")
    table = out.table("", "FLOPs", "of counted")
    counted = found.training()
    rows = {
        "counted, causal attention": found.training("causal"),
        "counted, full attention": found.training("full"),
        "6N, N active with embeddings": 6.0 * found.active,
        "6N, N active without embeddings": 6.0 * found.active_without_embeddings,
    }
    for name, value in rows.items():
        table.add_row(name, flops(value, 4), percent(value / counted))
    out.show(console, table)
    if D is not None:
        text = f"Training on {D:,.0f} tokens: {flops(D * counted, 4)} FLOPs"
        out.prose(console, f"{text}, {arch.attention} attention.")
