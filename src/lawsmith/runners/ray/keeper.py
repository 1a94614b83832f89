"""The actor that keeps one run: it starts the run's wrapper on its node and ends with it.

Sent to the cluster by value, with `launch` and `put`, and made of the standard library alone: nodes
need no lawsmith.
The run starts with the actor, not by a call to it: a call that still waits dies with the driver.
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


class Keeper:
    """One run, in ``folder``.

    wrapper   source of the program that watches over the run, see `lawsmith.runners.wrapper`
    job       command, timeout and grace, for the wrapper
    env       variables of the run, on top of the worker's own, where Ray names the GPUs
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
        """Ask the run to end; the wrapper writes how it ended."""
        if self._pid:
            os.kill(self._pid, signal.SIGTERM)

    def finish(self) -> None:
        """End this actor, and give back what it holds."""
        import ray

        ray.actor.exit_actor()

    def _begin(self, folder: str) -> bool:
        """Whether no actor began this run before."""
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
        """An actor leaves from one of its own methods, called here by itself."""
        import ray

        try:
            ray.get_runtime_context().current_actor.finish.remote()
        except Exception:
            # The cluster is gone: there is nothing to sign off from.
            os._exit(0)


def _die_with_parent() -> None:
    """Where the system can: the wrapper is asked to stop if the worker dies."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def _oom_kills() -> int:
    """How many processes of this node the kernel has killed for memory."""
    try:
        with open("/proc/vmstat", encoding="ascii") as file:
            for line in file:
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0
