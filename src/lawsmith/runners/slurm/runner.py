"""The Slurm runner: submits a study's runs with the user's template and follows them.

It may die anywhere and be started again: before sbatch is called, the name of the job is written to
the run's folder, and before a run is submitted, that name is looked up. The state of a job comes
from the controller (squeue), because accounting lags behind it and shows a requeued job as ended.
For jobs that the controller has forgotten it comes from accounting (sacct), else from the run's
folder.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lawsmith.errors import LawsmithError
from lawsmith.files import write_file
from lawsmith.runners.base import Job, Phase, Status
from lawsmith.runners.folder import leave_mark, runner_folder
from lawsmith.runners.slurm.client import SlurmClient, SlurmUnavailable
from lawsmith.runners.slurm.script import Rendered, Template, batch_script
from lawsmith.runners.slurm.status import (
    Entries,
    Intent,
    ended_badly,
    entries_by_name,
    entries_of,
    entry_of,
    parse_state,
    read_exit,
    read_intent,
    read_owner,
    status_from_folder,
    status_of,
    status_unknown,
    write_intent,
)
from lawsmith.runners.template import Value, with_common_values
from lawsmith.spec.models import Seconds
from lawsmith.spec.reading import Table


class SlurmOptions(Table):
    """The keys of ``[runner]`` with ``kind = "slurm"``.

    template   the sbatch script, relative to the study's folder; {{name}} stands for a run's value
    array      most jobs of one array; 1: each run is a job of its own
    patience   seconds that a call of a Slurm command may take
    """

    template: str
    array: Annotated[int, Field(ge=1, le=100_000)] = 100
    patience: Seconds = 60.0


_log = logging.getLogger(__name__)


class SlurmRunner:
    """Runs jobs on the cluster of this machine's Slurm commands.

    folder   the study's: the template's path is relative to it, and {{study}} stands for it. It and
             the runs' folders are on a disk that all nodes share.
    """

    def __init__(self, options: SlurmOptions, folder: Path) -> None:
        self.options, self.folder = options, folder.resolve()
        self.template = Template.read(self.folder / options.template)
        self.client = SlurmClient(options.patience)

    def submit(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Submit the jobs that Slurm does not have; handles are '12' or, in an array, '12_3'."""
        # All before the first is submitted: with a bad template, none is.
        scripts = {job.name: self._render(job.values, job.env) for job in jobs}
        handles: dict[str, str] = {}
        try:
            handles |= self._submitted(jobs)
            new = [job for job in jobs if job.name not in handles]
            for batch in self._batches(new, scripts):
                handles |= self._submit_batch(batch, scripts)
        except SlurmUnavailable as error:
            # It may have accepted a job all the same: the next call looks it up by its name.
            _log.warning("Slurm accepts no jobs now: %s", error)
        return handles

    def poll(self, jobs: Sequence[Job]) -> dict[str, Status]:
        """One call of squeue for all jobs, and one of sacct for those that it does not show.

        For a job that ended badly, one more call tells how often Slurm restarted it.
        """
        statuses: dict[str, Status] = {}
        try:
            queue = entries_by_name(self.client.queue() if jobs else [])
            for job in jobs:
                if (entry := entry_of(queue, job)) is not None:
                    restarts = self.client.restarts(entry.id) if ended_badly(job, entry) else 0
                    statuses[job.name] = status_of(job, entry, restarts=restarts)
        except SlurmUnavailable as error:
            return {job.name: status_unknown(job, str(error)) for job in jobs}
        return statuses | self._poll_accounting([job for job in jobs if job.name not in statuses])

    def cancel(self, jobs: Sequence[Job]) -> None:
        """Cancel the jobs that wait or run; if Slurm does not answer, nothing happens."""
        try:
            queue = entries_by_name(self.client.queue())
            entries = [entry for job in jobs for entry in entries_of(queue, job)]
            ids = [entry.id for entry in entries if parse_state(entry.state)[0] is not Phase.ENDED]
            for job in jobs:  # Slurm keeps no record of a task that never began
                if runner_folder(job, "slurm").is_dir():
                    leave_mark(job, "slurm", "cancel")
            if ids:
                self.client.cancel(ids)
        except SlurmUnavailable as error:
            _log.warning("Slurm cannot cancel jobs now: %s", error)

    def preview(self, values: Mapping[str, Value]) -> list[str]:
        """The command that submits a run with these values, once its script could be rendered."""
        self._render(values, {})
        return ["sbatch", str(self.template.name)]

    def _render(self, values: Mapping[str, Value], env: Mapping[str, str]) -> Rendered:
        return self.template.render(with_common_values(values, self.folder), env)

    def _submitted(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Handles of jobs submitted by a driver that died before it put them on record."""
        queue = entries_by_name(self.client.queue())
        handles = {job.name: id_ for job in jobs if (id_ := _handle(job, queue))}
        rest = [job for job in jobs if job.name not in handles]
        # A job without an intent in its folder was never submitted.
        names = {intent.name for job in rest if (intent := read_intent(job))}
        known = entries_by_name(self.client.accounting(names=names) or [])
        return handles | {job.name: id_ for job in rest if (id_ := _handle(job, known))}

    def _poll_accounting(self, jobs: Sequence[Job]) -> dict[str, Status]:
        """The status of jobs that the controller does not know."""
        ids = {id_.partition("_")[0] for job in jobs if (id_ := read_owner(job) or job.handle)}
        try:
            known = entries_by_name(self.client.accounting(ids=ids) or [])
        except SlurmUnavailable as error:
            ended = {job.name: status_from_folder(job) for job in jobs if read_exit(job)}
            return {job.name: status_unknown(job, str(error)) for job in jobs} | ended
        statuses: dict[str, Status] = {}
        for job in jobs:
            entry = entry_of(known, job)
            status = None if entry is None else status_of(job, entry)
            if status is None or (not status.over and read_exit(job)):  # accounting missed its end
                status = status_from_folder(job)
            statuses[job.name] = status
        return statuses

    def _batches(
        self, jobs: Sequence[Job], scripts: Mapping[str, Rendered]
    ) -> Iterator[Sequence[Job]]:
        """Jobs that can share an array: their scripts have the same #SBATCH lines."""

        def key(job: Job) -> tuple[tuple[str, ...], tuple[str, ...]]:
            return scripts[job.name].directives, scripts[job.name].interpreter

        for _, group in groupby(sorted(jobs, key=key), key=key):
            same = list(group)
            for start in range(0, len(same), self.options.array):
                yield same[start : start + self.options.array]

    def _submit_batch(
        self, batch: Sequence[Job], scripts: Mapping[str, Rendered]
    ) -> dict[str, str]:
        """Submit one job or one array, after its name is on disk."""
        name = batch_name(batch)
        first = runner_folder(batch[0], "slurm")
        for k, job in enumerate(batch):
            task, suffix = (None, "") if len(batch) == 1 else (k, f"-{k}")
            write_intent(job, Intent(name, task, f"{first}/out{suffix}"), scripts[job.name].script)
        folders = [job.folder.resolve() for job in batch]
        script = batch_script(folders, scripts[batch[0].name])
        write_file(first / "batch.sh", script)
        output = f"{_escaped(first)}/out" + ("" if len(batch) == 1 else "-%a")
        options = [f"--job-name={name}", f"--chdir={folders[0]}", "--open-mode=append"]
        options += [f"--output={output}", f"--error={output}"]
        if len(batch) == 1:
            return {batch[0].name: self.client.submit(script, options)}
        id_ = self.client.submit(script, [*options, f"--array=0-{len(batch) - 1}"])
        return {job.name: f"{id_}_{k}" for k, job in enumerate(batch)}


def batch_name(batch: Sequence[Job]) -> str:
    """The job's own name; for an array, a name that the same jobs always give."""
    if len(batch) == 1:
        return batch[0].name
    digest = hashlib.sha256("\n".join(job.name for job in batch).encode()).hexdigest()[:8]
    return f"{batch[0].name}.and-{len(batch) - 1}.{digest}"


def _handle(job: Job, entries: Entries) -> str:
    """The id of the job's entry, else of the job that began the run."""
    entry = entry_of(entries, job)
    return entry.id if entry is not None else read_owner(job)


def _escaped(path: Path) -> str:
    """A path for Slurm's --output, which gives % a meaning of its own."""
    text = str(path)
    if "\\" in text:
        raise LawsmithError(text, got="a backslash", want="a path without it, for Slurm's --output")
    return text.replace("%", "%%")
