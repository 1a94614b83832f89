"""A Ray cluster as the runner sees it: connect, start an actor by name, list, ask why one died."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lawsmith.errors import LawsmithError
from lawsmith.runners import wrapper
from lawsmith.runners.ray import keeper

_log = logging.getLogger(__name__)


def load_ray() -> Any:
    """The package ray, which is an extra."""
    try:
        import ray
    except ImportError:
        hint = "pip install ray"
        raise LawsmithError("runner ray", got="no package ray", want="ray", hint=hint) from None
    return ray


@dataclass(frozen=True)
class Cluster:
    """The cluster at ``address``; actors are named in ``namespace``."""

    address: str
    namespace: str

    def connect(self) -> Any:
        """Ray, connected. A cluster of one's own would die with this process: none is started."""
        ray = load_ray()
        if ray.is_initialized():
            return ray
        try:
            ray.init(
                address=self.address,
                namespace=self.namespace,
                log_to_driver=False,
                logging_level="ERROR",
            )
        except (ConnectionError, RuntimeError, TimeoutError, ValueError) as error:
            got = f"{' '.join(str(error).split())[:200]}"
            hint = "start one with: ray start --head"
            where = f"Ray cluster {self.address}"
            raise LawsmithError(where, got=got, want="a running cluster", hint=hint) from None
        _quieten(ray)
        # The keeper and what it calls travel by value: nodes need no lawsmith.
        for module in (keeper, wrapper):
            ray.cloudpickle.register_pickle_by_value(module)
        return ray

    def start(self, name: str, options: Mapping[str, Any], *args: Any, **kwargs: Any) -> str:
        """The id of the actor ``name``, which is started unless it is there."""
        ray = self.connect()
        actor = (
            ray.remote(keeper.Keeper)
            .options(
                name=name,
                namespace=self.namespace,
                lifetime="detached",
                get_if_exists=True,
                max_restarts=0,
                **options,
            )
            .remote(*args, **kwargs)
        )
        return str(actor._actor_id.hex())

    def alive(self) -> set[str]:
        """Names of the actors that wait for resources or live."""
        named = self.connect().util.list_named_actors(all_namespaces=True)
        return {entry["name"] for entry in named if entry["namespace"] == self.namespace}

    def stop(self, name: str, *, kill: bool) -> None:
        """End an actor: by asking it, or at once if it has nothing to end."""
        ray = self.connect()
        try:
            actor = ray.get_actor(name, namespace=self.namespace)
        except ValueError:
            return  # it is gone
        if kill:
            ray.kill(actor)
        else:
            actor.stop.remote()

    def cause(self, actor_id: str) -> str:
        """Why an actor died, in a word of Ray's; '' if Ray does not tell."""
        self.connect()
        try:
            from ray._private.state import actors

            death = actors(actor_id)["DeathCause"]
            context = str(death.WhichOneof("context") or "")
            if context != "actor_died_error_context":
                return context
            died = death.actor_died_error_context
            return str(type(died).Reason.Name(died.reason))
        except Exception:
            # Nothing public tells it without a dashboard; what is private may change.
            return ""


def _quieten(ray: Any) -> None:
    """What a cluster has to say goes to the log: Ray prints it to stdout, where results belong."""

    def tell(data: Mapping[str, Any], *_: Any, **__: Any) -> None:
        _log.info("Ray: %s", " ".join(map(str, data.get("lines", ()))))

    if hasattr(ray._private.worker, "print_to_stdstream"):
        ray._private.worker.print_to_stdstream = tell
