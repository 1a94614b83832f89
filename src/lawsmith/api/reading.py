"""The arguments of Python functions (tables, names, text) to the values lawsmith works with.

The readers of the command line are used here too; their errors then name keywords, not options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from lawsmith import datasets
from lawsmith.analysis import learn as learn_from_studies
from lawsmith.answer import Target
from lawsmith.cli import options as read
from lawsmith.datasets import CurveOptions, Curves, ReadOptions, Study
from lawsmith.errors import LawsmithError
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import read_law
from lawsmith.laws.law import Law
from lawsmith.surface import PUBLIC, Prior

if TYPE_CHECKING:
    import pandas as pd

    Source: TypeAlias = Study | pd.DataFrame | str | PathLike[str]
    CurveSource: TypeAlias = Curves | pd.DataFrame | str | PathLike[str]
    TargetLike: TypeAlias = Target | float | str | Mapping[str, float | str]

FRAME = "DataFrame"  # the name of a study read from one
P = ParamSpec("P")
R = TypeVar("R")

# Keywords that are not called as the option is.
KEYWORDS = {"target": "targets", "at": "targets", "fix": "fixed"}
_PAIRS = re.compile(r"--((?:curve-)?columns) ((?:[\w./]+=[\w./]+,?)+)")
_WORD = re.compile(r"--(law|objective|curve-kind) ([\w.|]+)")
_FLAG = re.compile(r"--(force|skip-bad-rows)\b")
_OPTION = re.compile(r"--([a-z][a-z-]*)")


def in_python(function: Callable[P, R]) -> Callable[P, R]:
    """Raise the errors of ``function`` with keywords where they name options."""

    @wraps(function)
    def in_keywords(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except LawsmithError as error:
            where, *rest = map(keywords, (error.where, error.got, error.want, error.hint))
            raise LawsmithError(where, got=rest[0], want=rest[1], hint=rest[2]) from None

    return in_keywords


def keywords(text: Any) -> Any:
    """'say which: --columns N=NAME' → "say which: columns={'N': 'NAME'}"; no text as it is."""
    if not isinstance(text, str):
        return text
    text = _PAIRS.sub(lambda m: f"{_name(m[1])}={_mapping(m[2])}", text)
    text = _WORD.sub(lambda m: f"{_name(m[1])}={m[2]!r}", text)
    text = _FLAG.sub(lambda m: f"{_name(m[1])}=True", text)
    return _OPTION.sub(lambda m: _name(m[1]), text)


def _name(option: str) -> str:
    return KEYWORDS.get(option, option.replace("-", "_"))


def _mapping(pairs: str) -> dict[str, str]:
    parts = (pair.partition("=") for pair in pairs.rstrip(",").split(","))
    return {name: value for name, _, value in parts}


@in_python
def load(
    source: Source,
    options: ReadOptions | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    where: str | None = None,
) -> Study:
    """Read a table of training runs: a DataFrame, a file, or a study that lawsmith knows.

    source    a pandas DataFrame, the path of a file that `lawsmith fit` reads, or the name of a
              study (`lawsmith datasets`); a Study is returned as it is
    options   all ways to read a table
    columns   which column is N, D, C, the loss or a hyperparameter; well-known names are found
    where     keep the rows for which this expression holds

    >>> import pandas as pd
    >>> table = pd.DataFrame({
    ...     "params": [1e8, 1e8, 3e8, 3e8],
    ...     "toks": [2e9, 8e9, 2e9, 8e9],
    ...     "loss": [3.4, 3.1, 3.2, 2.9],
    ... })
    >>> load(table, columns={"D": "toks"})
    Study DataFrame
      4 runs of 4 configurations: 4 done
      inputs (values): N (2), D (2)
      compute from 1.2e18 to 1.44e19 FLOPs
    >>> load(table, columns={"D": "tokenz"})
    Traceback (most recent call last):
    ...
    lawsmith.errors.LawsmithError: DataFrame: ...
    """
    chosen = options or ReadOptions()
    if columns or where:
        chosen = chosen.then(ReadOptions(columns=columns or {}, where=where))
    if isinstance(source, Study):
        return _unchanged(source, chosen)
    if isinstance(source, str | PathLike):
        return datasets.load(source if isinstance(source, str) else Path(source), chosen)
    return datasets.study_from_frame(_check_frame(source), chosen, name=FRAME)


def _unchanged(study: Study, options: ReadOptions) -> Study:
    if options != ReadOptions():
        got, want = "a Study, which is read already", "a DataFrame, a path or a name"
        hint = "give these options to the load() that made the study"
        raise LawsmithError("columns, where or options", got=got, want=want, hint=hint)
    return study


def _check_frame(frame: object) -> pd.DataFrame:
    """A DataFrame that can hold runs."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        want = "a pandas DataFrame, a path, the name of a study, or a Study"
        hint = "pandas.DataFrame(...) makes one of columns or rows"
        raise LawsmithError("source", got=f"a {type(frame).__name__}", want=want, hint=hint)
    if not len(frame.columns):
        raise LawsmithError(FRAME, got="no columns", want="a table with one row per run")
    if not len(frame):
        raise LawsmithError(FRAME, got="no rows", want="at least one run")
    flat = frame.set_axis([_label(name) for name in frame.columns], axis=1)
    twice = flat.columns[flat.columns.duplicated()]
    if len(twice):
        got = f"the column {twice[0]!r} twice"
        raise LawsmithError(FRAME, got=got, want="distinct column names")
    return flat


def _label(name: object) -> str:
    """A column's name as text; the levels of a MultiIndex joined."""
    parts = name if isinstance(name, tuple) else (name,)
    return ".".join(str(part) for part in parts if part != "")


@in_python
def load_curves(
    source: CurveSource,
    options: CurveOptions | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    curve_kind: str | None = None,
) -> Curves:
    """Read losses along runs: one row for each moment of each run.

    source      a pandas DataFrame, or the path of a file
    options     all ways to read such a table
    columns     which column is run, D, loss, N, lr or kind; well-known names are found
    curve_kind  'trunk' for curves at a constant learning rate, 'scheduled' for those that decay;
                not needed where a column says it

    >>> import pandas as pd
    >>> table = pd.DataFrame({
    ...     "run": ["a"] * 4, "tokens": [1e9, 2e9, 4e9, 8e9], "loss": [3.9, 3.6, 3.4, 3.3],
    ... })
    >>> len(load_curves(table, curve_kind="trunk"))
    1
    """
    chosen = options or CurveOptions()
    merged = {**chosen.columns, **(columns or {})}
    chosen = replace(chosen, columns=merged, kind=curve_kind or chosen.kind)
    if isinstance(source, Curves):
        return source
    if isinstance(source, str | PathLike):
        return datasets.load_curves(Path(source), chosen)
    return datasets.curves_from_frame(_check_frame(source), chosen, name=FRAME)


@in_python
def learn(studies: Sequence[Source]) -> Prior:
    """A prior for a further study like these earlier ones, for `fit(..., learn_from=...)`.

    studies   each as `load` takes it; at least 8 finished runs in each

    >>> earlier = load("tinylm", where="batch == 32 and 0.001 < lr < 0.002")
    >>> prior = learn([earlier])
    >>> [(lesson.study, lesson.n_runs) for lesson in prior.learnt_from]
    [('tinylm', 42)]
    """
    return learn_from_studies([load(study) for study in studies])


def as_targets(given: TargetLike | Sequence[TargetLike], study: Study) -> tuple[Target, ...]:
    """Targets of any kind: computes, text such as '1e24' or 'N=7B,D=140B', mappings, Targets."""
    return read.targets(as_options(given), list(study.grid.hp))


def as_options(given: TargetLike | Sequence[TargetLike]) -> list[tuple[str, str]]:
    """Targets as they are typed on the command line: an option and its text each."""
    if isinstance(given, Target | Mapping | str | float | Real):
        return [_option(given)]
    return [_option(target) for target in given]


def _option(target: TargetLike) -> tuple[str, str]:
    plain = target.plain if isinstance(target, Target) else target
    if isinstance(plain, Mapping):
        return "--at", ",".join(f"{k}={v}" for k, v in plain.items() if k != "C")
    return ("--at" if isinstance(plain, str) and "=" in plain else "--target"), str(plain)


def as_law(law: Law | str | None, study: Study) -> Law:
    """A law by name, by FILE.py:NAME, or the study's usual one; its inputs must be there."""
    return read.law_for(study, read_law(law) if isinstance(law, str) else law)


def as_hold_out(rule: HeldOut | str | float | None) -> HeldOut | None:
    """'50%', 0.5, 'largest-N' or a HeldOut."""
    return rule if rule is None or isinstance(rule, HeldOut) else HeldOut.parse(str(rule))


def as_prior(learn_from: Prior | Sequence[Source]) -> Prior:
    """The prior of earlier studies; of the public ones if none is named."""
    if isinstance(learn_from, Prior):
        return learn_from
    if isinstance(learn_from, str):
        learn_from = [learn_from]
    return learn(learn_from) if learn_from else PUBLIC
