"""The Ray runner: detached actors, one per run, that outlive the driver.

While an actor waits or lives, it is found by its name, which is the job's. When it is gone, the
run's folder tells how the run ended. The folder is on a disk that all nodes share.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from lawsmith.errors import LawsmithError
from lawsmith.runners import wrapper
from lawsmith.runners.base import Ending, Job, Phase, Status
from lawsmith.runners.folder import has_mark, leave_mark, read_json_object, status_from_exit
from lawsmith.runners.ray import run_actor
from lawsmith.runners.template import Value, fill, with_common_values
from lawsmith.spec.models import Seconds
from lawsmith.spec.reading import Table

_log = logging.getLogger(__name__)
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_MARGIN = 5.0  # seconds after the grace period until an exit code shows on a shared disk


def _quieten(ray: Any) -> None:
    """Send messages of the cluster to the log; Ray prints them to stdout, where results belong."""

    def tell(data: Mapping[str, Any], *_: Any, **__: Any) -> None:
        _log.info("Ray: %s", " ".join(map(str, data.get("lines", ()))))

    if hasattr(ray._private.worker, "print_to_stdstream"):
        ray._private.worker.print_to_stdstream = tell


class RayOptions(Table):
    """The keys of ``[runner]`` with ``kind = "ray"``.

    command     arguments of a run, without a shell; {name} stands for its value
    address     of the cluster: 'auto' for the one this machine is part of, or ray://host:port
    num_cpus    and num_gpus, resources: reserved for a run while it lives
    timeout     seconds from the start of a run; 0 is no limit
    grace       seconds between asking a run to stop and killing it
    """

    command: Annotated[list[str], Field(min_length=1)]
    address: str = "auto"
    namespace: str = "lawsmith"
    num_cpus: Amount = 1.0
    num_gpus: Amount = 0.0
    resources: dict[str, Amount] = Field(default_factory=dict)
    timeout: Seconds = 0.0
    grace: Seconds = 10.0
    env: dict[str, str] = Field(default_factory=dict)


class RayRunner:
    """Runs one command per job on a cluster. ``folder`` is the study's, the value of {study}."""

    def __init__(self, options: RayOptions, folder: Path) -> None:
        self.options, self.folder = options, folder.resolve()

    def submit(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Start an actor for each job that has had none; handles are the ids of the actors."""
        commands = {job.name: self.preview(job.values) for job in jobs}
        alive = self.alive()
        handles: dict[str, str] = {}
        for job in jobs:
            # In this order: an actor that ends after `alive` was read has begun its run.
            if job.name not in alive and (_began(job) or has_mark(job, "ray", "cancel")):
                handles[job.name] = job.handle or "ended"
            else:
                handles[job.name] = self._start(job, commands[job.name])
        return handles

    def poll(self, jobs: Sequence[Job]) -> dict[str, Status]:
        """One call to Ray for all jobs, and one for each that died without an exit code."""
        alive = self.alive() if jobs else set()
        return {job.name: self._status(job, alive=job.name in alive) for job in jobs}

    def cancel(self, jobs: Sequence[Job]) -> None:
        """Ask each run to stop; an actor that waits for resources is killed."""
        alive = self.alive() if jobs else set()
        for job in jobs:
            if job.name in alive and read_json_object(job.folder / "exit.json") is None:
                leave_mark(job, "ray", "cancel")
                self._stop(job, kill=not _began(job))

    def preview(self, values: Mapping[str, Value]) -> list[str]:
        """The arguments of a run with these values."""
        known = with_common_values(values, self.folder)
        return [fill(text, known, where="runner.command") for text in self.options.command]

    def alive(self) -> set[str]:
        """Names of the actors that live or wait for resources."""
        named = self._connect().util.list_named_actors(all_namespaces=True)
        own = self.options.namespace
        return {entry["name"] for entry in named if entry["namespace"] == own}

    def _connect(self) -> Any:
        """Connect to the cluster. None is started here: it would die with this process."""
        try:
            import ray
        except ImportError:
            hint = "pip install ray"
            raise LawsmithError("runner ray", got="no package ray", want="ray", hint=hint) from None
        if ray.is_initialized():
            return ray
        address, namespace = self.options.address, self.options.namespace
        try:
            ray.init(address, namespace=namespace, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, TimeoutError, ValueError) as error:
            got = f"{' '.join(str(error).split())[:200]}"
            hint = "start one with: ray start --head"
            where = f"Ray cluster {address}"
            raise LawsmithError(where, got=got, want="a running cluster", hint=hint) from None
        _quieten(ray)
        # The actor and what it calls are sent by value: nodes do not need lawsmith.
        for module in (run_actor, wrapper):
            ray.cloudpickle.register_pickle_by_value(module)
        return ray

    def _start(self, job: Job, command: Sequence[str]) -> str:
        """Start the job's actor unless it exists; its id."""
        ray, options = self._connect(), self.options
        actor = ray.remote(run_actor.RunActor).options(
            name=job.name,
            namespace=options.namespace,
            lifetime="detached",
            get_if_exists=True,
            max_restarts=0,
            num_cpus=options.num_cpus,
            num_gpus=options.num_gpus,
            resources=options.resources,
        )
        started = actor.remote(
            str(job.folder.resolve()),
            wrapper=Path(wrapper.__file__).read_text(encoding="utf-8"),
            job={"command": list(command), "timeout": options.timeout, "grace": options.grace},
            env={**options.env, **job.env},
        )
        return str(started._actor_id.hex())

    def _stop(self, job: Job, *, kill: bool) -> None:
        """Ask an actor to stop its run; kill it at once if the run has not begun."""
        ray = self._connect()
        try:
            actor = ray.get_actor(job.name, namespace=self.options.namespace)
        except ValueError:
            return  # the actor is gone
        if kill:
            ray.kill(actor)
        else:
            actor.stop.remote()

    def _cause(self, job: Job) -> str:
        """Ray's name for the reason why an actor died; '' if Ray does not tell."""
        self._connect()
        try:
            from ray._private.state import actors

            death = actors(job.handle)["DeathCause"]
            context = str(death.WhichOneof("context") or "")
            if context != "actor_died_error_context":
                return context
            died = death.actor_died_error_context
            return str(type(died).Reason.Name(died.reason))
        except Exception:
            # Without a dashboard no public API tells it; the private one may change.
            return ""

    def _status(self, job: Job, *, alive: bool) -> Status:
        exit_values = read_json_object(job.folder / "exit.json")
        if exit_values is not None and (status := _ended_by_itself(job, exit_values)) is not None:
            return status
        if alive:
            return Status(Phase.RUNNING if _began(job) else Phase.QUEUED)
        cause = self._cause(job)
        # The wrapper may still be stopping the run, or its exit code may not show yet.
        if exit_values is None and _began(job) and _gone_for(job) < self.options.grace + _MARGIN:
            return Status(Phase.RUNNING, detail="its actor is gone; waiting for its exit code")
        return _ended_by_ray(job, cause)


def _began(job: Job) -> bool:
    """Whether an actor started the run."""
    return has_mark(job, "ray", "began")


def _gone_for(job: Job) -> float:
    """Seconds since the actor was first seen to be gone without an exit code."""
    return time.time() - leave_mark(job, "ray", "gone").stat().st_mtime


def _ended_by_itself(job: Job, values: dict[str, Any]) -> Status | None:
    """The status of a run from its wrapper's exit.json; None if Ray stopped the wrapper."""
    if values.get("why") == "cancelled" and not has_mark(job, "ray", "cancel"):
        return None  # its Ray worker died, and Ray knows why
    status = status_from_exit(values)
    by_kernel = status.exit_code == 137 and values.get("why") == "exit"
    if by_kernel and has_mark(job, "ray", "oom"):
        return replace(
            status, ending=Ending.OUT_OF_MEMORY, detail="killed by the kernel for memory"
        )
    return status


def _ended_by_ray(job: Job, cause: str) -> Status:
    """The status of a run whose actor is gone.

    cause   Ray's name for it: oom_context, NODE_DIED, WORKER_DIED, RAY_KILL, …; '' if unknown
    """
    if has_mark(job, "ray", "cancel") or cause == "RAY_KILL":
        return Status(Phase.ENDED, Ending.CANCELLED, "its actor was killed")
    if cause == "oom_context":
        return Status(
            Phase.ENDED, Ending.OUT_OF_MEMORY, "Ray ended it: its node had no memory left"
        )
    if _began(job):
        detail = "its node died" if cause == "NODE_DIED" else "its Ray worker died"
        return Status(Phase.ENDED, Ending.NODE_FAILURE, detail)
    if cause == "creation_task_failure_context":
        return Status(Phase.ENDED, Ending.FAILED, "its actor could not start")
    return Status(Phase.LOST, detail="Ray knows no such actor")
