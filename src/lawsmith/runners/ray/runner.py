"""The Ray runner: detached actors, one per run, that outlive the driver.

An actor is found again by its name, which is the job's, while it waits or lives; when it is gone,
the run's folder says what became of it. The folder lies on a disk that all nodes share.
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
from lawsmith.runners.ray import keeper
from lawsmith.runners.template import Value, fill_all, with_common_values
from lawsmith.spec.models import Seconds
from lawsmith.spec.reading import Table

_log = logging.getLogger(__name__)
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_MARGIN = 5.0  # seconds beyond the grace, for a wrapper's exit code to be seen on a shared disk


def _load_ray() -> Any:
    """The package ray, which is an extra."""
    try:
        import ray
    except ImportError:
        hint = "pip install ray"
        raise LawsmithError("runner ray", got="no package ray", want="ray", hint=hint) from None
    return ray


def _quieten(ray: Any) -> None:
    """What a cluster has to say goes to the log: Ray prints it to stdout, where results belong."""

    def tell(data: Mapping[str, Any], *_: Any, **__: Any) -> None:
        _log.info("Ray: %s", " ".join(map(str, data.get("lines", ()))))

    if hasattr(ray._private.worker, "print_to_stdstream"):
        ray._private.worker.print_to_stdstream = tell


class RayOptions(Table):
    """What is run, and what it needs.

    command     arguments of a run, without a shell; {name} stands for its value
    address     of the cluster: 'auto' for the one this machine is part of, or ray://host:port
    num_cpus    and num_gpus, resources: what a run holds while it lives
    timeout     of a run, from its start; 0 is none
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
    """Runs a command per job, on the cluster at the options' address.

    folder   of the study: what {study} in a command stands for
    """

    name = "ray"

    def __init__(self, options: RayOptions, folder: Path) -> None:
        self.options, self.folder = options, folder.resolve()

    def submit(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Start an actor for every job that never had one; handles are the actors' ids."""
        commands = {job.name: self.preview(job.values) for job in jobs}
        alive = self.alive()
        handles: dict[str, str] = {}
        for job in jobs:
            # In this order: an actor that ends between the two looks has begun.
            if job.name not in alive and (_began(job) or has_mark(job, "ray", "cancel")):
                handles[job.name] = job.handle or "ended"
            else:
                handles[job.name] = self._start(job, commands[job.name])
        return handles

    def poll(self, jobs: Sequence[Job]) -> dict[str, Status]:
        """One call to Ray for all, and one for each that died without an exit code."""
        alive = self.alive() if jobs else set()
        return {job.name: self._status(job, alive=job.name in alive) for job in jobs}

    def cancel(self, jobs: Sequence[Job]) -> None:
        """Ask each run to stop; one that waits for resources is withdrawn."""
        alive = self.alive() if jobs else set()
        for job in jobs:
            if job.name in alive and read_json_object(job.folder / "exit.json") is None:
                leave_mark(job, "ray", "cancel")
                self._stop(job, kill=not _began(job))

    def preview(self, values: Mapping[str, Value]) -> list[str]:
        """The arguments of a run with these values."""
        known = with_common_values(values, self.folder)
        return fill_all(self.options.command, known, where="runner.command")

    def alive(self) -> set[str]:
        """Names of the actors that wait for resources or live."""
        named = self._connect().util.list_named_actors(all_namespaces=True)
        own = self.options.namespace
        return {entry["name"] for entry in named if entry["namespace"] == own}

    def _connect(self) -> Any:
        """Ray, connected. A cluster of one's own would die with this process: none is started."""
        ray, address = _load_ray(), self.options.address
        if ray.is_initialized():
            return ray
        try:
            namespace = self.options.namespace
            ray.init(address, namespace=namespace, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, TimeoutError, ValueError) as error:
            got = f"{' '.join(str(error).split())[:200]}"
            hint = "start one with: ray start --head"
            where = f"Ray cluster {address}"
            raise LawsmithError(where, got=got, want="a running cluster", hint=hint) from None
        _quieten(ray)
        # The keeper and what it calls travel by value: nodes need no lawsmith.
        for module in (keeper, wrapper):
            ray.cloudpickle.register_pickle_by_value(module)
        return ray

    def _start(self, job: Job, command: Sequence[str]) -> str:
        """The id of the job's actor, which is started unless it is there."""
        ray, options = self._connect(), self.options
        actor = ray.remote(keeper.Keeper).options(
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
        """End an actor: by asking it, or at once if it has nothing to end."""
        ray = self._connect()
        try:
            actor = ray.get_actor(job.name, namespace=self.options.namespace)
        except ValueError:
            return  # it is gone
        if kill:
            ray.kill(actor)
        else:
            actor.stop.remote()

    def _cause(self, job: Job) -> str:
        """Why an actor died, in a word of Ray's; '' if Ray does not tell."""
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
            # Nothing public tells it without a dashboard; what is private may change.
            return ""

    def _status(self, job: Job, *, alive: bool) -> Status:
        exit_values = read_json_object(job.folder / "exit.json")
        if exit_values is not None and (status := _ended_by_itself(job, exit_values)) is not None:
            return status
        if alive:
            return Status(Phase.RUNNING if _began(job) else Phase.QUEUED)
        cause = self._cause(job)
        # The wrapper may still be stopping the run, or its exit code be on its way.
        if exit_values is None and _began(job) and _gone_for(job) < self.options.grace + _MARGIN:
            return Status(Phase.RUNNING, detail="its actor is gone; waiting for its exit code")
        return _ended_by_ray(job, cause)


def _began(job: Job) -> bool:
    """Whether an actor started the run."""
    return has_mark(job, "ray", "began")


def _gone_for(job: Job) -> float:
    """Seconds since it was first seen that the actor is gone and left no exit code."""
    return time.time() - leave_mark(job, "ray", "gone").stat().st_mtime


def _ended_by_itself(job: Job, values: dict[str, Any]) -> Status | None:
    """The status of a run by what its wrapper wrote; None if it was stopped from outside."""
    if values.get("why") == "cancelled" and not has_mark(job, "ray", "cancel"):
        return None  # its worker died: Ray knows why
    status = status_from_exit(values)
    by_kernel = status.exit_code == 137 and values.get("why") == "exit"
    if by_kernel and has_mark(job, "ray", "oom"):
        return replace(
            status, ending=Ending.OUT_OF_MEMORY, detail="killed by the kernel for memory"
        )
    return status


def _ended_by_ray(job: Job, cause: str) -> Status:
    """The status of a run whose actor is gone, by the reason that Ray gives, '' if none.

    A cause is the name of Ray's field for it: oom_context, or NODE_DIED, WORKER_DIED, RAY_KILL.
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
