"""Which column of a table is N, D, C, the loss, an axis or the runs' names: told, or well known.

A name is matched without regard to case and with spaces, slashes and dashes as underscores. An
exact N, D, C or loss wins over its aliases; two aliases for one role are an error, not a guess.
A name of runs is only shown: of several columns that may hold it the best known is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from lawsmith.errors import LawsmithError, suggest

ALIASES: Mapping[str, tuple[str, ...]] = {
    "N": (
        *("params", "parameters", "n_params", "num_params", "n_parameters", "num_parameters"),
        *("param_count", "parameter_count", "model_size", "model_params", "params_no_embed"),
        *("non_embedding_params", "non_embedding_parameters", "n_non_embedding"),
        *("num_non_embedding_params", "non_embedding_param_size"),
    ),
    "D": (
        *("tokens", "n_tokens", "num_tokens", "train_tokens", "training_tokens", "total_tokens"),
        *("token_count", "tokens_seen", "data_size", "dataset_size"),
    ),
    "C": (
        *("flops", "flop", "compute", "n_flops", "total_flops", "train_flops", "training_flops"),
        *("training_flop", "total_compute", "train_compute", "training_compute"),
    ),
    "loss": (
        *("val_loss", "valid_loss", "validation_loss", "eval_loss", "test_loss", "final_loss"),
        *("loss_val", "loss_validation", "lm_loss", "smooth_loss"),
    ),
}
ROLES = tuple(ALIASES)
# Of a table of losses along runs, and of the branches among runs.
MORE_ALIASES: Mapping[str, tuple[str, ...]] = {
    "lr": ("lr", "learning_rate"),
    "kind": ("kind", "curve_kind"),
    "parent": ("parent", "parent_run", "branched_from"),
    "branch_at": ("branch_at", "branch_tokens", "branch_d"),
}
AXES: tuple[str, ...] = (
    *("lr", "learning_rate", "peak_lr", "max_lr", "eta"),
    *("batch_size", "bs", "bsz", "gbsz", "gbs", "batch", "global_batch_size", "global_bs"),
    *("wd", "weight_decay", "beta1", "beta2", "adam_beta1", "adam_beta2", "epsilon", "momentum"),
    *("warmup", "warmup_steps", "warmup_tokens", "warmup_ratio", "dropout"),
)
RUN = "run"
RUN_NAMES: tuple[str, ...] = (
    *("run", "run_name", "run_id", "runid", "experiment", "exp_name", "experiment_name"),
    *("job", "job_name", "job_id", "trial", "trial_id", "name", "id", "uuid"),
)
_MAX_LISTED = 20


@dataclass(frozen=True)
class Schema:
    """Names in the file: of the roles N, D, C and loss that it has, and of each axis.

    ``guessed`` axes are kept only where their column holds numbers of more than one value.
    ``runs`` are columns that may name the runs, the best known first; the one told, if any.
    """

    roles: Mapping[str, str]
    axes: Mapping[str, str]
    guessed: bool
    runs: tuple[str, ...] = ()


def resolve(names: Sequence[str], asked: Mapping[str, str], *, source: str) -> Schema:
    """The schema of a table with columns ``names``; ``asked`` maps N, D, … to names in the file.

    Roles that are not asked for are looked up among the aliases. Axes are the further names that
    are asked for; when none is, the well-known ones are.
    """
    for role, name in asked.items():
        if name not in names:
            raise _no_such_column(role, name, names, source)
    roles = {role: asked.get(role) or _find(role, names, asked, source) for role in ROLES}
    if not roles["loss"]:
        raise _missing("loss", names, source)
    if not (roles["N"] or roles["D"] or roles["C"]) and not set(asked) - {*ROLES, RUN}:
        raise _missing("N", names, source)
    found = {role: name for role, name in roles.items() if name}
    axes = {name: column for name, column in asked.items() if name not in (*ROLES, RUN)}
    guessed = not axes
    if guessed:
        axes = {n: n for n in names if _plain(n) in AXES and n not in found.values()}
    runs = (asked[RUN],) if RUN in asked else _run_columns(names, {*found.values(), *axes.values()})
    return Schema(found, axes, guessed, runs)


def find_run_column(names: Sequence[str]) -> str | None:
    """The column that names the runs, the best known of several; None if there is none."""
    return next(iter(_run_columns(names, set())), None)


def find_column(role: str, names: Sequence[str], source: str) -> str | None:
    """The column that plays a role of `ALIASES`, or the best known for one of `MORE_ALIASES`."""
    if role in ALIASES:
        return _find(role, names, {}, source)
    known = MORE_ALIASES[role]
    found = [name for name in names if _plain(name) in known]
    return min(found, key=lambda name: known.index(_plain(name)), default=None)


def _run_columns(names: Sequence[str], taken: set[str]) -> tuple[str, ...]:
    """Columns called as names of runs are, the best known first."""
    known = [name for name in names if name not in taken and _plain(name) in RUN_NAMES]
    return tuple(sorted(known, key=lambda name: RUN_NAMES.index(_plain(name))))


def _find(role: str, names: Sequence[str], asked: Mapping[str, str], source: str) -> str | None:
    """The one column that may play ``role``, None if there is none."""
    free = [name for name in names if name not in asked.values()]
    if role in free:
        return role
    known = ALIASES[role] if role != "loss" else ("loss", *ALIASES[role])
    found = [name for name in free if _plain(name) in known]
    if len(found) > 1:
        got = f"{len(found)} columns that may be {role} ({', '.join(found)})"
        hint = f"say which: --columns {role}={_quoted(found[0])}"
        raise LawsmithError(source, got=got, want="one", hint=hint)
    return found[0] if found else None


def _plain(name: str) -> str:
    return re.sub(r"[\s/.\-]+", "_", name.strip().lower())


def _quoted(name: str) -> str:
    return f"'{name}'" if " " in name else name


def _no_such_column(role: str, name: str, names: Sequence[str], source: str) -> LawsmithError:
    where = f"{source}: column for {role}"
    return LawsmithError(where, got=repr(name), want=_one_of(names), hint=suggest(name, names))


def _missing(role: str, names: Sequence[str], source: str) -> LawsmithError:
    want = "one for the loss" if role == "loss" else "N and D, or the compute C"
    close = _closest(role, names)
    known = f"--columns {role}={_quoted(close or 'NAME')}"
    hint = f"did you mean {known}?" if close else f"say which: {known}"
    return LawsmithError(source, got=f"columns {_listed(names)}", want=want, hint=hint)


def _closest(role: str, names: Sequence[str]) -> str | None:
    """The column whose name is nearest to an alias of ``role``."""
    for name in names:
        if get_close_matches(_plain(name), (role.lower(), *ALIASES[role]), n=1, cutoff=0.75):
            return name
    return None


def _one_of(names: Sequence[str]) -> str:
    return f"one of {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_LISTED])
    more = len(names) - _MAX_LISTED
    return f"{shown} and {more} more" if more > 0 else shown
