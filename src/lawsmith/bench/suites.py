"""The suites by name: one for each table and figure of the paper, with the paper's own settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec

from lawsmith.bench.plan import STUDIES, Figure, Method, Options, Suite, line, source
from lawsmith.errors import unknown
from lawsmith.surrogates.tabpfn import weights_at_hand

BOTH = (("Window", "window"), ("Full", "full"))
KERNELS = {
    "Matérn-5/2": "matern",
    "linear": "linear",
    "Matérn-5/2 + linear": "matern+linear",
    "grouped": "grouped",
}
REACHES = {
    "next slice only": 1.0,
    "reach 1.25": 1.25,
    "reach 1.5": 1.5,
    "reach 2": 2.0,
    "reach 4": 4.0,
    "reach 8": 8.0,
}


def main(options: Options) -> Suite:
    return Suite(
        name="main",
        title="Main result: Window against Full on OELLM-English (figure 2 of the paper)",
        about="L(C), GP with constant mean and Matérn-5/2 kernel, LCB with κ = 2, ten initial "
        "runs; the upper half of compute held out. Lines are means, bands ±1 SD over seeds.",
        figures=(_both("main", "oellm-english", "LC", Method(acquisition="lcb"), options),),
    )


def datasets(options: Options) -> Suite:
    return Suite(
        name="datasets",
        title="L(C) on every study (figure of the appendix)",
        about="GP, Matérn-5/2, EI; Window (reach 1.5 on the OELLM studies, 2 on the others) and "
        "Full, to the end of each pool.",
        figures=tuple(
            _both(f"datasets-{study}", study, "LC", Method(acquisition="ei"), options)
            for study in STUDIES
        ),
    )


def surrogates(options: Options) -> Suite:
    names = ["none", *_extra_surrogates(), "gp"]
    titles = {"none": "random search", "xgboost": "XGBoost ensemble", "gp": "GP"}
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
                what=titles.get(name, name),
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
        figures=(_fantasized("kernels", "Kernels", lines, options),),
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
    "main": main,
    "datasets": datasets,
    "surrogates": surrogates,
    "kernels": kernels,
    "acquisitions": acquisitions,
    "lnd": lnd,
    "window": window,
}


def suites_named(name: str, options: Options) -> list[Suite]:
    """The suites of a name; 'paper' is all of them."""
    if name == "paper":
        return [make(options) for make in SUITES.values()]
    if name not in SUITES:
        raise unknown("suite", name, ["paper", *SUITES])
    return [SUITES[name](options)]


def _both(
    name: str, study: str, law: str, method: Method, options: Options, what: str = ""
) -> Figure:
    """Window and Full, each with both fits: the paper's usual panel."""
    found = source(study)
    lines = {
        label: line(found, law, replace(method, space=space), options) for label, space in BOTH
    }
    title = f"{what} on {found}" if what else found
    return Figure(name, title, found, law, lines)


def _fantasized(name: str, title: str, methods: dict[str, Method], options: Options) -> Figure:
    """Labelled methods on OELLM-English, with the law on observed and fantasized losses."""
    found = source("oellm-english")
    lines = {label: line(found, "LC", method, options) for label, method in methods.items()}
    return Figure(name, f"{title} on {found}", found, "LC", lines, fits=("fantasized",))


def _extra_surrogates() -> list[str]:
    """Those of the extras that can run here: TabPFN also needs its weights."""
    names = ["xgboost"] if find_spec("xgboost") else []
    return [*names, "tabpfn"] if find_spec("tabpfn") and weights_at_hand() else names
