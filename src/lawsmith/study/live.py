"""A live study: its file, candidates, policy and journal together, and studies it learns from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from lawsmith import __version__
from lawsmith.costs import Pricing, SeparateRuns, Trunks
from lawsmith.datasets import ENTRIES, Entry, ReadLog, Study, load
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid, IntArray
from lawsmith.journal import Event, Journal, Kind, Ledger, make
from lawsmith.journal.events import VERSION
from lawsmith.laws.catalogue import read_law
from lawsmith.laws.law import Law
from lawsmith.policies import Method, Policy, make_policy
from lawsmith.runs import State
from lawsmith.spec import Candidates, StudySpec, build_candidates, load_spec
from lawsmith.study.history import History, history_of
from lawsmith.surface import PUBLIC, Prior
from lawsmith.surrogates.base import Hinted, Hints, Surrogate


@dataclass(frozen=True)
class Layout:
    """The files of the study whose file is ``file``.

    study.toml  journal.jsonl  driver.lock
    trials/t0001/     the first trial: what its attempts share, such as a trunk's checkpoints
    trials/t0001/1/   its first attempt: config.json, log.txt, result.json, …
    """

    file: Path

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def journal(self) -> Path:
        return self.folder / "journal.jsonl"

    @property
    def lock(self) -> Path:
        return self.folder / "driver.lock"

    def trial(self, trial: str) -> Path:
        """The folder of a trial; the names of trials are checked when a journal is read."""
        return self.folder / "trials" / trial

    def attempt(self, trial: str, attempt: int) -> Path:
        """The folder of an attempt."""
        return self.trial(trial) / str(attempt)


@dataclass
class LiveStudy:
    """What a study file says, and the journal beside it."""

    layout: Layout
    spec: StudySpec
    candidates: Candidates
    law: Law
    journal: Journal
    _pools: dict[bytes, Grid] = field(default_factory=dict, repr=False)
    _history: tuple[Ledger, int, History] | None = field(default=None, repr=False)

    @property
    def grid(self) -> Grid:
        return self.candidates.grid

    @property
    def budget(self) -> float:
        """FLOPs."""
        return self.spec.budget_flops

    @property
    def launched_by(self) -> str:
        """Who starts its runs: 'run' for lawsmith, 'hand' for a person with a launcher."""
        return "run" if "runner" in self.spec.model_fields_set else "hand"

    @cached_property
    def pricing(self) -> Pricing:
        """Whether runs share trunks."""
        spec = self.spec
        if spec.trunks.use:
            return Trunks(spec.trunks.decay)
        return Trunks(spec.cost.decay) if spec.cost.trunk else SeparateRuns()

    @cached_property
    def method(self) -> Method:
        """How runs are chosen."""
        policy, targets = self.spec.policy, self.spec.law.targets
        settings = policy.model_dump(exclude={"name", "stop"})
        target = targets[0] if targets else None
        return Method(policy.name, **settings, target=target, pricing=self.pricing)

    @cached_property
    def surrogate(self) -> Surrogate | None:
        """What predicts the runs not made."""
        return replace(self.method, prior=self.prior).make_surrogate()

    @property
    def prior(self) -> Prior:
        """What is expected of it before its runs are seen: by the studies that it learns from."""
        if not self.spec.learn_from:
            return PUBLIC
        return _prior_of(self)

    def policy(
        self, pool: Grid, pricing: Pricing | None = None, hints: Hints | None = None
    ) -> Policy:
        """The policy on a pool, whose initial design is no larger than the pool."""
        options = self.method.options()
        options["n_init"] = min(options["n_init"], len(pool))
        options["pricing"] = pricing or self.pricing
        surrogate = self.surrogate
        if surrogate is not None and hints is not None:
            surrogate = Hinted(surrogate, hints)
        return make_policy(self.method.policy, surrogate, **options)

    def history(self, ledger: Ledger) -> History:
        """The ledger on the grid; the last one is kept, since much is asked of the same moment."""
        known = self._history
        if known is None or known[0] is not ledger or known[1] != ledger.n_events:
            known = ledger, ledger.n_events, history_of(ledger, self.candidates, self.spec)
            self._history = known
        return known[2]

    def pool(self, rows: IntArray) -> Grid:
        """The grid of the pool; the same object for the same rows, by which surrogates go on."""
        if len(rows) == len(self.grid):
            return self.grid
        key = rows.tobytes()
        if key not in self._pools:
            self._pools.clear()
            self._pools[key] = self.grid.subset(rows)
        return self._pools[key]

    def begin(self) -> Ledger:
        """The ledger, with a first line on record if there was none."""
        if self.read().created is None:
            self.journal.update(self._created)
        return self.read()

    def read(self) -> Ledger:
        """The ledger as it is on disk, which must be this study's; nothing is written."""
        created = self.journal.refresh().created
        if created is not None and created["study"] != self.spec.name:
            got = f"the journal of study {created['study']!r}"
            want = f"one of {self.spec.name!r}"
            hint = "every study has a folder of its own"
            raise LawsmithError(str(self.layout.journal), got=got, want=want, hint=hint)
        return self.journal.ledger

    def note_changes(self) -> None:
        """Put on record that the study file is not what it was."""
        digest = self.digest()
        self.journal.update(
            lambda ledger: [] if ledger.spec == digest else [make(Kind.CHANGED, spec=digest)]
        )

    def digest(self) -> str:
        """A short name of what the study file says."""
        return hashlib.sha256(self.spec.model_dump_json().encode()).hexdigest()[:12]

    def _created(self, ledger: Ledger) -> list[Event]:
        if ledger.created is not None:
            return []
        about = {"study": self.spec.name, "id": os.urandom(3).hex(), "seed": self.spec.seed}
        about |= {"lawsmith": __version__, "spec": self.digest(), "method": self.method.settings()}
        return [make(Kind.CREATED, version=VERSION, **about)]


def open_study(file: str | Path) -> LiveStudy:
    """The study of a file; nothing is written yet."""
    layout = Layout(Path(os.path.abspath(file)))  # absolute: runs have other working folders
    spec = load_spec(file)
    try:
        candidates = build_candidates(spec)
        law = read_law(spec.law.name, Path(file).parent)
    except LawsmithError as error:
        raise LawsmithError(f"{file}: {error}") from None
    return LiveStudy(layout, spec, candidates, law, Journal(layout.journal))


def prior_from(
    sources: Sequence[str], *, folder: Path | None = None, entries: Mapping[str, Entry] = ENTRIES
) -> Prior:
    """What the studies at ``sources`` let expect of a further one like them.

    folder    what paths are relative to
    entries   the catalogue, where names are looked up
    """
    if not sources:
        return PUBLIC
    from lawsmith.analysis import learn  # here: most studies learn from no other

    return learn([earlier(source, folder=folder, entries=entries) for source in sources])


def earlier(
    source: str, *, folder: Path | None = None, entries: Mapping[str, Entry] = ENTRIES
) -> Study:
    """The study at a path (a table, a study file or its folder), or the catalogued one."""
    if source.partition(":")[0] in entries:
        return load(source, entries=entries)
    path = Path(source) if folder is None else folder / source
    try:
        if path.is_dir() or path.suffix == ".toml":
            study = open_study(path / "study.toml" if path.is_dir() else path)
            return replace(runs_made(study, study.read()), name=source)
        return replace(load(source if folder is None else path, entries=entries), name=source)
    except LawsmithError as error:
        raise LawsmithError(f"learn from {source}: {error}") from None


def runs_made(study: LiveStudy, ledger: Ledger) -> Study:
    """The candidates and the runs that ended, as a study like any other."""
    history, name = study.history(ledger), study.spec.name
    pool, runs = study.pool(history.pool), history.pool_runs  # every run is of a row of the pool
    kept = runs.state != State.PENDING.value
    names = tuple(np.array(history.names)[kept].tolist())
    nothing, ended = np.zeros(len(pool), dtype=np.bool_), runs.take(kept)
    log, law = ReadLog(len(ended)), study.law.name
    return Study(name, name, pool, ended, log, nothing, law, run_names=names)


def _prior_of(study: LiveStudy) -> Prior:
    """What the earlier studies that a study file names let expect."""
    folder = study.layout.file.parent.resolve()
    stamps = tuple(_stamp(folder / source) for source in study.spec.learn_from)
    return _remembered(tuple(study.spec.learn_from), folder, stamps)


@lru_cache(maxsize=8)
def _remembered(sources: tuple[str, ...], folder: Path, stamps: tuple[float, ...]) -> Prior:
    """Learnt once for each state of the files."""
    del stamps
    return prior_from(sources, folder=folder)


def _stamp(path: Path) -> float:
    """When a file was last changed; that of the journal for a study file. 0 for a name."""
    record = path.parent / "journal.jsonl" if path.suffix == ".toml" else path
    return record.stat().st_mtime if record.exists() else 0.0
