"""The API reference: every public name with its signature and docstring, as Markdown."""

from __future__ import annotations

import inspect
import re

import lawsmith

# Headings of the page, and the names below each in the order they are read.
GROUPS = {
    "From runs to answers": (
        "fit",
        "fit_losses",
        "fit_tasks",
        "analyse",
        "compare_laws",
        "replay_study",
    ),
    "Tables": ("load", "load_curves", "learn", "Study", "ReadOptions", "CurveOptions"),
    "Results": (
        *("Answer", "Forecast", "TaskAnswer", "Analysis", "Prediction", "Comparisons"),
        *("Replayed", "write_report", "charts"),
    ),
    "What is asked for": ("Target", "HeldOut", "Task"),
    "Laws": (
        *("LAWS", "get_law", "Law", "fit_law", "LawFit"),
        *("define", "asymptote", "coefficient", "exponent"),
    ),
    "Choosing runs": ("Grid", "Runs", "make_policy", "make_surrogate"),
    "Counting": ("Arch", "count"),
    "Errors": ("LawsmithError",),
}
INTRODUCTION = """# API reference

These are the public names of lawsmith; `from lawsmith import …` gives them. Everything else is
private and may change without notice. The examples are run by the tests. [Python](python.md) is a
shorter way in.
"""
METHODS = (
    "at",
    "summary",
    "to_frame",
    "to_dict",
    "predict",
    "from_columns",
    "from_losses",
    "parse",
)
_ENTRY = re.compile(r"^(\S.*?\S|\S)\s{2,}(\S.*)$")


def api_page() -> str:
    """The whole page; the groups hold exactly the public names."""
    listed = {name for names in GROUPS.values() for name in names}
    differ = listed ^ (set(lawsmith.__all__) - {"__version__"})
    assert not differ, f"docs/api_page.py: no group for, or not public: {sorted(differ)}"
    parts = [INTRODUCTION]
    for title, names in GROUPS.items():
        parts += [f"## {title}\n", *(entry(name) for name in names)]
    return "\n".join(parts)


def entry(name: str) -> str:
    """One public name: heading, signature, what it says of itself, its methods."""
    thing = getattr(lawsmith, name)
    if name == "LAWS":
        rows = "\n".join(f"| `{law.name}` | {law.formula} |" for law in thing.values())
        return f"### LAWS\n\nThe built-in laws by name.\n\n| name | formula |\n|---|---|\n{rows}\n"
    parts = [f"### {name}\n"]
    if inspect.isfunction(thing):
        parts.append(f"```python\n{name}{signature(thing)}\n```\n")
    parts.append(prose(inspect.getdoc(thing) or ""))
    if inspect.isclass(thing):
        parts += methods(thing)
    return "\n".join(parts)


def signature(thing: object) -> str:
    """A signature, on several lines where one would be too long."""
    found = inspect.signature(thing)  # type: ignore[arg-type]
    told: list[str] = []
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in told:
            told.append("*")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        told.append(f"{parameter.name}: {parameter.annotation}{default}")
    line = f"({', '.join(told)}) -> {found.return_annotation}"
    if len(line) < 80:
        return line
    return "(\n" + "".join(f"    {one},\n" for one in told) + f") -> {found.return_annotation}"


def methods(thing: type) -> list[str]:
    """The methods that a user needs, each with its first sentence."""
    found = []
    for name in METHODS:
        method = inspect.getattr_static(thing, name, None)
        if method is not None:
            said = (inspect.getdoc(getattr(thing, name)) or "").split("\n\n")[0].replace("\n", " ")
            found.append(f"- `{name}(…)`: {said}")
    return ["**Methods**\n", *found, ""] if found else []


def prose(text: str) -> str:
    """A docstring as Markdown: aligned names become a list, examples blocks of code."""
    return "\n\n".join(block(part) for part in text.split("\n\n")) + "\n"


def block(text: str) -> str:
    lines = text.split("\n")
    if lines[0].startswith(">>>"):
        return f"```pycon\n{text}\n```"
    if all(_ENTRY.match(line) or line.startswith("  ") for line in lines):
        return entries(lines)
    if any(line.startswith("  ") for line in lines) or " = " in lines[0]:
        return f"```\n{text}\n```"
    return text


def entries(lines: list[str]) -> str:
    """'name   what it is' lines, with continuations, as a list."""
    found: list[str] = []
    for line in lines:
        match = _ENTRY.match(line)
        if match is not None and not line.startswith(" "):
            found.append(f"- **{match[1].replace('*', '')}**: {match[2]}")
        elif found:
            found[-1] += f" {line.strip()}"
    return "\n".join(found)
