"""The Typer application, and `main`, which turns errors into one line on stderr and exit codes."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Annotated

import typer

from lawsmith import __version__
from lawsmith.cli.commands import COMMANDS, DATASETS, LIVE, ListRequest
from lawsmith.cli.console import BAD_INPUT, CLOSED_PIPE, INTERRUPTED
from lawsmith.cli.params import command
from lawsmith.errors import LawsmithError, suggest

# New objects between garbage collections. At Python's default of 700, collecting takes a twentieth
# of the time in a study of 100,000 candidates, none of which is garbage.
COLLECT_AFTER = 100_000
# Names that people try for --target, too different from it for a spelling suggestion.
MEANT = dict.fromkeys(("--extrapolate-to", "--predict", "--predict-at", "--flops"), "--target")

app = typer.Typer(
    name="lawsmith",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
datasets_app = typer.Typer()
for _panel, _commands in ((None, COMMANDS), ("Live studies", LIVE)):
    for _name, _request in _commands.items():
        app.command(_name, rich_help_panel=_panel)(command(_request))
for _name, _request in DATASETS.items():
    datasets_app.command(_name)(command(_request))
app.add_typer(datasets_app, name="datasets")


@datasets_app.callback(invoke_without_command=True)
def datasets(context: typer.Context) -> None:
    """List, show and fetch published studies."""
    if context.invoked_subcommand is None:
        command(ListRequest)(context)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lawsmith {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def lawsmith(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Fit scaling laws to training runs, with honest uncertainty, and find them with less compute.

    Start with `lawsmith demo`, then `lawsmith fit YOUR.csv`. `lawsmith docs` shows the manual.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help().rstrip())


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line with ``args`` (those of the process by default); its exit code."""
    gc.set_threshold(COLLECT_AFTER)
    return run_app(app, "lawsmith", args)


def run_app(app: typer.Typer, name: str, args: Sequence[str] | None) -> int:
    """Run a Typer application: errors become one line on stderr, and exit codes."""
    words = list(sys.argv[1:] if args is None else args)  # kept for options whose order matters
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without α shows ?, not a traceback
    try:
        code = app(args=args, prog_name=name, standalone_mode=False, obj=words)
        sys.stdout.flush()  # here, while a closed pipe is still caught below
    except LawsmithError as error:
        return _fail(str(error))
    except typer.TyperException as error:
        return _fail(_usage(error))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        return _stop_writing()
    return code if isinstance(code, int) else 0


def _fail(message: str) -> int:
    line = " ".join(message.split())
    print(f"error: {line}", file=sys.stderr)
    return BAD_INPUT


def _usage(error: typer.TyperException) -> str:
    """A usage error worded as all others are: where, got, want, and which help to read."""
    message = error.format_message()
    if message.startswith("Invalid value for "):
        return message.removeprefix("Invalid value for ").replace("'", "", 2)
    command = getattr(getattr(error, "ctx", None), "command_path", "lawsmith")
    text = message[:1].lower() + message[1:].removesuffix(".")
    text = re.sub(r"(\S+) \(Possible options: (.*)\)", _did_you_mean, text)
    meant = MEANT.get(text.removeprefix("no such option: "))
    text += f", did you mean {meant}?" if meant else ""
    return f"{command}: {text} (see {command} --help)"


def _did_you_mean(found: re.Match[str]) -> str:
    """The option that is closest in spelling."""
    word, known = found[1], found[2].split(", ")
    return f"{word}, {suggest(word, known) or suggest(known[0], known)}"


def _stop_writing() -> int:
    """The pipe was closed: print nothing, not even when the interpreter flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED_PIPE
