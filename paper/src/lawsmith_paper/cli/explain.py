"""`lawsmith-paper replay --explain PAGE.html`: a search told again step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lawsmith.cli.console import stderr
from lawsmith.cli.options import folder
from lawsmith.cli.replay import Setup, described_bars
from lawsmith.cli.replay_options import stop_rule
from lawsmith.errors import LawsmithError
from lawsmith.policies import Frontier, Method
from lawsmith.replay import Replayed

DRAWN = ("surface", "gp", "botorch")  # surrogates with joint draws, which an outlook is made of


def page_file(path: Path, method: Method) -> Path:
    """Where the page will be, refused before the work where there will be none."""
    if method.policy != "frontier":
        want = "--policy frontier, whose choices it tells"
        raise LawsmithError("--explain", got=f"--policy {method.policy}", want=want)
    drawn = DRAWN
    if method.surrogate not in drawn:
        want = " or ".join(f"--surrogate {name}" for name in drawn)
        raise LawsmithError("--explain", got=f"--surrogate {method.surrogate}", want=want)
    if path.is_dir():
        raise LawsmithError("--explain", got=f"{path}, a folder", want="a file such as page.html")
    folder(path.parent, "--explain")
    return path


def explain(setup: Setup, done: Replayed, path: Path) -> None:
    """Write the page and say where it is."""
    from lawsmith.charts.runs import ChartUnavailable
    from lawsmith_paper.charts.data.discovery import (
        discovery_data,  # here: altair is slow to import
    )
    from lawsmith_paper.charts.discovery import write_discovery

    trace = done.trace
    try:
        with _telling(len(trace.steps)) as report:
            stop = stop_rule(setup.request.iterations, setup.request.budget, trace.task)
            policy = _policy(setup, done)
            data = discovery_data(trace, policy, budget=stop.budget, report=report)
    except ChartUnavailable as error:
        raise LawsmithError("--explain", got=error.reason, want="a law that can be drawn") from None
    stderr().print(f"The search step by step:\n  {write_discovery(data, path)}", soft_wrap=True)


def _policy(setup: Setup, done: Replayed) -> Frontier:
    """The policy that chose, made anew: it is a function of the history."""
    policy = setup.policy([float(label) for label in done.trace.task.targets])
    if not isinstance(policy, Frontier):
        raise TypeError(policy.name)
    return policy


@contextmanager
def _telling(n_runs: int) -> Iterator[Callable[[int], None]]:
    """A function that shows how many runs are told; nothing where stderr is no terminal."""
    with described_bars() as bars:
        bar = bars.add_task("telling it step by step", total=n_runs)

        def report(n: int) -> None:
            bars.update(bar, completed=n, description=f"{n}/{n_runs} runs told")

        yield report
