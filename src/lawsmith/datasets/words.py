"""The names that columns of runs usually have: roles, axes, names of runs, seeds, measurements.

A name is compared in its plain form: lower case, with underscores for spaces, slashes, dots, dashes
and humps, and without the prefixes under which trackers write settings and results (config.lr,
summary/val_loss, optim.lr, hparams/lr, params.lr).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

ALIASES: Mapping[str, tuple[str, ...]] = {
    "N": (
        *("params", "parameters", "n_params", "num_params", "n_parameters", "num_parameters"),
        *("param_count", "parameter_count", "model_size", "model_params", "params_no_embed"),
        *("non_embedding_params", "non_embedding_parameters", "n_non_embedding"),
        *("num_non_embedding_params", "non_embedding_param_size", "nparams", "total_params"),
        *("non_emb_params", "n_params_non_embedding", "params_non_embedding", "trainable_params"),
        *("num_trainable_params", "model_parameters", "total_parameters"),
    ),
    "D": (
        *("tokens", "n_tokens", "num_tokens", "train_tokens", "training_tokens", "total_tokens"),
        *("token_count", "tokens_seen", "data_size", "dataset_size", "seen_tokens", "ntokens"),
        *("tokens_trained", "n_train_tokens", "num_train_tokens", "num_training_tokens"),
        *("consumed_tokens", "tokens_processed", "n_training_tokens", "max_tokens"),
    ),
    "C": (
        *("flops", "flop", "compute", "n_flops", "total_flops", "train_flops", "training_flops"),
        *("training_flop", "total_compute", "train_compute", "training_compute", "num_flops"),
        *("compute_flops", "flops_total"),
    ),
    "loss": (
        *("val_loss", "valid_loss", "validation_loss", "eval_loss", "test_loss", "final_loss"),
        *("loss_val", "loss_validation", "lm_loss", "smooth_loss", "loss_eval", "loss_valid"),
        *("val_lm_loss", "validation_lm_loss", "eval_lm_loss", "final_val_loss", "dev_loss"),
        *("final_eval_loss", "heldout_loss", "held_out_loss", "val_nll", "val_cross_entropy"),
        *("val_loss_final", "loss_final"),
    ),
}
# Taken for the loss only where there is nothing better.
LESSER_LOSSES = (
    *("train_loss", "training_loss", "loss_train", "train_lm_loss", "train_loss_final"),
    *("final_train_loss", "value", "objective_to_minimize"),
)
TRAINING = ("train", "training")
# Of a table of losses along runs, and of the branches among runs.
MORE_ALIASES: Mapping[str, tuple[str, ...]] = {
    "lr": ("lr", "learning_rate"),
    "kind": ("kind", "curve_kind"),
    "parent": ("parent", "parent_run", "branched_from"),
    "branch_at": ("branch_at", "branch_tokens", "branch_d"),
}
AXES: tuple[str, ...] = (
    *("lr", "learning_rate", "peak_lr", "max_lr", "eta", "base_lr", "lr_max", "lr_peak"),
    *("max_learning_rate", "peak_learning_rate"),
    *("batch_size", "bs", "bsz", "gbsz", "gbs", "batch", "global_batch_size", "global_bs"),
    *("train_batch_size", "batch_tokens", "tokens_per_batch"),
    *("wd", "weight_decay", "beta1", "beta2", "adam_beta1", "adam_beta2", "epsilon", "momentum"),
    *("warmup", "warmup_steps", "warmup_tokens", "warmup_ratio", "dropout"),
    *("vocab", "vocab_size", "vocabulary", "vocabulary_size", "n_vocab"),
)
RUN_NAMES: tuple[str, ...] = (
    *("run", "run_name", "run_id", "runid", "experiment", "exp_name", "experiment_name"),
    *("job", "job_name", "job_id", "trial", "trial_id", "name", "id", "uuid"),
)
SEEDS = (
    *("seed", "seeds", "random_seed", "rng_seed", "data_seed", "init_seed", "rng", "replicate"),
    *("rep", "repeat", "repetition", "seed_id", "seed_idx", "number", "index", "row"),
)
# What trackers note of a run besides its settings and results; a word of the name is enough.
_NOTED = (
    *("time", "runtime", "timestamp", "date", "created", "updated", "started", "ended"),
    *("duration", "elapsed", "hours", "seconds", "minutes", "host", "hostname", "node"),
    *("nodes", "user", "username", "git", "commit", "sha", "notes", "note", "tags", "tag", "url"),
    *("path", "dir", "checkpoint", "ckpt", "gpu", "gpus", "cuda", "device", "world"),
    *("step", "epoch", "artifact", "entity", "project", "sweep", "exit", "unnamed", "comment"),
    *("description", "wandb", "mlflow", "cost"),
)
_MEASURED = (
    *("loss", "losses", "acc", "accuracy", "ppl", "perplexity", "bpb", "score", "nll"),
    *("grad_norm", "throughput", "tflops", "mfu", "hfu", "memory", "mem", "entropy", "f1"),
    *("bleu", "metric", "error", "per_sec", "stderr", "val", "eval", "valid"),
)
SETTINGS = (
    *("config", "hparams", "hparam", "params", "args", "cfg", "hp", "hyperparameters"),
    *("user_attrs", "user_attr"),
)
RESULTS = ("summary", "metrics", "metric", "report")
_GROUPS = (
    *("optim", "optimizer", "opt", "model", "trainer", "data", "dataset", "run", "experiment"),
    *("training_args", "train_args", "value", "lm", "schedule", "scheduler"),
)
_UNDERSCORED = ("params_", "user_attrs_", "config_", "hparams_", "summary_", "metrics_")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PREFIX = re.compile(r"([^./:]+)[./:]+(.*\S.*)")


def plain(name: str) -> str:
    """The name as it is compared, with its prefixes."""
    word = _HUMP.sub("_", name.strip().strip("#").strip())
    return re.sub(r"[\s/.:\-]+", "_", word.lower()).strip("_")


def stripped(name: str, prefixes: tuple[str, ...] = (*SETTINGS, *RESULTS)) -> list[str]:
    """The name, then without one prefix of trackers after the other."""
    found = [name]
    while (
        len(name) <= 500
        and (parts := _PREFIX.fullmatch(found[-1])) is not None
        and plain(parts[1]) in prefixes
    ):
        found.append(parts[2])
    return found


def forms(name: str) -> list[str]:
    """Plain forms: config.optim.lr, optim.lr, lr; also what follows params_ and the like."""
    found = [plain(one) for one in stripped(name, (*SETTINGS, *RESULTS, *_GROUPS))]
    rest = [found[0].removeprefix(u) for u in _UNDERSCORED if found[0].startswith(u)]
    return found if len(found) > 1 else [*found, *(word for word in rest if word)]


def short(name: str) -> str:
    """The name without prefixes, in its own letters; those of groups go where the rest is known."""
    known = forms(name)[-1] in AXES
    last = stripped(name, (*SETTINGS, *RESULTS, *(_GROUPS if known else ())))[-1].strip()
    return forms(name)[-1] if known and plain(last) != forms(name)[-1] else last


def is_run_name(name: str) -> bool:
    """Whether it is called as names of runs are."""
    return plain(stripped(name)[-1]) in RUN_NAMES


def is_seed(name: str) -> bool:
    """Whether it is called as seeds and numbers of repeats are."""
    return plain(stripped(name)[-1]) in SEEDS


def is_one_of(name: str, known: tuple[str, ...]) -> bool:
    """Whether the name, with or without prefixes, is a known one."""
    return any(form in known for form in forms(name))


def is_letter(name: str, letter: str) -> bool:
    """Whether the name is that letter, in its case, perhaps behind a prefix: config.N is N."""
    last = stripped(name)[-1].strip()
    return last == letter or any(last == f"{prefix}{letter}" for prefix in _UNDERSCORED)


def place(name: str) -> str:
    """'settings' or 'results' by the first prefix of trackers; '' without one."""
    parts = _PREFIX.fullmatch(name)
    if parts is None:
        return ""
    first = plain(parts[1])
    return "settings" if first in SETTINGS else "results" if first in RESULTS else ""


def is_noted(name: str) -> bool:
    """Whether it is called as what is noted of a run: times, hosts, steps."""
    return name.startswith("_") or bool(set(forms(name)[-1].split("_")) & set(_NOTED))


def is_measured(name: str) -> bool:
    """Whether it is called as measurements are."""
    last = forms(name)[-1]
    words = {*last.split("_"), last.removeprefix("train_")}
    return place(name) == "results" or bool(words & set(_MEASURED))


def quoted(name: str) -> str:
    """A name as a shell takes it for one word."""
    return f"'{name}'" if set(name) & set(" ()[]*&;'\"$") else name
