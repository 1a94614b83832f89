"""The actor of one run: it starts the run's wrapper on its node and ends when the wrapper ends.

It is sent to the cluster by value, together with `launch` and `put`, and uses only the standard
library, so nodes do not need lawsmith. The run starts when the actor is created, not by a method
call, because a call that still waits is lost when the driver dies.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from lawsmith.runners.wrapper import launch, put


class RunActor:
    """One run, in ``folder``.

    wrapper   source of the program that supervises the run, see `lawsmith.runners.wrapper`
    job       command, timeout and grace, for the wrapper
    env       environment variables of the run, added to the worker's own, where Ray names the GPUs
    """

    def __init__(
        self, folder: str, *, wrapper: str, job: Mapping[str, Any], env: Mapping[str, str]
    ) -> None:
        self._pid = 0
        if not self._begin(folder):
            threading.Thread(target=self._leave, daemon=True).start()
            return
        lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        kills = _oom_kills()
        child = launch(["-c", wrapper], folder, lock, job, env=env, first=_die_with_parent)
        os.close(lock)
        self._pid = child.pid
        threading.Thread(target=self._watch, args=(child, folder, kills), daemon=True).start()

    def stop(self) -> None:
        """Ask the run to stop; the wrapper writes how it ended."""
        if self._pid:
            os.kill(self._pid, signal.SIGTERM)

    def finish(self) -> None:
        """End this actor and free its resources."""
        import ray

        ray.actor.exit_actor()

    def _begin(self, folder: str) -> bool:
        """Mark the run as begun; False if an actor began it before."""
        own = os.path.join(folder, "ray")
        os.makedirs(own, exist_ok=True)
        try:
            os.close(os.open(os.path.join(own, "began"), os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError:
            return False
        return True

    def _watch(self, child: subprocess.Popen[bytes], folder: str, kills: int) -> None:
        child.wait()
        if _oom_kills() > kills:
            put(os.path.join(folder, "ray", "oom"), {})
        self._leave()

    def _leave(self) -> None:
        """End this actor; Ray allows that only from one of the actor's own methods."""
        import ray

        try:
            ray.get_runtime_context().current_actor.finish.remote()
        except Exception:
            # The cluster is gone.
            os._exit(0)


def _die_with_parent() -> None:
    """Ask the wrapper to stop if the worker dies, on systems that can (Linux)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def _oom_kills() -> int:
    """Number of processes of this node that the kernel has killed for memory."""
    try:
        with open("/proc/vmstat", encoding="ascii") as file:
            for line in file:
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0
