"""A user's sbatch template, and what becomes of it for one run: pure functions of text.

{{name}} stands for a value, which is put in as one quoted word. Where quotes would not hold (in
#SBATCH lines and comments, inside other quotes, in here-documents), only values that no shell and
no sbatch gives a meaning to are let in; see `quoting`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lawsmith.errors import LawsmithError, suggest
from lawsmith.files import read_bytes
from lawsmith.runners.slurm.quoting import bare_places
from lawsmith.runners.template import Value, text_of

MAX_BYTES = 2**20
PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_PLAIN = re.compile(r"[A-Za-z0-9_.,:=@%+/-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHELLS = ("sh", "bash", "dash")  # others give a meaning to other places, see `quoting`
_OURS = re.compile(r"#SBATCH(?:\s.*)?\s(--array|-a)(?=[\s=\d]|$)")


@dataclass(frozen=True)
class Rendered:
    """The template for one run.

    interpreter  the words of its first line
    directives   its #SBATCH lines, which are read by sbatch alone
    script       all of it, with the variables of the run
    """

    interpreter: tuple[str, ...]
    directives: tuple[str, ...]
    script: str


@dataclass(frozen=True)
class Template:
    """A script with placeholders; ``name`` is how errors call it."""

    name: str
    text: str

    def __post_init__(self) -> None:
        if not any(Path(word).name in _SHELLS for word in _interpreter(self.text)):
            got = repr(self.text.partition("\n")[0][:60])
            raise LawsmithError(self.name, got=got, want="a first line such as #!/bin/bash")
        if "\r" in self.text:
            raise LawsmithError(self.name, got="DOS line ends", want="lines that end in \\n alone")
        for number, line in enumerate(_head(self.text), start=1):
            if (found := _OURS.match(line)) is not None:
                hint = "lawsmith makes arrays itself: see runner.array"
                want = "a script for one run"
                raise LawsmithError(
                    f"{self.name}, line {number}", got=found.group(1), want=want, hint=hint
                )

    @classmethod
    def read(cls, path: Path) -> Template:
        """The template in a file."""
        try:
            return cls(str(path), read_bytes(path, limit=MAX_BYTES).decode("utf-8"))
        except (OSError, ValueError) as error:
            got = getattr(error, "strerror", None) or "bytes that are not UTF-8"
            raise LawsmithError(str(path), got=got, want="an sbatch script") from None

    @property
    def names(self) -> tuple[str, ...]:
        """What the placeholders ask for, each once, in order."""
        return tuple(dict.fromkeys(PLACEHOLDER.findall(self.text)))

    def render(self, values: Mapping[str, Value], env: Mapping[str, str]) -> Rendered:
        """The script of a run with these values, its variables set below the #SBATCH lines."""
        text = self._filled(values)
        head = _head(text)
        exports = [f"export {_variable(name)}={_word(name, env[name])}" for name in env]
        script = "\n".join([*head, *exports, *text.split("\n")[len(head) :]])
        directives = tuple(line for line in head if line.startswith("#SBATCH"))
        return Rendered(_interpreter(text), directives, script)

    def _filled(self, values: Mapping[str, Value]) -> str:
        bare = bare_places(self.text)

        def replaced(found: re.Match[str]) -> str:
            name = found.group(1)
            where = f"{self.name}, line {self.text.count(chr(10), 0, found.start()) + 1}"
            if name not in values:
                want, hint = "one of " + ", ".join(values), suggest(name, values)
                raise LawsmithError(where, got=f"{{{{{name}}}}}", want=want, hint=hint)
            value = text_of(values[name])
            if _PLAIN.fullmatch(value):
                return value
            if found.start() not in bare:
                want = "letters, digits and _ . , : = @ % + / - in a place where quotes do not hold"
                hint = "give it a place of its own above them, or read $LAWSMITH_CONFIG"
                raise LawsmithError(where, got=f"{name} = {value!r}", want=want, hint=hint)
            return _word(name, value)

        return PLACEHOLDER.sub(replaced, self.text)


def _interpreter(text: str) -> tuple[str, ...]:
    first = text.partition("\n")[0].strip()
    return tuple(first[2:].split()) if first.startswith("#!") else ()


def _head(text: str) -> list[str]:
    """The lines in which sbatch looks for its options: up to the first that is no comment."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip() and not line.startswith("#"):
            break
        lines.append(line)
    return lines


def _variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise LawsmithError("environment", got=repr(name), want="the name of a variable")
    return name


def _word(name: str, value: str) -> str:
    if "\0" in value:
        raise LawsmithError(name, got="a null byte", want="text")
    return shlex.quote(value)
