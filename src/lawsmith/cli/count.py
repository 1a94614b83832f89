"""`lawsmith count`: parameters and FLOPs a token of an architecture."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from lawsmith.cli import console as out
from lawsmith.cli.params import whole
from lawsmith.counting import Arch, Count, read_arch, read_config
from lawsmith.counting import count as counted
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops, percent

_SHAPE, _EXPERTS, _DETAILS = "Shape", "Experts", "Details"


def _size(text: str, panel: str) -> Any:
    return typer.Option(parser=whole, metavar="INT", help=text, rich_help_panel=panel)


def _word(text: str, metavar: str) -> Any:
    return typer.Option(metavar=metavar, help=text, rich_help_panel=_DETAILS)


def count(
    config: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CONFIG.JSON]",
            help="A model's public config.json; options below override what it says.",
        ),
    ] = None,
    layers: Annotated[int | None, _size("Layers.", _SHAPE)] = None,
    width: Annotated[int | None, _size("Width of the residual stream.", _SHAPE)] = None,
    heads: Annotated[int | None, _size("Attention heads.", _SHAPE)] = None,
    kv_heads: Annotated[
        int | None, _size("Heads of keys and values; by default as many as heads.", _SHAPE)
    ] = None,
    head_dim: Annotated[
        int | None, _size("Width of a head; by default width / heads.", _SHAPE)
    ] = None,
    ffn: Annotated[
        int | None, _size("Inner width of the feed-forward block; by default 4 × width.", _SHAPE)
    ] = None,
    vocab: Annotated[int | None, _size("Size of the vocabulary.", _SHAPE)] = None,
    context: Annotated[
        int | None, _size("Tokens of a sequence in training; by default 2048.", _SHAPE)
    ] = None,
    experts: Annotated[int | None, _size("Feed-forward experts of a layer.", _EXPERTS)] = None,
    active: Annotated[int | None, _size("Experts that a token uses.", _EXPERTS)] = None,
    shared: Annotated[int | None, _size("Experts that every token uses besides.", _EXPERTS)] = None,
    gated: Annotated[
        bool | None,
        typer.Option(help="The feed-forward block has a gate.", rich_help_panel=_DETAILS),
    ] = None,
    tied: Annotated[
        bool | None,
        typer.Option(help="Input and output share one embedding.", rich_help_panel=_DETAILS),
    ] = None,
    biases: Annotated[str | None, _word("Which linear maps have biases.", "none|qkv|all")] = None,
    norm: Annotated[str | None, _word("Parameters of a norm.", "rms|layer|none")] = None,
    positions: Annotated[int | None, _size("Learned positions.", _DETAILS)] = None,
    attention: Annotated[
        str | None, _word("Count the keys a token may see, or all of them.", "causal|full")
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(metavar="D", help="Count the FLOPs of training on so many tokens too."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object instead of a table.")
    ] = False,
) -> None:
    """Count the parameters of a model, with and without embeddings, and its FLOPs a token.

    For example: lawsmith count --layers 12 --width 768 --heads 12 --vocab 50257 --tied
    """
    given = {name: value for name, value in locals().items() if value is not None}
    for name in ("config", "tokens", "as_json"):
        given.pop(name, None)
    from lawsmith.cli import options as read

    found = counted(_arch(config, given))
    D = read.tokens(tokens, "--tokens")
    if as_json:
        typer.echo(json.dumps(payload(found, D), indent=2))
    else:
        show_count(found, D)


def _arch(config: Path | None, given: dict[str, Any]) -> Arch:
    if config is None and not given:
        want = "a config.json, or --layers, --width, --heads and --vocab"
        raise LawsmithError("count", got="nothing", want=want)
    base = {} if config is None else vars(read_config(config))
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
    told = {
        "counted, causal attention": found.training("causal"),
        "counted, full attention": found.training("full"),
        "6N, N active with embeddings": 6.0 * found.active,
        "6N, N active without embeddings": 6.0 * found.active_without_embeddings,
    }
    title = f"FLOPs a token in training, context {arch.context:,}"
    shares = [(name, flops(x, 4), percent(x / counted)) for name, x in told.items()]
    out.table(console, title, ("", "FLOPs", "of counted"), shares)
    if D is not None:
        text = f"Training on {D:,.0f} tokens: {flops(D * counted, 4)} FLOPs"
        out.prose(console, f"{text}, {arch.attention} attention.")
