"""A command is a dataclass: its docstring is the help, and its fields are the options.

So an option is declared once, with its help, its default and its reader. Nothing heavy is imported
before an option is read, so that `--help` answers at once.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from importlib import import_module
from inspect import Parameter, Signature
from operator import attrgetter
from typing import Annotated, Any, ClassVar, get_type_hints

import typer

from lawsmith.errors import LawsmithError
from lawsmith.numbers import as_float, short_repr

SHOW, TASK = "What is shown", "Accuracy of a task"
Texts = list[str] | None


def number(text: str | float) -> float:
    """A finite number."""
    value = as_float(text)
    if value is None or not math.isfinite(value):
        raise typer.BadParameter(f"got {text!r}, want a number")
    return value


def whole(text: str) -> int:
    """A whole number from 0."""
    word = str(text).strip()
    if not (word.isascii() and word.isdecimal() and len(word) <= 18):
        raise typer.BadParameter(f"got {short_repr(text)}, want a whole number from 0")
    return int(word)


def at_least_one(text: str) -> int:
    """A whole number from 1."""
    value = whole(text)
    if value < 1:
        raise typer.BadParameter(f"got {text!r}, want a whole number from 1")
    return value


READERS: dict[Any, Callable[[str], Any]] = {
    int: whole,
    int | None: whole,
    float: number,
    float | None: number,
}


def reader(place: str) -> Callable[[str], Any]:
    """A function that calls the one at 'module:name' and imports the module only then.

    Its errors name the option.
    """

    def read(text: str) -> Any:
        try:
            return _at(place)(text)
        except LawsmithError as error:
            raise typer.BadParameter(str(error).removeprefix(f"{error.where}: ")) from None

    return read


def _at(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    function: Callable[..., Any] = attrgetter(name)(import_module(module))
    return function


def option(
    panel: str | None, metavar: str | None, text: str, *names: str, default: Any = None, **more: Any
) -> Any:
    """An option in a panel of the help; its name is the field's if none is given."""
    info = typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel, **more)
    return field(default=default, metadata={"typer": info})


def flag(panel: str | None, text: str, name: str = "") -> Any:
    """An option without a value; its name is the field's if none is given."""
    return option(panel, None, text, *([name] if name else []), default=False)


def argument(metavar: str, text: str, default: Any = MISSING, *, show_default: bool = False) -> Any:
    """A positional argument."""
    info = typer.Argument(metavar=metavar, show_default=show_default, help=text)
    return field(default=default, metadata={"typer": info})


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options of a command.

    runs    the function that does it, 'module:name', imported when the command runs
    words   the command line as typed, from the name of the command on
    """

    runs: ClassVar[str]
    words: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[tuple[str, str], ...]:
        """--target and --at with their texts, in the order they were typed."""
        pairs = []
        for word, following in zip(self.words, (*self.words[1:], ""), strict=True):
            name, equals, value = word.partition("=")
            if name in ("--target", "--at"):
                pairs.append((name, value if equals else following))
        return tuple(pairs)

    @property
    def command(self) -> str:
        """The command line as typed."""
        return shlex.join(["lawsmith", *self.words])


def command(request: type[Request]) -> Callable[..., None]:
    """The function that Typer makes a command of, by the fields of the request.

    A number without a reader of its own is read by its type. An error about a field names its
    option.
    """
    hints = get_type_hints(request)
    declared = [(one, one.metadata["typer"]) for one in fields(request) if "typer" in one.metadata]
    # Output options come last in the help, and --json at the end, whichever class declares them.
    declared.sort(
        key=lambda one: (one[1].rich_help_panel in (SHOW, TASK), one[0].name == "as_json")
    )
    options = {
        one.name: f"--{one.name.replace('_', '-')}"
        for one, info in declared
        if isinstance(info, typer.models.OptionInfo)
    }

    def run(typed: typer.Context, **given: Any) -> None:
        try:
            _at(request.runs)(request(words=tuple(typed.obj or ()), **given))
        except LawsmithError as error:
            raise error.renamed(options.get(error.where, error.where)) from None

    parameters = [Parameter("typed", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for one, info in declared:
        hint = hints[one.name]
        if hint is bool and info.default is ...:
            # Typer takes the first name of an annotated option for its default, and moves it. A
            # flag without a name would get a --no-… as well.
            info.default = options[one.name]
        info.parser = info.parser or READERS.get(hint)
        kind: Any = Annotated[hint, info]
        default = Parameter.empty if one.default is MISSING else one.default
        parameter = Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        parameters.append(parameter)
    run.__doc__ = request.__doc__
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run
