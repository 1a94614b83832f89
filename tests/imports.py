"""What the files of a package import, read from their source, and which libraries they may."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """The source of a package, and who in it may import what from outside.

    folder      of the package; its name is the package's
    only_under  library → the parts, or modules of a part (part.module), that may import it, with
                what is below them; a library that is not listed is for everyone
    """

    folder: Path
    only_under: Mapping[str, set[str]]

    @property
    def sources(self) -> list[Path]:
        """Every file of the package."""
        return sorted(self.folder.rglob("*.py"))

    def dotted(self, source: Path) -> tuple[str, ...]:
        """('laws', 'huber') for laws/huber.py; () for the package's own __init__."""
        parts = source.relative_to(self.folder).with_suffix("").parts
        return parts[:-1] if parts[-1] == "__init__" else parts

    def name_of(self, source: Path) -> str:
        """'laws.huber', for the name of a test."""
        return ".".join(self.dotted(source)) or self.folder.name

    def imports(self, source: Path, text: str) -> list[tuple[str, ...]]:
        """Every name imported by ``text``, as dotted parts; relative ones made absolute."""
        here = (self.folder.name, *source.relative_to(self.folder).parent.parts)
        found: list[tuple[str, ...]] = []
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                found += [tuple(alias.name.split(".")) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = here[: len(here) + 1 - node.level] if node.level else ()
                base += tuple(node.module.split(".")) if node.module else ()
                found += [(*base, alias.name) for alias in node.names]
        return found

    def misused(self, source: Path, text: str) -> list[str]:
        """Libraries that ``text``, as the content of ``source``, imports against the rules."""
        where = self.name_of(source)
        names = (name[0] for name in self.imports(source, text))
        return [f"{where} imports {name}" for name in names if not self._may_use(source, name)]

    def _may_use(self, source: Path, library: str) -> bool:
        module = self.dotted(source)
        places = {".".join(module[:n]) for n in range(1, len(module) + 1)}
        return library not in self.only_under or bool(places & self.only_under[library])


def executes(text: str) -> list[str]:
    """Which of eval and exec are called."""
    calls = (node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    names = {func.id for func in calls if isinstance(func, ast.Name)}
    return sorted(names & {"eval", "exec"})


def classes(text: str) -> list[str]:
    """The names of the classes that ``text`` defines."""
    return [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
