"""Calls of Slurm's commands, and readers of their output: sbatch, squeue, sacct, scancel."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lawsmith.errors import LawsmithError

# Parts of messages of sbatch after which a later try may work. All others are errors.
_TEMPORARY = re.compile(
    "unable to contact|timed out|connection refused|connect failure|communication|zero bytes"
    "|temporarily|try again|backup controller|authentication|munge"
    "|submitjob",  # AssocMaxSubmitJobLimit, QOSMaxSubmitJobPerUserLimit, …
    re.IGNORECASE,
)
_MAX_TASKS = 1_000_000  # more than Slurm allows in an array
_KEPT_VARIABLES = ("SLURM_CONF", "SLURM_CLUSTERS")


class SlurmUnavailable(Exception):
    """Slurm does not answer or takes no jobs now; a later try may work."""


@dataclass(frozen=True)
class JobEntry:
    """A job or a task of an array, as squeue or sacct shows it."""

    id: str
    name: str
    state: str
    reason: str = ""
    exit_code: int | None = None

    @property
    def task(self) -> int | None:
        """The index in its array; None for a job outside an array."""
        index = self.id.partition("_")[2]
        return int(index) if index.isdigit() else None


@dataclass(frozen=True)
class SlurmClient:
    """Calls Slurm. ``patience`` is the time limit of one call in seconds."""

    patience: float = 60.0

    def submit(self, script: str, options: Sequence[str]) -> str:
        """Submit a job; its id."""
        done = self._call(["sbatch", "--parsable", *options], script)
        text = done.stdout.strip().split(";")[0]
        if done.returncode == 0 and text.isdigit():
            return text
        message = _message(done)
        if _TEMPORARY.search(message):
            raise SlurmUnavailable(message)
        raise LawsmithError(
            "sbatch", got=message, want="a job", hint="see the template's #SBATCH lines"
        )

    def queue(self) -> list[JobEntry]:
        """All jobs of this user that the controller knows: waiting, running, ended recently."""
        options = ["--array", "--states=all", f"--user={os.getuid()}"]
        done = self._call(["squeue", "--noheader", *options, "--format=%i|%T|%r|%j"])
        if done.returncode != 0:
            raise SlurmUnavailable(_message(done))
        return [_of_squeue(line) for line in done.stdout.splitlines() if line.count("|") >= 3]

    def accounting(
        self, *, ids: Iterable[str] = (), names: Iterable[str] = ()
    ) -> list[JobEntry] | None:
        """Jobs in accounting, by id or by name, old ones first; None if accounting is off."""
        entries: list[JobEntry] = []
        wanted = [("jobs", sorted(set(ids))), ("name", sorted(set(names)))]
        for option, values in wanted:
            if not values:
                continue
            command = ["sacct", "--allocations", "--noheader", "--parsable2", "--duplicates"]
            command += ["--format=JobID,State,ExitCode,JobName", f"--{option}={','.join(values)}"]
            if option == "name":  # without a start time, sacct looks back only to midnight
                command += [f"--starttime={datetime.fromtimestamp(0):%Y-%m-%d}"]
            done = self._call(command)
            if "accounting storage is disabled" in done.stderr.lower():
                return None
            if done.returncode != 0:
                raise SlurmUnavailable(_message(done))
            for line in done.stdout.splitlines():
                if line.count("|") >= 3:
                    entries += _of_sacct(line)
        return entries

    def restarts(self, id_: str) -> int:
        """How often Slurm has restarted a job; 0 if Slurm no longer knows it."""
        done = self._call(["scontrol", "--oneliner", "show", "job", id_])
        match = re.search(r"\bRestarts=(\d+)", done.stdout)
        return int(match.group(1)) if done.returncode == 0 and match else 0

    def cancel(self, ids: Sequence[str]) -> None:
        """Stop jobs; it is no error if they have ended."""
        done = self._call(["scancel", "--quiet", *ids])
        if done.returncode != 0 and "unable to contact" in done.stderr.lower():
            raise SlurmUnavailable(_message(done))

    def _call(self, command: list[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
        # A driver inside an allocation must not pass its own job's variables to its jobs.
        env = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith("SLURM_") or k in _KEPT_VARIABLES
        }
        try:
            done = subprocess.run(
                command,
                input=stdin,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=self.patience,
                env=env,
                check=False,
            )
        except FileNotFoundError:
            want = "a machine from which jobs are submitted"
            raise LawsmithError("slurm", got=f"no {command[0]} on the PATH", want=want) from None
        except subprocess.TimeoutExpired:
            raise SlurmUnavailable(f"{command[0]} did not answer in {self.patience:g} s") from None
        if done.returncode != 0 and "configuration" in _message(done) and "fatal" in _message(done):
            hint = "is SLURM_CONF right?"
            raise LawsmithError("slurm", got=_message(done), want="a cluster's settings", hint=hint)
        return done


def _of_squeue(line: str) -> JobEntry:
    id_, state, rest = line.split("|", 2)
    reason, _, name = rest.rpartition("|")
    return JobEntry(id_.strip(), name.strip(), state, "" if reason == "None" else reason)


def _of_sacct(line: str) -> list[JobEntry]:
    id_, state, code, name = line.split("|", 3)
    number, _, signal = code.partition(":")
    exit_code = None
    if number.isdigit() and signal.isdigit():
        exit_code = int(number) or (128 + int(signal) if int(signal) else 0)
    return [JobEntry(each, name, state, exit_code=exit_code) for each in _expanded(id_)]


def _expanded(id_: str) -> list[str]:
    """'7_1', '7_2', '7_5' for 7_[1-2,5%4], the form in which sacct shows tasks that never began."""
    array = re.fullmatch(r"(\d+)_\[([\d,-]+)(?:%\d+)?\]", id_)
    if array is None:
        return [id_]
    tasks: list[int] = []
    for part in array.group(2).split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            tasks += range(int(first), min(int(last or first), int(first) + _MAX_TASKS) + 1)
    return [f"{array.group(1)}_{task}" for task in tasks]


def _message(done: subprocess.CompletedProcess[str]) -> str:
    text = " ".join((done.stderr or done.stdout).split())
    return text[:300] or f"{done.args[0]} ended with {done.returncode}"
