"""`lawsmith count`: parameters and FLOPs a token of an architecture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lawsmith.cli.params import whole

if TYPE_CHECKING:
    from lawsmith.counting import Arch

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
    from lawsmith.cli.count_view import payload, show_count
    from lawsmith.counting import count as counted

    found = counted(_arch(config, given))
    D = read.tokens(tokens, "--tokens")
    if as_json:
        typer.echo(json.dumps(payload(found, D), indent=2))
    else:
        show_count(found, D)


def _arch(config: Path | None, given: dict[str, Any]) -> Arch:
    from lawsmith.counting import read_arch, read_config
    from lawsmith.errors import LawsmithError

    if config is None and not given:
        want = "a config.json, or --layers, --width, --heads and --vocab"
        raise LawsmithError("count", got="nothing", want=want)
    base = {} if config is None else vars(read_config(config))
    return read_arch({**base, **given})
