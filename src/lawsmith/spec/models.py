"""The tables and keys of study.toml, with their defaults; docs/study-file.md explains each."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from lawsmith.counting import Arch, count, read_arch
from lawsmith.errors import LawsmithError
from lawsmith.plausible import SCALE
from lawsmith.spec.axes import AxisValues, read_axis
from lawsmith.spec.reading import (
    Table,
    check_pattern,
    check_word,
    checking,
    inside,
    plain_name,
    seconds_of,
    within,
)

RunnerKind = Literal["local", "slurm", "ray", "replay"]
ResultKind = Literal["json", "regex", "csv"]


Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), AfterValidator(within(SCALE))]
Seconds = Annotated[float, BeforeValidator(checking(seconds_of))]


Axis = Annotated[AxisValues, BeforeValidator(checking(read_axis))]
Tokens = Annotated[AxisValues, BeforeValidator(checking(partial(read_axis, tokens=True)))]
Name = Annotated[str, AfterValidator(checking(plain_name))]
InsidePath = Annotated[str, AfterValidator(checking(inside))]


class ModelSpec(BaseModel):
    """One rung of the ladder; every further key is an argument for the trainer.

    N      counted from the architecture where it is not given: active, with embeddings
    arch   its keys are arguments for the trainer as well
    """

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    name: Name
    # Before N, so that an error in it comes before the N it leaves missing.
    arch: Annotated[Arch | None, BeforeValidator(checking(read_arch))] = None
    N: Positive

    @model_validator(mode="before")
    @classmethod
    def _count_parameters(cls, values: Any) -> Any:
        if not isinstance(values, dict) or "arch" not in values or "N" in values:
            return values
        with suppress(LawsmithError):  # the key's own check says it
            return {**values, "N": count(read_arch(values["arch"])).active}
        return values

    @model_validator(mode="after")
    @checking
    def _check_arguments(self) -> ModelSpec:
        for key, value in (self.model_extra or {}).items():
            check_word(key)
            if not isinstance(value, int | float | str):
                raise LawsmithError(key, got=f"{value!r}"[:60], want="a number or text")
            if self.arch is not None and hasattr(self.arch, key):
                raise LawsmithError(key, got="a key of arch as well", want="it once")
        return self

    @property
    def args(self) -> dict[str, Any]:
        """The arguments for the trainer."""
        shape = {} if self.arch is None else vars(self.arch)
        words = {k: str(v).lower() if isinstance(v, bool) else v for k, v in shape.items()}
        return {**words, **(self.model_extra or {})}


class CostSpec(Table):
    """Whether runs share trunks that the trainer keeps by itself."""

    trunk: bool = False
    decay: Annotated[float, Field(gt=0, lt=1)] = 0.2


class TrunksSpec(Table):
    """Whether runs are decays that branch from trunks."""

    use: bool = False
    decay: Annotated[float, Field(gt=0, lt=1)] = 0.2

    @model_validator(mode="before")
    @classmethod
    @checking
    def _stop_has_moved(cls, values: Any) -> Any:
        if isinstance(values, dict) and "stop" in values:
            want = "stop in [policy], which is for runs of every kind"
            raise LawsmithError("stop", got="a key that has moved", want=want)
        return values


class ThroughputSpec(Table):
    """Measured speed of one GPU."""

    flops_per_second: Positive


class BudgetSpec(Table):
    """What the study may spend: one of the two."""

    flops: Positive | None = None
    gpu_hours: Positive | None = None

    @model_validator(mode="after")
    @checking
    def _one_of_two(self) -> BudgetSpec:
        if (self.flops is None) == (self.gpu_hours is None):
            got = "neither" if self.flops is None else "both"
            raise LawsmithError("flops or gpu_hours", got=got, want="one of the two")
        return self


class LawSpec(Table):
    """The law, the targets of its prediction, and when the study may stop."""

    name: str = "LC"
    targets: list[Positive] = Field(default_factory=list)
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    stop_when: str | None = None


class MetricSpec(Table):
    """An accuracy that runs report beside the loss.

    chance     accuracy of guessing; estimated where it is not given
    questions  how many there are, for the noise of measuring; 0 where it is not known
    """

    name: Annotated[str, Field(min_length=1, max_length=200)]
    chance: Annotated[float, Field(ge=0, lt=1)] | None = None
    questions: Annotated[int, Field(ge=0, lt=10**12)] = 0


class PolicySpec(Table):
    """How runs are chosen."""

    name: str = "frontier"
    surrogate: Literal["surface", "gp"] = "surface"
    n_init: Annotated[int, Field(ge=0)] | None = None
    replicates: bool = False
    stop: bool = True
    acquisition: Literal["lcb", "ei", "pi"] = "lcb"
    kappa: Positive | None = None
    reach: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = None


class RunnerSpec(BaseModel):
    """Where runs happen; keys that are not here are the runner's own and checked by it."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    kind: RunnerKind = "local"
    slots: Annotated[int, Field(ge=1, le=100_000)] = 1
    poll: Seconds = 2.0

    @property
    def options(self) -> dict[str, Any]:
        """The runner's own keys."""
        return dict(self.model_extra or {})


class ResultsSpec(Table):
    """Where a run leaves its loss, and which losses count as diverged."""

    kind: ResultKind = "json"
    file: InsidePath | None = None
    pattern: str | None = None
    column: str = "loss"
    diverged_above: Positive | None = None
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.01

    @model_validator(mode="after")
    @checking
    def _pattern_where_needed(self) -> ResultsSpec:
        if (self.kind == "regex") != (self.pattern is not None):
            want = "one with kind = 'regex', none otherwise"
            raise LawsmithError("pattern", got=repr(self.pattern), want=want)
        if self.pattern is not None:
            check_pattern(self.pattern)
        return self


class FailuresSpec(Table):
    """What happens to runs that fail."""

    retries: Annotated[int, Field(ge=0, le=100)] = 2
    backoff: Seconds = 60.0
    on_timeout: Literal["fail", "retry"] = "fail"
    memory_class: list[str] = Field(default_factory=list)
    out_of_memory: str = (
        r"(?i)out of memory|OutOfMemory|MemoryError|std::bad_alloc|RESOURCE_EXHAUSTED"
    )

    @model_validator(mode="after")
    @checking
    def _pattern_is_one(self) -> FailuresSpec:
        check_pattern(self.out_of_memory, key="out_of_memory", groups=False)
        return self


class StudySpec(Table):
    """A whole study file."""

    name: Name = "study"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    learn_from: list[str] = Field(default_factory=list)
    model: Annotated[list[ModelSpec], Field(min_length=1)]
    tokens: Tokens
    axes: dict[str, Axis] = Field(default_factory=dict)
    constraints: list[str] = Field(default_factory=list)
    compute: str = "6ND"
    cost: CostSpec = CostSpec()
    trunks: TrunksSpec = TrunksSpec()
    throughput: ThroughputSpec | None = None
    budget: BudgetSpec
    law: LawSpec = LawSpec()
    metric: list[MetricSpec] = Field(default_factory=list)
    policy: PolicySpec = PolicySpec()
    runner: RunnerSpec = RunnerSpec()
    results: ResultsSpec = ResultsSpec()
    failures: FailuresSpec = FailuresSpec()

    @model_validator(mode="after")
    @checking
    def _check_together(self) -> StudySpec:
        self._check_names()
        bare = [model.name for model in self.model if model.arch is None]
        if self.compute.strip() == "counted" and bare:
            want = 'arch = { layers = …, … } for every model with compute = "counted"'
            raise LawsmithError(f"model {bare[0]}.arch", got="nothing", want=want)
        if self.budget.gpu_hours is not None and self.throughput is None:
            hint = "measure it on your machine: 6ND of a short run over its GPU-seconds"
            where, want = "throughput.flops_per_second", "a speed, to know what a GPU-hour buys"
            raise LawsmithError(where, got="nothing", want=want, hint=hint)
        self._check_trunks()
        known = ["model", "N", "D", *self.axes]
        for key in self.failures.memory_class:
            if key not in known:
                want = "one of " + ", ".join(known)
                raise LawsmithError("failures.memory_class", got=repr(key), want=want)
        return self

    def _check_trunks(self) -> None:
        if not self.trunks.use:
            return
        if self.cost.trunk:
            hint = "trunks.use prices them as well: leave [cost] out"
            raise LawsmithError("cost.trunk", got="trunks.use as well", want="one", hint=hint)
        if (self.policy.name, self.policy.surrogate) != ("frontier", "surface"):
            got = f"policy {self.policy.name} with surrogate {self.policy.surrogate}"
            raise LawsmithError("trunks.use", got=got, want="policy frontier with surface")
        if self.policy.n_init or self.policy.replicates:
            got = "n_init" if self.policy.n_init else "replicates"
            raise LawsmithError(f"policy.{got}", got="a value", want="none with trunks.use")

    def _check_names(self) -> None:
        for axis in self.axes:
            if axis in type(self).model_fields:
                hint = "top-level keys stand above the first [table] of the file"
                raise LawsmithError(f"axes.{axis}", got="a key of the study itself", hint=hint)
            try:
                check_word(axis)
            except LawsmithError as error:
                raise LawsmithError(f"axes.{error}") from None
        names = [model.name for model in self.model]
        for name in names:
            if names.count(name) > 1:
                raise LawsmithError("model.name", got=f"{name!r} twice", want="distinct names")
        for model in self.model:
            for key in model.args:
                if key in self.axes:
                    where = f"model {model.name}.{key}"
                    raise LawsmithError(
                        where, got="the name of an axis as well", want="another name"
                    )

    @property
    def budget_flops(self) -> float:
        """The budget in FLOPs."""
        if self.budget.flops is not None:
            return self.budget.flops
        assert self.budget.gpu_hours is not None
        assert self.throughput is not None
        return self.budget.gpu_hours * 3600.0 * self.throughput.flops_per_second
