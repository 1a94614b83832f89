"""The Slurm runner: submits a study's runs with the user's template and follows them.

It may die anywhere and be started again. Before sbatch is called, the run's folder says under which
name the job will be known; before a run is submitted, that name is looked up. The controller
(squeue) is asked first, since accounting lags behind it and shows a requeued job as ended; what the
controller has forgotten is asked of accounting (sacct), and what neither knows of the run's folder.
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
    Intent,
    Shown,
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
    """How jobs are submitted.

    template   the sbatch script, relative to the study's folder; {{name}} stands for a run's value
    array      at most so many jobs of one round go into one array; 1: every run is its own job
    patience   seconds one call of a Slurm command may take before Slurm counts as away
    """

    template: str
    array: Annotated[int, Field(ge=1, le=100_000)] = 100
    patience: Seconds = 60.0


_log = logging.getLogger(__name__)


class SlurmRunner:
    """Runs jobs on the cluster that Slurm's commands on this machine speak to.

    folder   of the study: what the template's path is relative to, and what {{study}} stands for.
             It and the runs' folders lie on a disk that the nodes share.
    """

    name = "slurm"

    def __init__(self, options: SlurmOptions, folder: Path) -> None:
        self.options, self.folder = options, folder.resolve()
        self.template = Template.read(self.folder / options.template)
        self.client = SlurmClient(options.patience)

    def submit(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Submit the jobs that Slurm has not got; handles are '12' or, of an array, '12_3'."""
        plans = {job.name: self._render(job) for job in jobs}  # a bad template submits nothing
        handles: dict[str, str] = {}
        try:
            handles |= self._found(jobs)
            new = [job for job in jobs if job.name not in handles]
            for batch in self._batches(new, plans):
                handles |= self._send(batch, plans)
        except SlurmUnavailable as away:
            # It may have taken a job all the same: the next call looks it up by its name.
            _log.warning("Slurm takes no job now: %s", away)
        return handles

    def poll(self, jobs: Sequence[Job]) -> dict[str, Status]:
        """One call of squeue for all, and one of sacct for those it does not show.

        Of a job that ended badly Slurm is asked once more, how often it was started.
        """
        found: dict[str, Status] = {}
        try:
            queue = entries_by_name(self.client.queue() if jobs else [])
            for job in jobs:
                if (seen := entry_of(queue, job)) is not None:
                    restarts = self.client.restarts(seen.id) if ended_badly(job, seen) else 0
                    found[job.name] = status_of(job, seen, restarts=restarts)
        except SlurmUnavailable as away:
            return {job.name: status_unknown(job, str(away)) for job in jobs}
        return found | self._gone([job for job in jobs if job.name not in found])

    def cancel(self, jobs: Sequence[Job]) -> None:
        """scancel those that wait or run; if Slurm does not answer, nothing happens."""
        try:
            queue = entries_by_name(self.client.queue())
            entries = [seen for job in jobs for seen in entries_of(queue, job)]
            ids = [seen.id for seen in entries if parse_state(seen.state)[0] is not Phase.ENDED]
            for job in jobs:  # of a task that never began Slurm keeps no record
                if runner_folder(job, "slurm").is_dir():
                    leave_mark(job, "slurm", "cancel")
            if ids:
                self.client.cancel(ids)
        except SlurmUnavailable as away:
            _log.warning("Slurm cancels nothing now: %s", away)

    def preview(self, values: Mapping[str, Value]) -> list[str]:
        """What is submitted for a run with these values, as a command; the script is tried out."""
        self.template.render(with_common_values(values, self.folder), {})
        return ["sbatch", str(self.template.name)]

    def _render(self, job: Job) -> Rendered:
        return self.template.render(with_common_values(job.values, self.folder), job.env)

    def _found(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Handles of jobs that were submitted by a driver that died before it recorded it."""
        queue = entries_by_name(self.client.queue())
        found = {job.name: id_ for job in jobs if (id_ := _handle(job, queue))}
        rest = [job for job in jobs if job.name not in found]
        # Only with an intent on disk can one have been submitted and forgotten.
        names = {intent.name for job in rest if (intent := read_intent(job))}
        known = entries_by_name(self.client.accounting(names=names) or [])
        return found | {job.name: id_ for job in rest if (id_ := _handle(job, known))}

    def _gone(self, jobs: Sequence[Job]) -> dict[str, Status]:
        """Jobs the controller does not know."""
        ids = {id_.partition("_")[0] for job in jobs if (id_ := read_owner(job) or job.handle)}
        try:
            known = entries_by_name(self.client.accounting(ids=ids) or [])
        except SlurmUnavailable as away:
            ended = {job.name: status_from_folder(job) for job in jobs if read_exit(job)}
            return {job.name: status_unknown(job, str(away)) for job in jobs} | ended
        found: dict[str, Status] = {}
        for job in jobs:
            seen = entry_of(known, job)
            status = status_from_folder(job) if seen is None else status_of(job, seen)
            missed = not status.over and read_exit(job) is not None  # accounting missed its end
            found[job.name] = status_from_folder(job) if missed else status
        return found

    def _batches(
        self, jobs: Sequence[Job], plans: Mapping[str, Rendered]
    ) -> Iterator[Sequence[Job]]:
        """Jobs that can share an array: sbatch reads the same from their templates."""

        def key(job: Job) -> tuple[tuple[str, ...], tuple[str, ...]]:
            return plans[job.name].directives, plans[job.name].interpreter

        for _, group in groupby(sorted(jobs, key=key), key=key):
            alike = list(group)
            for start in range(0, len(alike), self.options.array):
                yield alike[start : start + self.options.array]

    def _send(self, batch: Sequence[Job], plans: Mapping[str, Rendered]) -> dict[str, str]:
        """Submit one job or one array, its name on disk before."""
        name = batch_name(batch)
        first = runner_folder(batch[0], "slurm")
        for k, job in enumerate(batch):
            task, suffix = (None, "") if len(batch) == 1 else (k, f"-{k}")
            write_intent(job, Intent(name, task, f"{first}/out{suffix}"), plans[job.name].script)
        folders = [job.folder.resolve() for job in batch]
        script = batch_script(folders, plans[batch[0].name])
        write_file(first / "batch.sh", script)
        output = f"{_escaped(first)}/out" + ("" if len(batch) == 1 else "-%a")
        options = [f"--job-name={name}", f"--chdir={folders[0]}", "--open-mode=append"]
        options += [f"--output={output}", f"--error={output}"]
        if len(batch) == 1:
            return {batch[0].name: self.client.submit(script, options)}
        id_ = self.client.submit(script, [*options, f"--array=0-{len(batch) - 1}"])
        return {job.name: f"{id_}_{k}" for k, job in enumerate(batch)}


def batch_name(batch: Sequence[Job]) -> str:
    """The job's own name; of an array one that is the same whenever the same jobs make it."""
    if len(batch) == 1:
        return batch[0].name
    digest = hashlib.sha256("\n".join(job.name for job in batch).encode()).hexdigest()[:8]
    return f"{batch[0].name}.and-{len(batch) - 1}.{digest}"


def _handle(job: Job, shown: Shown) -> str:
    """The id of the job's entry, or of the job that began it."""
    seen = entry_of(shown, job)
    return seen.id if seen is not None else read_owner(job)


def _escaped(path: Path) -> str:
    """A path in which Slurm is to read no % as its own."""
    text = str(path)
    if "\\" in text:
        raise LawsmithError(text, got="a backslash", want="a path without it, for Slurm's --output")
    return text.replace("%", "%%")
