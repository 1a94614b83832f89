"""Train the trials of live studies side by side in one process, which holds the GPU and the corpus.

    python server.py SOCKET --corpus corpus --compile 48x2x16 256x5x16
    TINYLM_SERVER=SOCKET python remote.py --width 48 --depth 2 …      # the command of a trial

A trial of a tiny model takes seconds. A process of its own would take longer than that to import
torch, to compile and to capture its CUDA graphs. Here the command of a trial is remote.py, a small
process that hands its arguments over and waits. Its connection is the trial: when the process ends,
its training stops at once.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import selectors
import signal
import socket
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from data import Corpus, load_corpus, pick_device
from ensemble import Ensemble
from errors import TinylmError, run_command
from grid import say
from tinylm import Size
from train import Task, read_arguments, read_task, task_steps

IDLE_SECONDS = 0.05  # between two looks for connections while nothing trains
REQUEST_SECONDS = 10.0  # for a trial to say what it wants


class Job:
    """A trial in training. ``told`` are messages of one line each to the process of the trial."""

    def __init__(self, connection: socket.socket, task: Task, spare: Ensemble | None) -> None:
        self.connection, self.task = connection, task
        self.trunk = task.trunk(spare)
        self.steps = task_steps(self.trunk, task.segment, lambda line: self.send(tell=line))

    def send(self, **message: Any) -> None:
        send(self.connection, message)

    def turn(self) -> bool:
        """Queue some work; False once the trial has ended."""
        try:
            next(self.steps)
        except StopIteration as end:
            self.send(row=end.value)
            return False
        return True


def send(connection: socket.socket, message: Mapping[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


class Server:
    """Trials under way, and the ensembles of those that ended, which later ones use again."""

    def __init__(self, listener: socket.socket, corpus: Corpus) -> None:
        self.corpus = corpus
        self.jobs: dict[socket.socket, Job] = {}
        self.spares: dict[tuple[Any, ...], list[Ensemble]] = {}
        self.listener, self.selector = listener, selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ)
        self.n_done = 0
        self.stopping = False

    def stop(self, *_: object) -> None:
        """Let ``serve`` end soon; fit to be a signal's handler."""
        self.stopping = True

    def serve(self) -> None:
        """Serve until it is stopped."""
        while not self.stopping:
            for key, _ in self.selector.select(0.0 if self.jobs else IDLE_SECONDS):
                if key.fileobj is self.listener:
                    self._begin(self.listener.accept()[0])
                else:
                    self._close(key.fileobj, "stopped")  # its process says nothing but its end
            for connection, job in list(self.jobs.items()):
                self._turn(connection, job)

    def _begin(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(REQUEST_SECONDS)
            with connection.makefile("r", encoding="utf-8") as lines:
                wanted = json.loads(lines.readline())
            args = read_arguments(wanted["arguments"])
            task = read_task(args, wanted["config"], self.corpus)
            spares = self.spares.get(_shape(task))
            self.jobs[connection] = Job(connection, task, spares.pop() if spares else None)
            self.selector.register(connection, selectors.EVENT_READ)
        except SystemExit:  # argparse has said why, in the server's log
            self._refuse(connection, "the arguments are wrong; see the log of the server")
        except Exception as error:
            self._refuse(connection, _text(error))

    def _refuse(self, connection: socket.socket, why: str) -> None:
        with suppress(OSError):
            send(connection, {"error": why})
        connection.close()

    def _turn(self, connection: socket.socket, job: Job) -> None:
        try:
            if not job.turn():
                self._close(connection, "done")
        except OSError as error:
            self._close(connection, f"lost ({error})")
        except Exception as error:
            with suppress(OSError):
                job.send(error=_text(error))
            self._close(connection, "failed")

    def _close(self, connection: socket.socket, how: str) -> None:
        """End a trial; its ensemble is kept, whatever its state."""
        job = self.jobs.pop(connection)
        job.steps.close()
        self.selector.unregister(connection)
        connection.close()
        self.spares.setdefault(_shape(job.task), []).append(job.trunk.ensemble)
        self.n_done += 1
        kind, tokens = job.task.segment.kind, job.task.segment.end
        name = f"{job.task.plan.name} {kind} to {tokens}"
        say(f"{name}: {how}; {len(self.jobs)} under way, {self.n_done} ended")


def _shape(task: Task) -> tuple[Any, ...]:
    """What an ensemble must have in common with a task to be used for it."""
    return *task.plan.shape, len(task.corpus.heldout)


def _text(error: BaseException) -> str:
    if not isinstance(error, TinylmError):
        traceback.print_exception(error)
    return f"{type(error).__name__}: {error}"


def compile_ahead(shapes: Sequence[str], folder: Path, device: torch.device) -> None:
    """Compile the kernels of some shapes, each in a process, into the cache that torch keeps."""
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # the processes share the cores already
    context = multiprocessing.get_context("spawn")  # CUDA allows no fork
    with ProcessPoolExecutor(len(shapes), mp_context=context) as pool:
        jobs = [pool.submit(_compile, shape, folder, device) for shape in shapes]
        for job in as_completed(jobs):
            say(f"{job.result()}: compiled")


def _compile(shape: str, folder: Path, device: torch.device) -> str:
    width, depth, batch = map(int, shape.split("x"))
    corpus = load_corpus(folder, device)
    size = Size(width, depth, corpus.vocabulary)
    Ensemble(size, (1e-3,), batch=batch, seed=0, corpus=corpus)
    return shape


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("socket", type=Path, help="where to listen; a file that is made")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--compile", nargs="*", default=[], metavar="WIDTHxDEPTHxBATCH")
    args = parser.parse_args()
    device = pick_device(args.device)
    if args.compile:
        compile_ahead(args.compile, args.corpus, device)
    corpus = load_corpus(args.corpus, device)
    args.socket.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(args.socket))
        listener.listen()
        server = Server(listener, corpus)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, server.stop)
        say(f"serving at {args.socket}")
        server.serve()


if __name__ == "__main__":
    run_command(_main)
