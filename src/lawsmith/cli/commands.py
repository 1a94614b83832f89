"""Every command with its options and their help; ``runs`` names the function that does it."""

# ruff: noqa: RUF009  (these calls make fields of dataclasses, as dataclasses.field does)

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawsmith.cli.params import (
    SHOW,
    TASK,
    Request,
    Texts,
    argument,
    at_least_one,
    flag,
    option,
    reader,
)

if TYPE_CHECKING:
    from lawsmith.costs import Pricing
    from lawsmith.grid import HeldOut
    from lawsmith.laws.law import Law
    from lawsmith.stopping import StopRule
else:
    HeldOut = Law = Pricing = StopRule = Any  # Typer looks at the types when --help is asked for

RUNS, LAW = "Which runs", "Which law, and how it is fitted"
CHOICE, END = "How runs are chosen", "When it ends"
FORMS = (
    "a CSV, Excel, Parquet or JSON file; W&B runs (a folder of offline runs, or "
    "wandb:ENTITY/PROJECT); an MLflow store or server (mlruns/, mlflow.db, http://…); a folder of "
    "TensorBoard event files; an Optuna or NePS study"
)
STUDY_FILE = Path("study.toml")
_runs = partial(option, RUNS)
_law = partial(option, LAW)
_choice = partial(option, CHOICE)
_end = partial(option, END)
_show = partial(option, SHOW)
_task = partial(option, TASK)
_option = partial(option, None)
_json = partial(flag, None, "Print JSON instead of text.", "--json")


@dataclass(frozen=True, kw_only=True)
class TableRequest(Request):
    """How a table of runs is read."""

    columns: Texts = _runs(
        "N=…,D=…,loss=…",
        "Which column is what; common names are recognized without it. N=params_m:M says that "
        "the column counts millions.",
    )
    ignore: Texts = _runs(
        "COLUMN,…",
        "Columns to ignore: runs that differ only in these are averaged. '*': all columns that "
        "are neither named nor recognized.",
    )
    where: str | None = _runs(
        "EXPR", "Keep only the rows for which this is true: \"opt == 'adamw'\"."
    )
    skip_bad_rows: bool = flag(RUNS, "Skip rows with a bad cell instead of stopping.")


@dataclass(frozen=True, kw_only=True)
class StudyRequest(TableRequest):
    """Which runs of a table count, how compute is counted, and which losses to predict."""

    drop_largest_loss: int = _runs("K", "Drop the K runs with the largest loss.", default=0)
    diverged_above: float | None = _runs(
        "LOSS", "Treat runs above this loss as diverged, like NaN."
    )
    compute: str = _runs(
        "6ND|COLUMN",
        "How compute is counted; auto: the table's own column, else 6ND.",
        default="auto",
    )
    target: Texts = _show(
        "1e25",
        "Predict the best loss at a compute in FLOPs; may be repeated. By default half a "
        "decade or more above the largest run.",
    )
    at: Texts = _show(
        "N=7B,D=140B",
        "Predict the loss at an N and a D, best over hyperparameters, or at those given too "
        "(N=7B,D=140B,lr=3e-4); may be repeated.",
    )


@dataclass(frozen=True, kw_only=True)
class AnswerRequest(StudyRequest):
    """The options that `fit` and `report` share."""

    hold_out: HeldOut | None = _runs(
        "50%|largest-N",
        "Runs to hold out and predict instead, as a check; 50%: the upper half of compute.",
        parser=reader("lawsmith.grid:HeldOut.parse"),
    )
    curves: str | None = _runs(
        "SOURCE",
        "Losses along runs: a table with run, D and loss (and lr, kind, N), or the histories "
        "of a tracker's runs. Trunks and unfinished runs are used too.",
    )
    curve_kind: str | None = _runs(
        "trunk|scheduled",
        "Kind of all curves if their table has no column kind: trunk (no decay yet) or "
        "scheduled (towards a horizon).",
    )
    curve_columns: Texts = _runs("run=…,D=…,loss=…", "Which column of the curves is what.")
    law: Law | None = _law(
        "NAME",
        "LC, LN, LD, chinchilla, kaplan, skaling or gadre, or one of your own, FILE.py:NAME; "
        "the study's own by default.",
        parser=reader("lawsmith.laws.catalogue:read_law"),
    )
    force: bool = flag(LAW, "Fit the law even if these runs cannot identify it.")
    seed: int = _law("SEED", "Random seed.", default=0)
    metric: Texts = _task(
        "COLUMN",
        "Predict the accuracy of a task, a fraction from 0 to 1; may be repeated, and then "
        "their average is predicted too.",
    )
    via: str | None = _task(
        "COLUMN", "Loss column to predict accuracy from; without it, from scale alone."
    )
    chance: Texts = _task(
        "0.25", "Accuracy of guessing, once or for each --metric; estimated by default."
    )
    questions: Texts = _task("INT", "Number of questions of the task, once or for each --metric.")
    level: float = _show(
        "0.95",
        "Confidence level of intervals.",
        default=0.95,
        parser=reader("lawsmith.cli.options:level"),
    )


@dataclass(frozen=True, kw_only=True)
class ShownRequest(Request):
    """The options that `fit` and `replay` share: what to learn from, and where results go."""

    learn_from: Texts = _runs(
        "FILE|NAME",
        "A similar earlier study: a table, a study.toml or a published study; may be repeated. "
        "Its exponents, optima and noise narrow the answer.",
    )
    as_json: bool = flag(SHOW, "Print one JSON object instead of tables.", "--json")
    charts: Path | None = _show("DIR", "Folder for charts, as HTML and PNG.")


@dataclass(frozen=True, kw_only=True)
class FitRequest(ShownRequest, AnswerRequest):
    """Predict the best loss at a compute nobody has explored, from a table of training runs.

    For example: lawsmith fit runs.csv --target 1e25 --law chinchilla
    """

    runs = "lawsmith.cli.fit_view:run_fit"
    table: str = argument(
        "TABLE", f"One row per run: {FORMS}. Or a published study by name (see lawsmith datasets)."
    )
    loss: str | None = _runs("COLUMN", "Loss column; the same as --columns loss=COLUMN.")
    metrics: Texts = _runs("COLUMN,…", "Several loss columns: an answer for each, side by side.")
    fix: Texts = _law("E=1.69", "Fix a parameter at a value; may be repeated.")
    objective: str | None = _law(
        "NAME",
        "huber, least-squares, least-squares-log, mae, or one-sided (runs above the law count "
        "a tenth: for sizes tuned less); by default what the law's authors use.",
    )
    delta: float | None = _law("δ", "Huber's δ, by default 1e-3.")
    inference_tokens: float | None = _show(
        "1T",
        "Tokens to be served: shows, at each --target, the N and D that reach the same loss with "
        "the least compute for training and serving together.",
        parser=reader("lawsmith.cli.options:tokens"),
    )
    n_next: int = _show(
        "K",
        "The K runs that narrow the interval at each target most per FLOP.",
        "--next",
        default=0,
    )
    critical_batch: bool = flag(
        SHOW,
        "The largest batch that needs at most 20% more tokens for the same loss, at each target.",
    )
    other_n: str | None = _show(
        "EXPR", "How far the answer moves if N is counted as 'N + vocab * width'."
    )
    compare: bool = flag(SHOW, "Compare every law with the answer, on held-out compute.")


@dataclass(frozen=True, kw_only=True)
class ReportRequest(AnswerRequest):
    """Make a report: one self-contained page with the answer, the figures and every run.

    For example: lawsmith report oellm-english --target 1e25 -o report.html
    """

    runs = "lawsmith.cli.report:run_report"
    table: str = argument(
        "SOURCE",
        "A table of runs, the name of a published study, the folder of a replay "
        "(lawsmith replay --out), or a live study (its file or its folder).",
    )
    out: Path = _option(
        "FILE", "The page to write.", *("--out", "-o"), default=Path("report.html"), dir_okay=False
    )


@dataclass(frozen=True, kw_only=True)
class ReplayRequest(ShownRequest, StudyRequest):
    """Replay a finished study as if its runs were still to be chosen.

    For example: lawsmith replay oellm-english --budget 5% --seed 0
    """

    runs = "lawsmith.cli.replay:run"
    study: str = argument(
        "STUDY",
        "The name of a published or synthetic study (lawsmith datasets lists them), or a "
        "table with one row per run, in any form that lawsmith fit reads.",
    )
    hold_out: HeldOut | None = _runs(
        "50%|largest-N|0",
        "Runs to hold out and judge by, never chosen; 0 holds out none. By default as the study's "
        "paper splits it, else the upper half of compute, for laws of N the largest N.",
        parser=reader("lawsmith.grid:HeldOut.parse"),
    )
    law: Law = option(
        "Which law",
        "NAME",
        "LC, LN, LD, chinchilla, kaplan, skaling or gadre.",
        default="LC",
        parser=reader("lawsmith.laws.catalogue:get_law"),
    )
    force: bool = flag("Which law", "Use the law even if this study cannot identify it.")
    policy: str = _choice(
        "frontier|window|full",
        "frontier: takes turns between the run that lowers the envelope most per FLOP and the run "
        "that narrows the answer most per FLOP. window, full: the paper's search of a growing "
        "window, or of the whole pool.",
        default="frontier",
    )
    surrogate: str | None = _choice(
        "NAME", "surface (default for frontier) or gp (default for window and full)."
    )
    kernel: str | None = _choice(
        "NAME", "Kernel of gp: matern (default), linear, matern+linear or grouped."
    )
    priors: str | None = _choice("NAME", "Priors of gp: free (default), lognormal or gamma.")
    scale: str | None = _choice(
        "loss|log", "What is modelled: the loss (default) or its logarithm."
    )
    acquisition: str | None = _choice("lcb|ei|pi", "Acquisition function; default lcb.")
    kappa: float | None = _choice("κ", "Standard deviations below the mean in lcb; default 2.")
    reach: float | None = _choice(
        "FACTOR",
        "Reach of the window beyond the compute run so far; 1 is the next level only. By default "
        "as the study's paper sets it, else 1.5.",
    )
    slice_by: str | None = _choice("C|N|D", "What the window grows by: compute (default), N or D.")
    n_init: int | None = _choice("N", "Cheap random runs to start from: 10, or 0 for surface.")
    seed: int = _choice("SEED", "Random seed.", default=0)
    iterations: int | None = _end("N", "Stop after this many runs, initial ones included.")
    budget: float | None = _end(
        "0.05|5%|1e21",
        "Stop before spending more than this share of the pool's compute, or these FLOPs.",
        parser=reader("lawsmith.cli.replay_options:budget"),
    )
    rule: StopRule | None = _end(
        "RULE",
        "Stop when the best loss is known this well: 'loss@1e25 within 1%'.",
        "--stop-when",
        parser=reader("lawsmith.stopping:parse_rule"),
    )
    pricing: Pricing | None = _choice(
        "SHARE",
        "Price runs that differ in D alone as branches of one trunk, each with a decay of "
        "this share of its tokens, such as 0.2.",
        "--trunk-decay",
        parser=reader("lawsmith.cli.replay_options:pricing"),
    )
    out: Path | None = _show("DIR", "Folder for trace.json, steps.csv and charts.")


_shape = partial(option, "Shape", "INT")
_experts = partial(option, "Experts", "INT")
_detail = partial(option, "Details")


@dataclass(frozen=True, kw_only=True)
class CountRequest(Request):
    """Count the parameters of a model, with and without embeddings, and its FLOPs per token.

    For example: lawsmith count --layers 12 --width 768 --heads 12 --vocab 50257 --tied
    """

    runs = "lawsmith.cli.count:count"
    config: Path | None = argument(
        "[CONFIG.JSON]", "A model's public config.json; options below override what it says.", None
    )
    layers: int | None = _shape("Layers.")
    width: int | None = _shape("Width of the residual stream.")
    heads: int | None = _shape("Attention heads.")
    kv_heads: int | None = _shape("Heads of keys and values; by default as many as heads.")
    head_dim: int | None = _shape("Width of a head; by default width / heads.")
    ffn: int | None = _shape("Inner width of the feed-forward block; by default 4 × width.")
    vocab: int | None = _shape("Size of the vocabulary.")
    context: int | None = _shape("Tokens of a training sequence; by default 2048.")
    experts: int | None = _experts("Feed-forward experts of a layer.")
    active: int | None = _experts("Experts that each token is routed to.")
    shared: int | None = _experts("Further experts, which every token uses.")
    gated: bool | None = _detail(None, "The feed-forward block has a gate.")
    tied: bool | None = _detail(None, "Input and output share one embedding.")
    biases: str | None = _detail("none|qkv|all", "Which linear maps have biases.")
    norm: str | None = _detail("rms|layer|none", "Parameters of a norm.")
    positions: int | None = _detail("INT", "Learned positions.")
    attention: str | None = _detail(
        "causal|full", "Count the keys a token may see, or all of them."
    )
    tokens: float | None = _option(
        "D",
        "Also count the FLOPs of training on this many tokens.",
        parser=reader("lawsmith.cli.options:tokens"),
    )
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class DemoRequest(Request):
    """See what lawsmith does, on real training runs that come with it.

    Chooses runs worth 2 % of the compute, and compares their answer with that of all runs.
    """

    runs = "lawsmith.cli.demo:demo"
    out: Path = _option(
        "DIR", "Folder for the table and the charts.", default=Path("lawsmith-demo")
    )
    seed: int = _option("SEED", "Random seed.", default=0)


@dataclass(frozen=True, kw_only=True)
class DocsRequest(Request):
    """Show a page of the documentation, or list the pages.

    For example: lawsmith docs study-file
    """

    runs = "lawsmith.cli.start:docs"
    page: str | None = argument("[PAGE]", "A page's name, such as answer.", None)


@dataclass(frozen=True, kw_only=True)
class InitRequest(Request):
    """Write a commented study file; edit it, then `lawsmith check` it.

    For example: lawsmith init my-study/study.toml
    """

    runs = "lawsmith.cli.start:init"
    file: Path = argument("FILE", "Where to write it.", STUDY_FILE, show_default=True)
    wsd: bool = flag(
        None,
        "A study of trunks with decays that branch from them, and a trainer for it, train.py. "
        "Both work as they stand.",
    )


@dataclass(frozen=True, kw_only=True)
class LiveRequest(Request):
    """The argument that all commands of a live study share."""

    study: Path = argument("STUDY", "Study file. Default: study.toml.", STUDY_FILE)


@dataclass(frozen=True, kw_only=True)
class CheckRequest(LiveRequest):
    """Check a study file: its candidates, what the budget buys, and what looks wrong."""

    runs = "lawsmith.cli.check:check_study"
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class PlanRequest(LiveRequest):
    """Simulate a study before paying for it: the interval to expect at each spend."""

    runs = "lawsmith.cli.check:plan_study"
    draws: int = _option("N", "Simulated studies.", default=3, parser=at_least_one)
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class RunRequest(LiveRequest):
    """Run a study until its budget is spent or its answer known; after Ctrl-C, run it again.

    For example: lawsmith run study.toml
    """

    runs = "lawsmith.cli.run:run_study"
    quiet: bool = flag(None, "Print only the result, not a line per run.")
    retry_failed: bool = flag(None, "Run failed trials again.")
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class StatusRequest(LiveRequest):
    """Show where a study stands: spend, runs, the answer with its interval, what comes next."""

    runs = "lawsmith.cli.run:status"
    watch: bool = flag(None, "Print again whenever something changes, until Ctrl-C.")
    n_next: int | None = _option(
        "N",
        "How many proposals to show. Default: 3, or none in a large study (slow).",
        "--next",
        parser=at_least_one,
    )
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class ServeRequest(LiveRequest):
    """Show a live study in the browser, updated while it runs. Nothing in the study changes."""

    runs = "lawsmith.cli.serve:serve_study"
    host: str = _option("ADDRESS", "Address to listen on.", default="127.0.0.1")
    port: int = _option("PORT", "Port; 0 picks a free one.", default=0)


@dataclass(frozen=True, kw_only=True)
class AskRequest(LiveRequest):
    """Ask for runs to do by hand; they stay pending until `lawsmith tell`.

    For example: lawsmith ask study.toml -n 4 --json > round1.json
    """

    runs = "lawsmith.cli.hand:ask"
    n: int = _option("N", "Number of runs.", "-n", default=1, parser=at_least_one)
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class TellRequest(LiveRequest):
    """Report results of runs that were asked for; a file is recorded as a whole or not at all.

    For example: lawsmith tell study.toml --trial t0004 --loss 2.31
    """

    runs = "lawsmith.cli.hand:tell"
    results: Path | None = argument(
        "[RESULTS]", "A JSON, JSON-lines or CSV file with trial and loss of each run.", None
    )
    trial: str | None = _option("t0004", "Trial to report on, without a file.")
    loss: str | None = _option("2.31", "Its loss; nan where it diverged.")
    tokens: str | None = _option("1e9", "Tokens trained so far: the loss is not final.")
    metric: Texts = _option(
        "NAME=0.61", "A further number of the run, such as an accuracy; may be repeated."
    )
    force: bool = flag(None, "Accept a loss that is far from all others.")
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class ExcludeRequest(LiveRequest):
    """Drop candidates in the middle of a study, or results that turned out wrong.

    For example: lawsmith exclude study.toml --where "batch == 512" --because "out of memory"
    """

    runs = "lawsmith.cli.hand:exclude"
    where: str | None = _option(
        "EXPR", "Exclude candidates for which this is true: batch == 512 and N > 1e9"
    )
    trial: Texts = _option("t0004", "Trials whose results to ignore.")
    because: str = _option("TEXT", "Reason, kept in the record.", default="", show_default=False)


@dataclass(frozen=True, kw_only=True)
class CancelRequest(LiveRequest):
    """Stop runs; one that ends before it can be stopped keeps its result.

    For example: lawsmith cancel study.toml t0004 t0007
    """

    runs = "lawsmith.cli.hand:cancel"
    study: Path = argument("STUDY", "Study file.")
    trials: Texts = argument("[TRIAL]…", "Names of the trials.", None)
    everything: bool = flag(None, "All runs under way, also those asked for by hand.", "--all")


@dataclass(frozen=True, kw_only=True)
class ExportRequest(LiveRequest):
    """Write the runs as a table that `lawsmith fit` reads.

    For example: lawsmith export study.toml --out runs.csv; lawsmith fit runs.csv
    """

    runs = "lawsmith.cli.hand:export"
    out: Path | None = _option("FILE", "runs.csv or runs.jsonl; CSV on stdout by default.")
    everything: bool = flag(None, "Include trials without a result.", "--all")
    curves: bool = flag(None, "The losses along trunks instead, for lawsmith fit --curves.")


@dataclass(frozen=True, kw_only=True)
class ImportRequest(TableRequest):
    """Show how lawsmith reads a source of runs, before anything is fitted; or import the runs.

    For example: lawsmith import wandb/ -o runs.csv, or lawsmith import study.toml old-runs.csv
    """

    runs = "lawsmith.cli.import_runs:import_source"
    sources: list[str] = argument(
        "[STUDY] SOURCE",
        f"Runs: {FORMS}. With the file of a live study before it, those runs that are its "
        "candidates are put on record.",
    )
    out: Path | None = _option("FILE.csv", "Write the runs as a plain table.", "--out", "-o")
    curves_out: Path | None = _option("FILE.csv", "Write the losses along the runs, for --curves.")
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class ListRequest(Request):
    """List the studies that lawsmith knows by name."""

    runs = "lawsmith.cli.datasets:list_studies"


@dataclass(frozen=True, kw_only=True)
class DatasetRequest(Request):
    """Show where a study is from, what it holds, and how that differs from its paper."""

    runs = "lawsmith.cli.datasets:show_study"
    name: str = argument("NAME", "A study, or study:variant.")


@dataclass(frozen=True, kw_only=True)
class FetchRequest(Request):
    """Download studies into the cache and verify them; those already there are kept."""

    runs = "lawsmith.cli.datasets:fetch"
    names: Texts = argument("NAME…", "Studies to download.", None)
    everything: bool = flag(None, "Every study with a public address.", "--all")


COMMANDS: dict[str, type[Request]] = {
    "fit": FitRequest,
    "replay": ReplayRequest,
    "report": ReportRequest,
    "count": CountRequest,
    "demo": DemoRequest,
    "docs": DocsRequest,
}
LIVE: dict[str, type[Request]] = {
    "init": InitRequest,
    "check": CheckRequest,
    "plan": PlanRequest,
    "run": RunRequest,
    "status": StatusRequest,
    "serve": ServeRequest,
    "ask": AskRequest,
    "tell": TellRequest,
    "exclude": ExcludeRequest,
    "cancel": CancelRequest,
    "export": ExportRequest,
    "import": ImportRequest,
}
DATASETS: dict[str, type[Request]] = {
    "list": ListRequest,
    "show": DatasetRequest,
    "fetch": FetchRequest,
}
