"""The suites by name: one for each table and figure of the paper, with the paper's own settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec

from lawsmith.errors import unknown
from lawsmith.laws.diagnostics import collinear_design
from lawsmith.policies import Method
from lawsmith.replay import Task
from lawsmith_paper.methods.suite import methods
from lawsmith_paper.plan import STUDIES, Figure, Options, Suite, line, setting, source
from lawsmith_paper.replays import task_of
from lawsmith_paper.rivals.tabpfn import weights_at_hand
from lawsmith_paper.scalebench.suite import scalebench
from lawsmith_paper.speed import speed

RECOVERY = "Recovery of the law"
# Of the pool's compute: where replays end but for the main result's. Beyond, all methods are about
# to have the whole pool, and a run takes the longest.
ENOUGH = 0.5
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
PRIORS = {"free": "free", "log-normal": "lognormal", "gamma": "gamma"}
FANTASIES = {"all alike (paper)": "alike", "as well as they are known": "as known"}
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
    method = setting(acquisition="lcb")
    figure = _both("main", "oellm-english", "LC", method, options, budget=None)
    least = replace(
        figure, name="main-incumbent", title="Regrets so far (incumbents)", value="incumbent"
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
        "(reach 1.5 on the OELLM studies, 2 on the others) and Full, to half of each pool's "
        "compute. A study without a public table is replaced by its synthetic twin.",
        figures=tuple(
            _both(f"datasets-{study}", study, "LC", setting(acquisition="ei"), options)
            for study in STUDIES
        ),
    )


def surrogates(options: Options) -> Suite:
    names = ["none", *_extra_surrogates(), "gp"]
    return Suite(
        name="surrogates",
        title="Other search methods on OELLM-English (figure of the appendix)",
        about="Random search, an ensemble of XGBoost regressors, TabPFN where its weights are at "
        "hand, and the GP; EI. Random search has no fantasies: its law is of the runs alone."
        + _not_run(),
        figures=tuple(
            _both(
                f"surrogates-{name}",
                "oellm-english",
                "LC",
                setting(surrogate=name, acquisition="ei"),
                options,
                what=SURROGATES[name],
            )
            for name in names
        ),
    )


def kernels(options: Options) -> Suite:
    lines = {label: setting(kernel=kernel, acquisition="ei") for label, kernel in KERNELS.items()}
    return Suite(
        name="kernels",
        title="Kernels of the GP on OELLM-English (figure of the appendix)",
        about="EI, Window, laws on observed and fantasized losses.",
        figures=(_fantasized("kernels", "Kernels of the GP", lines, options),),
    )


def acquisitions(options: Options) -> Suite:
    lines = {name.upper(): setting(acquisition=name) for name in ("ei", "pi", "lcb")}
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
            _both(f"lnd-{study}", study, "chinchilla", setting(acquisition="ei"), options)
            for study in STUDIES
        ),
    )


def window(options: Options) -> Suite:
    reaches = {label: setting(reach=reach) for label, reach in REACHES.items()}
    kinds = {
        "cumulative window": setting(reach=1.5),
        "new slice alone": setting(policy="slice", reach=1.5),
        "whole pool": setting(policy="full"),
    }
    slices = {
        "slices of compute": setting(reach=1.5),
        "slices of N": setting(reach=1.5, slice_by="N"),
        "slices of D": setting(reach=1.5, slice_by="D"),
    }
    return Suite(
        name="window",
        title="The window's width, what it keeps and what it climbs by (the paper's ablations)",
        about="GP, Matérn-5/2, LCB on OELLM-English. The reach is how far beyond the highest "
        "compute observed a run may go; the cumulative window keeps everything below it. Slices "
        "may also be of constant N or D, as the paper says.",
        figures=(
            _fantasized("window-reach", "Reach of the window", reaches, options),
            _fantasized("window-kind", "What the window keeps", kinds, options),
            _fantasized("window-slices", "What the window climbs by", slices, options),
        ),
    )


def hyperpriors(options: Options) -> Suite:
    lines = {label: setting(priors=priors) for label, priors in PRIORS.items()}
    return Suite(
        name="hyperpriors",
        title="Priors of the GP's hyperparameters on OELLM-English",
        about="GP, Matérn-5/2, Window, LCB. The paper says 'BoTorch, Matérn-5/2' and no more. "
        "Free: what users write, ScaleKernel(MaternKernel), with output scale and lengthscales "
        "without priors. Log-normal: BoTorch's defaults since 0.12, with no output scale. Gamma: "
        "BoTorch's defaults before that, with an output scale.",
        figures=(_fantasized("hyperpriors", "Priors of the GP", lines, options),),
    )


def botorch(options: Options) -> Suite:
    """BoTorch itself, as far as it is affordable."""
    methods = {"BoTorch": setting(surrogate="botorch"), "lawsmith's GP": setting()}
    return Suite(
        name="botorch",
        title="BoTorch itself beside lawsmith's GP on OELLM-English",
        about="SingleTaskGP with ScaleKernel(MaternKernel(nu=2.5)), refitted from scratch at every "
        "step, and lawsmith's GP with the same model: Window, LCB, to 10 % of the pool's compute.",
        figures=(
            _fantasized("botorch", "BoTorch and lawsmith's GP", methods, options, budget=0.1),
        ),
    )


def weights(options: Options) -> Suite:
    found = source("oellm-english")
    lines = {
        label: line(found, "LC", setting(), options, budget=ENOUGH, fantasies=weight)
        for label, weight in FANTASIES.items()
    }
    title = "Weights of fantasized points"
    return Suite(
        name="weights",
        title="Fantasized points weighted by how well they are known (the paper's future work)",
        about="GP, Matérn-5/2, Window, LCB on OELLM-English. In the fit of the law a run counts 1 "
        "and a fantasized point either 1, as in the paper, or σ²/(σ² + s²), its posterior variance "
        "s² beside a run's noise σ². Both choose the same runs.",
        figures=(Figure("weights", title, found, "LC", lines, fits=("fantasized",)),),
    )


def claims(options: Options) -> Suite:
    parts = (main, datasets, surrogates, kernels, acquisitions, lnd)
    return Suite(
        name="claims",
        title="Which of the paper's claims hold",
        about="Each claim tested on the replays of the sections below, at 1, 5 and 10 % of the "
        "pool's compute." + _not_run(),
        figures=tuple(figure for part in parts for figure in part(options).figures),
    )


def _not_run() -> str:
    """What the paper has and these replays do not."""
    missing = [n for n in ("xgboost", "tabpfn") if n not in _extra_surrogates()]
    names = " and ".join(SURROGATES[name] for name in missing)
    return f" Not run here, so not judged: {names}." if missing else ""


SUITES: dict[str, Callable[[Options], Suite]] = {
    "claims": claims,
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
    "hyperpriors": hyperpriors,
    "botorch": botorch,
    "weights": weights,
    "speed": speed,
    "scalebench": scalebench,
    "methods": methods,
}
# What 'paper' stands for, in the order of the paper.
PAPER = (
    *("claims", "pitch", "main", "extrapolation", "coefficients", "datasets"),
    *("surrogates", "kernels", "acquisitions", "lnd", "window"),
    *("hyperpriors", "botorch", "weights"),
)


def suites_named(name: str, options: Options) -> list[Suite]:
    """The suites of a name; 'paper' is all that reproduce it."""
    if name == "paper":
        return [SUITES[part](options) for part in PAPER]
    if name not in SUITES:
        raise unknown("suite", name, ["paper", *SUITES])
    return [SUITES[name](options)]


def _both(
    name: str,
    study: str,
    law: str,
    method: Method,
    options: Options,
    *,
    what: str = RECOVERY,
    budget: float | None = ENOUGH,
) -> Figure:
    """Window and Full, each with both fits: the paper's usual panels."""
    found = source(study)
    lines = {
        label: line(found, law, replace(method, policy=space), options, budget=budget)
        for label, space in BOTH
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


def _fantasized(
    name: str,
    title: str,
    methods: dict[str, Method],
    options: Options,
    *,
    budget: float | None = ENOUGH,
) -> Figure:
    """Labelled methods on OELLM-English, with the law on observed and fantasized losses."""
    found = source("oellm-english")
    lines = {
        label: line(found, "LC", method, options, budget=budget)
        for label, method in methods.items()
    }
    return Figure(name, title, found, "LC", lines, fits=("fantasized",))


def _extra_surrogates() -> list[str]:
    """Those of the extras that can run here: TabPFN also needs its weights."""
    names = ["xgboost"] if find_spec("xgboost") else []
    return [*names, "tabpfn"] if find_spec("tabpfn") and weights_at_hand() else names
