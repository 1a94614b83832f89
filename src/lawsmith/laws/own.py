"""A law by its name, or of a user's own: 'my_laws.py:law', made with `lawsmith.define`.

The file is run as Python, so it may do whatever its author likes; only name files you trust.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from lawsmith.errors import LawsmithError, unknown
from lawsmith.laws.catalogue import LAWS, get_law
from lawsmith.laws.law import Law


def read_law(text: str, folder: str | Path = ".") -> Law:
    """The built-in law of that name, or the one called so in a file of ``folder``."""
    file, colon, name = text.rpartition(":")
    if not colon:
        if text.endswith(".py"):
            raise LawsmithError("law", got=repr(text), want=f"a name in it, such as {text}:law")
        return get_law(text)
    if not file.endswith(".py"):
        want = "FILE.py:NAME, or one of " + ", ".join(LAWS)
        raise LawsmithError("law", got=repr(text), want=want)
    found = _names_in(Path(folder) / file)
    laws = {key: value for key, value in found.items() if isinstance(value, Law)}
    if name not in laws:
        if name in found or not laws:
            got = f"{name} in {file}, which is no law" if name in found else f"no law in {file}"
            hint = "make one with lawsmith.define"
            raise LawsmithError("law", got=got, want=f"a law called {name}", hint=hint)
        raise unknown(f"law in {file}", name, laws)
    return laws[name]


def _names_in(path: Path) -> dict[str, object]:
    """What a file defines, after it was run."""
    if not path.is_file():
        raise LawsmithError("law", got=f"no file {path}", want="a Python file")
    module = "lawsmith_own_law"
    spec = importlib.util.spec_from_file_location(module, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[module] = made  # dataclasses and pickles look their module up
    try:
        spec.loader.exec_module(made)
    except LawsmithError:
        raise
    except Exception as error:  # whatever a user's file may raise
        got = f"{type(error).__name__}: {error}"
        raise LawsmithError(f"law {path}", got=got, want="a file that runs") from None
    finally:
        sys.modules.pop(module, None)
    return vars(made)
