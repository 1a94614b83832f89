"""The bet of the live demo: one run ten times beyond the study, predicted and then trained.

What is predicted is written to bet/prediction.json before the run begins, the run's result to
bet/result.json. Killed and started again, it goes on: a run that had not ended begins anew, one
that had is only shown. A prediction of another state of the study is put aside with its result.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STUDY, BET, FOLDER = HERE / "study.toml", HERE / "bet.toml", HERE / "bet"
PREDICTION, RESULT, LOG = FOLDER / "prediction.json", FOLDER / "result.json", FOLDER / "log.txt"
REPORT = HERE / "report.html"
TRAINER = HERE.parent / "tinylm" / "train.py"
VARIABLES = {"OMP_NUM_THREADS": "1"}  # a second one helps little, and hinders where cores are busy
INTERRUPTED = 130

Json = dict[str, Any]


class DemoError(Exception):
    """Something is missing; the text says what to do."""


def read_study() -> Json:
    """What `lawsmith status` says of the study, which must have ended."""
    command = [sys.executable, "-m", "lawsmith", "status", str(STUDY), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise DemoError("the study cannot be read")
    told: Json = json.loads(done.stdout)
    if told["ended"] is None or not told["answers"]:
        first = f"lawsmith run {_short(STUDY)}"
        raise DemoError(f"the study has not ended with an answer; first: {first}")
    return told


def predict(told: Json) -> Json:
    """The run to bet on and what the study's answer says of a run there."""
    best, said = told["best"]["config"], told["answers"][0]
    run = tomllib.loads(BET.read_text()) | {"lr": best["lr"], "batch": int(best["batch"])}
    ends = {"low": said["run_low"], "high": said["run_high"]}  # of one further run
    facts = {"study": told["id"], "n_runs": told["n_runs"], "compute": said["compute"]}
    return facts | {"run": run, "loss": said["loss"], **ends}


def write_down(prediction: Json) -> None:
    """Keep the prediction; an older one of the same state of the study stands."""
    if PREDICTION.is_file():
        kept = json.loads(PREDICTION.read_text())
        if all(kept[name] == prediction[name] for name in ("study", "n_runs", "compute", "run")):
            return
        RESULT.unlink(missing_ok=True)
    FOLDER.mkdir(exist_ok=True)
    new = PREDICTION.with_suffix(".new")
    new.write_text(json.dumps(prediction, indent=1) + "\n")
    new.replace(PREDICTION)


def train(run: Json) -> None:
    """Make the run; its process is stopped with this one."""
    options = {**run, "device": "cpu", "corpus": HERE / "corpus"}
    words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    variables = {**os.environ, **VARIABLES, "LAWSMITH_RESULT": str(RESULT)}
    with LOG.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, str(TRAINER), *words],
            env=variables,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for this process, which then stops that one
        )
        try:
            code = process.wait()
        finally:
            process.kill()
            process.wait()
    if code:
        last = LOG.read_text().strip().splitlines()[-1:]
        raise DemoError(f"the run failed: {' '.join(last)} (see {_short(LOG)})")


def before(prediction: Json) -> list[str]:
    """What is about to be trained, and what is predicted of it."""
    run = prediction["run"]
    shape = f"width {run['width']}, depth {run['depth']}, {run['tokens'] / 1e6:.2f}M tokens"
    return [
        "The bet",
        f"After {prediction['n_runs']} runs the answer is {_claim(prediction)}. That is on record "
        f"now, in {_short(PREDICTION)}.",
        f"Now one run of this compute is trained: {shape}, learning rate {run['lr']:g} and batch "
        f"{run['batch']} as in the best run so far. It takes about two minutes.",
    ]


def after(told: Json, prediction: Json, row: Json) -> list[str]:
    """The three lines that matter."""
    spent, n_all = _flops(told["budget"]["committed"]), told["candidates"]
    largest = max(trial["cost"] for trial in told["trials"] if trial["loss"] is not None)
    times = f"{prediction['compute'] / largest:.2g}"
    return [
        "What matters",
        f"1. Of {n_all} possible runs {prediction['n_runs']} were made, each chosen in the light "
        f"of those before it, with {spent} FLOPs.",
        f"2. They predicted {_claim(prediction)}: {times} times the compute of the largest "
        "of them.",
        f"3. {_outcome(prediction, row)}",
    ]


def _claim(prediction: Json) -> str:
    ends = f"{prediction['low']:.3f} to {prediction['high']:.3f}"
    compute = _flops(prediction["compute"])
    return f"a loss of {prediction['loss']:.3f} (95%: {ends}) at {compute} FLOPs"


def _outcome(prediction: Json, row: Json) -> str:
    loss = row["loss"]
    if row["diverged"]:
        return f"The run there diverged (loss {loss}): its learning rate was too high."
    off = abs(prediction["loss"] / loss - 1.0)
    inside = prediction["low"] <= loss <= prediction["high"]
    where = "inside" if inside else "outside"
    return f"The run there came out at {loss:.3f}: {where} the interval, {off:.1%} off."


def say(lines: list[str]) -> None:
    """A title, and sentences below it."""
    title, *sentences = lines
    print(f"\n{title}")
    for sentence in sentences:
        indent = " " * (5 if sentence[:2] in ("1.", "2.", "3.") else 2)
        print(textwrap.fill(sentence, 90, initial_indent="  ", subsequent_indent=indent))
    sys.stdout.flush()


def _flops(value: float) -> str:
    return f"{value:.3g}".replace("e+", "e")


def _short(path: Path) -> str:
    return os.path.relpath(path)


def main() -> None:
    """Predict, write down, train, tell."""
    told = read_study()
    write_down(predict(told))
    prediction = json.loads(PREDICTION.read_text())
    done_before = RESULT.is_file()
    if not done_before:
        say(before(prediction))
        train(prediction["run"])
    say(after(told, prediction, json.loads(RESULT.read_text())))
    if REPORT.is_file():
        print(f"\nThe report of the study, for a browser\n  {_short(REPORT)}")
    if done_before:
        print("\nAll this was there already. To start anew\n  make clean-live-demo live-demo")


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)  # stopped either way, it stops the run it started
    try:
        main()
    except DemoError as error:
        print(f"live-demo: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("\ninterrupted; make live-demo begins this run again", file=sys.stderr)
        sys.exit(INTERRUPTED)
