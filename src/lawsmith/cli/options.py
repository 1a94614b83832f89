"""Text of options to values: columns, targets, fixed parameters, priors, the objective.

Each function raises a one-line error that names the option.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from lawsmith.analysis import Target
from lawsmith.cli.payload import compute_rule
from lawsmith.datasets import Study
from lawsmith.errors import LawsmithError
from lawsmith.laws.fit import Prior
from lawsmith.laws.law import Law
from lawsmith.laws.objective import Objective, get_objective, huber

_GREEK = {"α": "alpha", "β": "beta", "αN": "alpha_N", "αD": "alpha_D"}
_BETWEEN = re.compile(r"\s*(?:±|\+/?-|:)\s*")


def columns(texts: Iterable[str]) -> dict[str, str]:
    """'N=params,D=tokens' → {'N': 'params', 'D': 'tokens'}; what an option repeats adds to it."""
    return _pairs(texts, "--columns", "NAME=COLUMN such as N=params,D=tokens,loss=val_loss")


def fixed(texts: Iterable[str], law: Law) -> dict[str, float]:
    """'E=1.69' → {'E': 1.69}, for parameters of ``law``."""
    found = _pairs(texts, "--fix", "PARAMETER=VALUE such as E=1.69")
    return {
        name: _parameter(law, name, value, option="--fix")
        for name, value in _plain_names(found).items()
    }


def priors(texts: Iterable[str], law: Law, pinned: Mapping[str, float]) -> dict[str, Prior]:
    """'E=1.69±0.05' → a Prior, whose sd is relative for a positive parameter."""
    want = "PARAMETER=VALUE±SD such as E=1.69±0.05 (or E=1.69:0.05)"
    out = {}
    for name, text in _plain_names(_pairs(texts, "--prior", want)).items():
        parts = _BETWEEN.split(text)
        if len(parts) != 2:
            raise LawsmithError("--prior", got=repr(f"{name}={text}"), want=want)
        if name in pinned:
            raise LawsmithError(f"--prior {name}", got="a fixed parameter", want="a free one")
        value = _parameter(law, name, parts[0], option="--prior")
        sd = _number(parts[1], f"--prior {name}: SD")
        if not sd > 0:
            raise LawsmithError(f"--prior {name}: SD", got=f"{sd:g}", want="above 0")
        positive = law.params[law.position(name)].positive
        out[name] = Prior(value, sd / value if positive else sd)
    return out


def targets(texts: Iterable[str]) -> tuple[Target, ...]:
    """'1e25' is a compute, '7e9,1.4e11' an N and a D (of compute 6ND)."""
    return tuple(_target(text) for text in texts)


def law_of(study: Study) -> str:
    """The law a study is fitted with where none is named."""
    if study.default_law is None:
        inputs = ", ".join(axis.name for axis in study.grid.axes)
        got = f"inputs {inputs}, for which there is no usual law"
        hint = "other laws can be defined in Python"
        raise LawsmithError(study.name, got=got, want="a law named by --law", hint=hint)
    if compute_rule(study) is None:
        # N or D alone is more often a column misnamed than a law of one of them.
        has, lacks = ("N", "D") if "N" in study.grid.names else ("D", "N")
        got = f"a column for {has}, none for {lacks} or for the compute C"
        hint = f"say which: --columns {lacks}=NAME; or --law {study.default_law} for a law of {has}"
        raise LawsmithError(study.name, got=got, want="N and D, or C", hint=hint)
    return study.default_law


def check_inputs(study: Study, law: Law) -> None:
    """The law's inputs must be columns of the study, or its compute."""
    known = [*study.grid.names, *(["C"] if compute_rule(study) else [])]
    missing = [name for name in law.inputs if name not in known]
    if missing:
        got = f"columns {', '.join(study.grid.names)}"
        want = f"{' and '.join(law.inputs)} for {law.name}"
        hint = f"say which: --columns {','.join(f'{name}=NAME' for name in missing)}"
        raise LawsmithError(study.name, got=got, want=want, hint=hint)


def objective(name: str | None, delta: float | None, law: Law) -> Objective | None:
    """The objective asked for, None for the one each law's authors use; δ is Huber's only."""
    asked = get_objective(name) if name else None
    if delta is None:
        return asked
    chosen = asked or law.objective
    if chosen.name != "huber":
        got = f"{delta:g} with {chosen.name}"
        hint = "add --objective huber" if name is None else None
        raise LawsmithError("--delta", got=got, want="--objective huber", hint=hint)
    if not 0 < delta < math.inf:
        raise LawsmithError("--delta", got=f"{delta:g}", want="a number above 0")
    return huber(delta)


def diverged_above(value: float | None) -> float:
    """The loss above which a run has diverged, infinite by default."""
    if value is not None and not value > 0:
        raise LawsmithError("--diverged-above", got=f"{value:g}", want="a loss above 0")
    return math.inf if value is None else value


def level(value: float) -> float:
    """A probability."""
    if not 0 < value < 1:
        raise LawsmithError("--level", got=f"{value:g}", want="between 0 and 1, such as 0.95")
    return value


def folder(path: Path, option: str) -> Path:
    """A folder that can be written, made if need be: better told before the work than after."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        got = f"{path}: {error.strerror or error}"
        raise LawsmithError(option, got=got, want="a folder that can be written") from None
    return path


def _target(text: str) -> Target:
    values = [_float(part) for part in text.split(",")]
    match values if all(0 < value < math.inf for value in values) else []:
        case [C]:
            return Target(C)
        case [N, D]:
            return Target(6.0 * N * D, N, D)
    want = "a compute such as 1e25, or N,D such as 7e9,1.4e11"
    hint = "repeat the option for more targets" if len(values) > 2 else None
    raise LawsmithError("--target", got=repr(text), want=want, hint=hint)


def _pairs(texts: Iterable[str], option: str, want: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in (part for text in texts for part in text.split(",")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise LawsmithError(option, got=repr(part), want=want)
        if name in found:
            raise LawsmithError(option, got=f"{name} twice", want="each name once")
        found[name] = value
    return found


def _plain_names(values: Mapping[str, str]) -> dict[str, str]:
    """Parameters as the formula writes them (α) under the names they have (alpha)."""
    return {_GREEK.get(name, name): value for name, value in values.items()}


def _parameter(law: Law, name: str, text: str, *, option: str) -> float:
    positive = law.params[law.position(name)].positive
    value = _number(text, f"{option} {name}")
    if positive and not value > 0:
        raise LawsmithError(f"{option} {name}", got=f"{value:g}", want="a number above 0")
    return value


def _number(text: str, where: str) -> float:
    value = _float(text)
    if not math.isfinite(value):
        raise LawsmithError(where, got=repr(text.strip()), want="a number such as 1.69")
    return value


def _float(text: str) -> float:
    """The number in ``text``, NaN if there is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
