"""The suites by name: one for each table and figure of the paper, with the paper's own settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec

from lawsmith.bench.methods.suite import methods
from lawsmith.bench.plan import STUDIES, Figure, Method, Options, Suite, line, source
from lawsmith.bench.replays import task_of
from lawsmith.bench.scalebench.suite import scalebench
from lawsmith.bench.speed import speed
from lawsmith.errors import unknown
from lawsmith.laws.diagnostics import collinear_design
from lawsmith.replay import Task
from lawsmith.surrogates.tabpfn import weights_at_hand

RECOVERY = "Recovery of the law"
BOTH = (("Window", "window"), ("Full", "full"))
KERNELS = {
    "Matérn-5/2": "matern",
    "linear": "linear",
    "Matérn-5/2 + linear": "matern+linear",
    "grouped": "grouped",
}
SURROGATES = {
    "none": "Random search",
    "xgboost": "XGBoost ensemble",
    "tabpfn": "TabPFN",
    "gp": "GP",
}
REACHES = {
    "next slice only": 1.0,
    "reach 1.25": 1.25,
    "reach 1.5": 1.5,
    "reach 2": 2.0,
    "reach 4": 4.0,
    "reach 8": 8.0,
}


def pitch(options: Options) -> Suite:
    return Suite(
        name="pitch",
        title="Why the choice of runs matters (figure 1 of the paper)",
        about="L(C) fitted to the whole frontier of a study's pool, and to two sets of four of its "
        "points, picked by a rule: nothing is replayed.",
    )


def main(options: Options) -> Suite:
    figure = _both("main", "oellm-english", "LC", Method(acquisition="lcb"), options)
    least = replace(
        figure, name="main-incumbent", title=f"{RECOVERY}, incumbents", value="incumbent"
    )
    return Suite(
        name="main",
        title="Main result: Window against Full on OELLM-English (figure 2 of the paper)",
        about="L(C), GP with constant mean and Matérn-5/2 kernel, LCB with κ = 2, ten initial "
        "runs; the upper half of compute held out. Lines are means, bands ±1 SD over seeds. The "
        "paper draws incumbents, the least regrets so far; here the current ones come first.",
        figures=(figure, least),
    )


def extrapolation(options: Options) -> Suite:
    return replace(
        main(options),
        name="extrapolation",
        title="Extrapolation of the recovered law (table 1 of the paper)",
        about="From the main result's replays: Window + fantasized, LCB.",
    )


def coefficients(options: Options) -> Suite:
    return replace(
        main(options),
        name="coefficients",
        title="Coefficients of the recovered law (table 5 of the paper)",
        about="From the main result's replays: Window + fantasized, LCB. C in FLOPs.",
    )


def datasets(options: Options) -> Suite:
    return Suite(
        name="datasets",
        title="The studies, and L(C) on each (tables 3 and 4 and a figure of the appendix)",
        about="The studies counted from their tables, then GP, Matérn-5/2, EI on each; Window "
        "(reach 1.5 on the OELLM studies, 2 on the others) and Full, to the end of each pool. A "
        "study without a public table is replaced by its synthetic twin.",
        figures=tuple(
            _both(f"datasets-{study}", study, "LC", Method(acquisition="ei"), options)
            for study in STUDIES
        ),
    )


def surrogates(options: Options) -> Suite:
    names = ["none", *_extra_surrogates(), "gp"]
    return Suite(
        name="surrogates",
        title="Other search methods on OELLM-English (figure of the appendix)",
        about="Random search, an ensemble of XGBoost regressors, TabPFN where its weights are at "
        "hand, and the GP; EI. Random search has no fantasies: its law is of the runs alone.",
        figures=tuple(
            _both(
                f"surrogates-{name}",
                "oellm-english",
                "LC",
                Method(surrogate=name, acquisition="ei"),
                options,
                what=SURROGATES[name],
            )
            for name in names
        ),
    )


def kernels(options: Options) -> Suite:
    lines = {label: Method(kernel=kernel, acquisition="ei") for label, kernel in KERNELS.items()}
    return Suite(
        name="kernels",
        title="Kernels of the GP on OELLM-English (figure of the appendix)",
        about="EI, Window, laws on observed and fantasized losses.",
        figures=(_fantasized("kernels", "Kernels of the GP", lines, options),),
    )


def acquisitions(options: Options) -> Suite:
    lines = {name.upper(): Method(acquisition=name) for name in ("ei", "pi", "lcb")}
    return Suite(
        name="acquisitions",
        title="Acquisition functions on OELLM-English (figure of the appendix)",
        about="GP, Matérn-5/2, Window, laws on observed and fantasized losses.",
        figures=(_fantasized("acquisitions", "Acquisition functions", lines, options),),
    )


def lnd(options: Options) -> Suite:
    return Suite(
        name="lnd",
        title="L(N, D) on every study (figures of the appendix)",
        about="Chinchilla's form on the best loss of each (N, D), the largest N held out; GP, "
        "Matérn-5/2, EI. Porian-HP's D follows N, so its parameters are not identified; it is "
        "shown because the paper shows it.",
        figures=tuple(
            _both(f"lnd-{study}", study, "chinchilla", Method(acquisition="ei"), options)
            for study in STUDIES
        ),
    )


def window(options: Options) -> Suite:
    reaches = {label: Method(reach=reach) for label, reach in REACHES.items()}
    kinds = {
        "cumulative window": Method(reach=1.5),
        "new slice alone": Method(space="slice", reach=1.5),
        "whole pool": Method(space="full"),
    }
    return Suite(
        name="window",
        title="The window's width, and what it keeps (ablations the paper announces)",
        about="GP, Matérn-5/2, LCB on OELLM-English. The reach is how far beyond the highest "
        "compute observed a run may go; the cumulative window keeps everything below it.",
        figures=(
            _fantasized("window-reach", "Reach of the window", reaches, options),
            _fantasized("window-kind", "What the window keeps", kinds, options),
        ),
    )


SUITES: dict[str, Callable[[Options], Suite]] = {
    "pitch": pitch,
    "main": main,
    "extrapolation": extrapolation,
    "coefficients": coefficients,
    "datasets": datasets,
    "surrogates": surrogates,
    "kernels": kernels,
    "acquisitions": acquisitions,
    "lnd": lnd,
    "window": window,
    "speed": speed,
    "scalebench": scalebench,
    "methods": methods,
}
# What 'paper' stands for, in the order of the paper.
PAPER = (
    *("pitch", "main", "extrapolation", "coefficients", "datasets"),
    *("surrogates", "kernels", "acquisitions", "lnd", "window"),
)


def suites_named(name: str, options: Options) -> list[Suite]:
    """The suites of a name; 'paper' is all that reproduce it."""
    if name == "paper":
        return [SUITES[part](options) for part in PAPER]
    if name not in SUITES:
        raise unknown("suite", name, ["paper", *SUITES])
    return [SUITES[name](options)]


def _both(
    name: str, study: str, law: str, method: Method, options: Options, what: str = RECOVERY
) -> Figure:
    """Window and Full, each with both fits: the paper's usual panels."""
    found = source(study)
    lines = {
        label: line(found, law, replace(method, space=space), options) for label, space in BOTH
    }
    problem = unidentified(task_of(lines[BOTH[0][0]][0].settings))
    return Figure(name, f"{what} (not identified)" if problem else what, found, law, lines)


def unidentified(task: Task) -> str | None:
    """Why the parameters of a task's law cannot be told apart; None where they can."""
    if set(task.law.inputs) != {"N", "D"}:
        return None
    rows = task.reference.envelope
    problem = collinear_design(task.pool.N[rows], task.pool.D[rows])
    return None if problem is None else problem.message


def _fantasized(name: str, title: str, methods: dict[str, Method], options: Options) -> Figure:
    """Labelled methods on OELLM-English, with the law on observed and fantasized losses."""
    found = source("oellm-english")
    lines = {label: line(found, "LC", method, options) for label, method in methods.items()}
    return Figure(name, title, found, "LC", lines, fits=("fantasized",))


def _extra_surrogates() -> list[str]:
    """Those of the extras that can run here: TabPFN also needs its weights."""
    names = ["xgboost"] if find_spec("xgboost") else []
    return [*names, "tabpfn"] if find_spec("tabpfn") and weights_at_hand() else names
