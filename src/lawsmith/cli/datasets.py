"""`lawsmith datasets`: list, show and fetch the catalogued studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lawsmith.errors import LawsmithError

if TYPE_CHECKING:
    from lawsmith.datasets import Entry

app = typer.Typer()


@app.callback(invoke_without_command=True)
def datasets(context: typer.Context) -> None:
    """List, show and fetch published studies."""
    if context.invoked_subcommand is None:
        list_()


@app.command("list")
def list_() -> None:
    """List the studies that lawsmith knows by name."""
    from lawsmith.cli.console import stdout
    from lawsmith.cli.datasets_view import show_list
    from lawsmith.datasets import entry, names

    show_list(stdout(), [entry(name) for name in names()])


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A study, or study:variant.")],
) -> None:
    """Show where a study is from, what it holds, and how that differs from its paper."""
    from lawsmith.cli.console import stdout
    from lawsmith.cli.datasets_view import show_entry
    from lawsmith.datasets import entry

    known = entry(name)
    variant = name.partition(":")[2]
    known.variant(variant)
    show_entry(stdout(), known, variant)


@app.command("fetch")
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME…", help="Studies to download.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every study with a public address.")
    ] = False,
) -> None:
    """Download studies into the cache and verify them; those already there are kept."""
    from lawsmith.cli.console import downloads, paths, stderr, stdout
    from lawsmith.datasets import locate

    entries = _asked(names or [], every=every)
    for known in entries:
        if known.synthetic or known.bundled:
            made = "made by" if known.synthetic else "part of"
            stderr().print(f"{known.name} is {made} lawsmith, there is nothing to fetch")
            continue
        with downloads() as progress:
            found = locate(known, progress=progress)
        paths(stdout(), found)


def _asked(asked: list[str], *, every: bool) -> list[Entry]:
    """The entries to fetch; with --all those that are here or can be had."""
    from lawsmith.datasets import entry, names, present

    if every == bool(asked):
        got = "both names and --all" if every else "no name"
        hint = "lawsmith datasets lists them"
        raise LawsmithError("datasets fetch", got=got, want="names, or --all", hint=hint)
    if not every:
        return [entry(name) for name in asked]
    known = [entry(name) for name in names()]
    return [e for e in known if e.sources and not e.bundled and (present(e) or _is_public(e))]


def _is_public(known: Entry) -> bool:
    return all(source.url is not None for source in known.sources)
