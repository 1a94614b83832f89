"""The plan of 'methods': every contender on every study, ten seeds, up to a tenth of its compute.

Studies are the paper's five and tinylm with L(C) and, where the pool identifies it, L(N, D); and
families of drawn ones, each seed of which has another law, for both laws. A study without a public
table is its twin. Tables that played no part in building the policy join where they are at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lawsmith import datasets
from lawsmith_paper.jobs import Job, data_digest
from lawsmith_paper.methods.contenders import CONTENDERS, Contender
from lawsmith_paper.plan import STUDIES, Options, Suite, settings_of, source
from lawsmith_paper.replays import study_named
from lawsmith_paper.studies import entry
from lawsmith_paper.trial import ABOVE, BUDGETS, KNOW_BUDGET, study_name

LAWS = {"LC": "L(C)", "chinchilla": "L(N, D)"}
OWN = ("tinylm",)  # studies that the paper has not; its own suites stay its own
FURTHER = {
    "chinchilla": ("LC", "chinchilla"),
    "scalebench-farseer": ("LC", "chinchilla"),
    "scalebench-moe": ("LC",),
    "scalebench-data_constrained": ("LC",),
}
UNIDENTIFIED = ("porian-hp",)  # its D follows its N: no law of both can be told
NOISES = (0.5, 2.0)  # of drawn studies, as multiples of their twin's
JOINT_NOISE = 1.0  # of those with L(N, D)
BY_SEED = "drawn by seed"  # what stands for the digest of data that come from the code alone

# Rough seconds of a trial on a study of a thousand configurations, divided by its budget: of a
# search space, else by surrogate; and the power of the study's size they grow with.
_SPACE_SECONDS = {"frontier": 120.0, "vopt": 12.0}
_SECONDS = {"gp": 12.0, "none": 4.0}
_GROWTH = {"gp": 1.5}


@dataclass(frozen=True)
class Subject:
    """A study, or a family of drawn ones, with the law that is sought.

    study   of the catalogue; noise: of the studies drawn in its shape, None for itself
    """

    study: str
    law: str
    noise: float | None = None

    @property
    def label(self) -> str:
        """'steplaw, L(N, D)'; of a drawn family's laws L(C) is not said."""
        name = study_name({"study": self.study, "noise": self.noise})
        plain = self.noise is not None and self.law == "LC"
        return name if plain else f"{name}, {LAWS[self.law]}"


def subjects() -> list[Subject]:
    """Everything the contenders are tried on."""
    studies = (*STUDIES, *OWN)
    real = [Subject(source(study), "LC") for study in studies]
    both = [Subject(source(s), "chinchilla") for s in studies if s not in UNIDENTIFIED]
    drawn = [Subject(f"synthetic-{study}", "LC", noise) for study in STUDIES for noise in NOISES]
    joint = [
        Subject(f"synthetic-{study}", "chinchilla", JOINT_NOISE)
        for study in STUDIES
        if study not in UNIDENTIFIED
    ]
    return [*real, *both, *further(), *drawn, *joint]


def further() -> list[Subject]:
    """Published tables, at hand here, that the policy was not built on; they have no twins."""
    there = [name for name in FURTHER if datasets.present(entry(name))]
    return [Subject(name, law) for name in there for law in FURTHER[name]]


def methods(options: Options) -> Suite:
    """Every trial of the suite."""
    n_rivals = sum(contender.role == "rival" for contender in CONTENDERS)
    return Suite(
        name="methods",
        title="The frontier policy, its parts and its rivals",
        about=f"The frontier policy with each of its parts off and {n_rivals} other methods, under "
        "the same seeds, to a tenth of each pool's compute; every value is that of the moment. "
        "The frontier policy and V-optimality know what they may still spend, and are run anew for "
        "each budget. The answer is that of the surface of a method's runs, whoever chose them: on "
        "tables it is judged by real runs, the best of each held-out cell (N, D) on the frontier, "
        "on drawn studies by the true best loss at the target. "
        "Methods with a surrogate are judged by the law of observed and fantasized losses, the "
        "others by that of their runs. Targets are 1e25 FLOPs, for tinylm 1e16, and for drawn "
        f"studies {ABOVE:g} times the largest compute of the pool; each seed of a drawn study has "
        "its own law, optima and losses, and its truth is known. Where a table is not at hand its "
        "synthetic twin stands in, and is called so. A study counts once for each law.",
        more=tuple(_jobs(options)),
    )


def _jobs(options: Options) -> Iterator[Job]:
    for subject in subjects():
        found = study_named(subject.study)
        digest = data_digest(found) if subject.noise is None else BY_SEED
        for contender in CONTENDERS:
            if contender.trial:
                continue
            for budget in budgets_of(contender):
                weight = budget * _weight(contender, len(found.grid))
                told = trial_settings(subject, contender, options.iterations)
                for seed in range(options.seeds):
                    settings = {**told, "budget": budget, "seed": seed}
                    yield Job("trial", settings, digest, weight)


def budgets_of(contender: Contender) -> tuple[float, ...]:
    """The budgets of a contender's trials: all where it chooses by them, else the largest."""
    return BUDGETS if contender.method.policy in KNOW_BUDGET else BUDGETS[-1:]


def trial_settings(
    subject: Subject, contender: Contender, iterations: int | None = None
) -> dict[str, object]:
    """What a trial is told, but for its seed; its budget is the largest."""
    return {
        **settings_of(subject.study, subject.law, contender.method),
        "method": contender.trial_name,
        "policy_fields": dict(contender.policy),
        "surrogate_fields": dict(contender.surrogate),
        "fantasies": "alike",
        "noise": subject.noise,
        "budget": BUDGETS[-1],
        "iterations": iterations,
    }


def _weight(contender: Contender, n: int) -> float:
    space, surrogate = contender.method.policy, contender.method.surrogate
    if space in _SPACE_SECONDS:
        return _SPACE_SECONDS[space] * n / 1000.0
    return float(_SECONDS[surrogate] * (n / 1000.0) ** _GROWTH.get(surrogate, 1.0))
