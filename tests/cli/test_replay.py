"""`lawsmith replay` on the terminal: what it says, its files and charts, its bar, Ctrl-C."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace

import pytest

import lawsmith.cli.replay as replay_run
from lawsmith.cli import replay_options as options
from lawsmith.cli.commands import ReplayRequest
from lawsmith.cli.replay import collect, described, share_done
from lawsmith.datasets import demo_study, entry, load
from lawsmith.errors import LawsmithError
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import CHINCHILLA, LC
from lawsmith.policies import make_policy
from lawsmith.replay import Stop, prepare, replay
from lawsmith.replay.replayed import signed

SHORT = ("--n-init", 6)


@pytest.fixture
def task(sweep):
    return prepare(load(str(sweep)), LC)


def test_it_says_what_was_replayed_what_was_found_and_what_it_took(lawsmith, sweep):
    result = lawsmith("replay", sweep, *SHORT, "--seed", 1)
    assert (result.code, result.err) == (0, "")
    for words in (
        "chosen by frontier+surface, 6 initial runs; seed 1",
        "pool 45 configurations, 5.63e20 FLOPs in all",
        "held out 3 configurations with C ≥ 1.23e20, 1 on their frontier",
        "ran 45 runs, 100% of that compute: the pool is exhausted",
        "L(C) = E + A·C^α: of the whole pool, and as found",
        "Answer, from 45 runs, 3 of them diverged, up to 6.14e19 FLOPs",
        "1e21 FLOPs, 1.2 decades of compute beyond the largest run",
        "The same from all runs of the pool",
        "Held out: 1 of 1 held-out best run inside",
        "The whole pool's predictions: 1 of 1 held-out best run inside",
        "Envelope recovered, and loss at 1e21 against the whole pool's law",
    ):
        assert words in result.text
    assert re.search(r"100% +45 +100% +100% +\+0\.00% +\+0\.00%\n", result.out)
    assert result.text.index("Answer, from") < result.text.index("L(C) = E")
    for word in ("ncumbent", "egret", "Distance from"):
        assert word not in result.out  # of lawsmith-paper
    assert max(len(line) for line in result.out.splitlines()) <= 100


def test_a_window_is_told_by_its_surrogate_its_rule_and_its_reach(lawsmith, sweep):
    result = lawsmith("replay", sweep, *SHORT, "--policy", "window", "--seed", 1)
    settings = "kernel matern, priors free, scale loss, kappa 2.0, reach 1.5, slice by C"
    words = f"window+gp+lcb, {settings}, 6 initial runs; seed 1"
    assert f"chosen by {words}" in result.text


def test_the_text_and_the_json_tell_the_same_numbers(lawsmith, replay_json, sweep):
    args = (sweep, *SHORT, "--seed", 1)
    found, shown = replay_json(*args), lawsmith("replay", *args).out
    for row in found["summary"]["budgets"]:
        for fit in row["fits"].values():
            if fit is not None:
                off = f"{fit['extrapolation']['1e21']:+.2f}%"
                assert off.replace("-0.00", "+0.00") in shown
    assert f"{found['reference']['params']['E']:.3f} (ln " in shown


def test_the_head_of_a_synthetic_study_says_so(lawsmith):
    result = lawsmith("replay", "synthetic-demo", "--iterations", 12)
    assert "synthetic" in result.out.splitlines()[0]
    assert "12 runs" in result.out


def test_a_synthetic_table_is_labelled_whatever_its_title(lawsmith, monkeypatch, sweep):
    prepared = replay_run.prepare

    def disguised(*args, **kwargs):
        task = prepared(*args, **kwargs)
        study = replace(task.study, title="My runs", truth=demo_study().truth)
        return replace(task, study=study)

    monkeypatch.setattr(replay_run, "prepare", disguised)
    result = lawsmith("replay", sweep, *SHORT, "--iterations", 8)
    assert result.out.splitlines()[0] == "My runs (synthetic)"


def test_a_replay_too_short_for_a_law_says_that_none_was_found(lawsmith, sweep):
    result = lawsmith("replay", sweep, *SHORT, "--iterations", 3)
    assert result.code == 0
    assert "ran 3 runs" in result.text
    assert "as many runs as asked for" in result.text
    assert "No law was found" in result.text


def test_a_law_of_N_and_D_holds_out_the_largest_N(lawsmith, sweep):
    result = lawsmith("replay", sweep, *SHORT, "--law", "chinchilla", "--iterations", 20)
    assert "3 configurations" not in result.text
    assert "12 configurations with N = 640M" in result.text


def test_a_law_without_compute_has_no_extrapolation(lawsmith, replay_json, sweep):
    args = (sweep, *SHORT, "--law", "LN", "--iterations", 12)
    result = lawsmith("replay", *args)
    assert result.code == 0
    assert "loss at" not in result.out
    told = replay_json(*args)
    assert told["reference"]["losses"] == {}
    assert [a["compute"] for a in told["answers"]] == [1e21]  # the answer needs no law


def test_out_holds_the_json_a_row_for_each_run_and_the_charts(lawsmith, sweep, tmp_path):
    out = tmp_path / "new" / "folder"
    args = ("replay", sweep, *SHORT, "--iterations", 9, "--out", out)
    result = lawsmith(*args, "--json")
    assert (out / "trace.json").read_text(encoding="utf-8") == result.out
    names = {path.name for path in (out / "charts").iterdir()}
    drawn = ("answer", "allocation", "hyperparameters", "region")
    charts = [f"{name}.{suffix}" for name in drawn for suffix in ("html", "png")]
    assert names == set(charts)
    assert result.json["charts"] == [str(out / "charts" / name) for name in charts]
    with (out / "steps.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["iteration"]) for row in rows] == list(range(1, 10))
    for row, step in zip(rows, result.json["trace"], strict=True):
        assert float(row["config.lr"]) == step["config"]["lr"]
        assert float(row["envelope.observed"]) == step["envelope"]["observed"]
        fit = step["fits"]["fantasized"]
        shown = row["fantasized.regret.log_E"]
        assert (float(shown) if shown else None) == (fit and fit["regret"]["log_E"])
    shown = lawsmith(*args).out
    assert f"  {out / 'trace.json'}\n" in shown
    assert f"  {out / 'charts' / 'answer.png'}\n" in shown


def test_charts_go_where_they_are_asked_for(lawsmith, sweep, tmp_path):
    args = ("--out", tmp_path / "out", "--charts", tmp_path / "drawn")
    lawsmith("replay", sweep, *SHORT, "--iterations", 8, *args)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"trace.json", "steps.csv"}
    assert (tmp_path / "drawn" / "answer.png").is_file()


def interrupted_after(n):
    """The loop, with Ctrl-C instead of its n-th step."""

    def walk(*args, **kwargs):
        for step in replay(*args, **kwargs):
            if step.iteration == n:
                raise KeyboardInterrupt
            yield step

    return walk


def test_ctrl_c_keeps_and_reports_what_was_found(lawsmith, monkeypatch, sweep, tmp_path):
    words = ("replay", sweep, *SHORT, "--iterations", 12)
    whole = lawsmith(*words, "--json").json
    monkeypatch.setattr(replay_run, "replay", interrupted_after(11))
    result = lawsmith(*words, "--json", "--out", tmp_path)
    assert (result.code, result.err) == (130, "")
    assert (result.json["complete"], result.json["stopped"]) == (False, "interrupted")
    assert result.json["trace"] == whole["trace"][:10]
    assert json.loads((tmp_path / "trace.json").read_text(encoding="utf-8")) == result.json
    shown = lawsmith(*words)
    assert shown.code == 130
    assert "interrupted, these results are partial" in shown.text


def test_ctrl_c_before_the_first_run_has_nothing_to_report(lawsmith, monkeypatch, sweep):
    monkeypatch.setattr(replay_run, "replay", interrupted_after(1))
    result = lawsmith("replay", sweep, *SHORT)
    assert (result.code, result.out, result.err) == (130, "", "")


def test_a_real_interrupt_is_one_too(sweep):
    script = (
        "import os, signal, sys\n"
        "import lawsmith.cli.replay as run\n"
        "from lawsmith.cli import main\n"
        "walk = run.replay\n"
        "def interrupted(*args, **kwargs):\n"
        "    for step in walk(*args, **kwargs):\n"
        "        if step.iteration == 12:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "        yield step\n"
        "run.replay = interrupted\n"
        f"sys.exit(main(['replay', {str(sweep)!r}, '--n-init', '6', '--json']))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (130, b"")
    found = json.loads(result.stdout)
    assert found["complete"] is False
    assert len(found["trace"]) in (11, 12)


def test_a_terminal_sees_a_bar_on_stderr_and_stdout_stays_pure(sweep, tmp_path):
    reader, writer = pty.openpty()
    command = [sys.executable, "-m", "lawsmith", "replay", str(sweep), "--n-init", "6", "--json"]
    command += ["--iterations", "12"]
    environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    # To a file: a pipe that nobody reads would fill up and stop the process.
    with (tmp_path / "out.json").open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=writer, env=environment)
        os.close(writer)
        shown = b"".join(iter(lambda: read_or_end(reader), b""))
        assert process.wait() == 0
    os.close(reader)
    assert json.loads((tmp_path / "out.json").read_bytes())["complete"] is True
    assert re.search(r"\d+/45 runs · [\d.]+% spent", shown.decode())


def read_or_end(reader: int) -> bytes:
    try:
        return os.read(reader, 4096)
    except OSError:  # how Linux tells that the other end was closed
        return b""


@pytest.fixture
def steps(task):
    return list(replay(task, make_policy("window", None, n_init=6), stop=Stop(iterations=9)))


def test_the_bar_says_runs_and_spend(task, steps):
    assert re.fullmatch(r"1/45 runs · [\d.]+% spent", described(steps[0], task))
    assert re.fullmatch(r"9/45 runs · [\d.]+% spent", described(steps[-1], task))


def test_the_bar_is_full_at_whatever_ends_the_replay(task, steps):
    last = steps[-1]
    assert share_done(last, task, Stop(iterations=9)) == 1.0
    assert share_done(last, task, Stop(budget=2 * last.cost)) == pytest.approx(0.5)
    assert share_done(last, task, Stop()) == pytest.approx(9 / 45)


def test_collecting_keeps_the_steps_before_an_interrupt(steps):
    def cut():
        yield from steps[:4]
        raise KeyboardInterrupt

    seen = []
    assert collect(cut(), seen.append) == (steps[:4], True)
    assert seen == steps[:4]
    assert collect(steps, seen.append) == (steps, False)


def method(policy="window", surrogate=None, known=None, **given):
    request = ReplayRequest(study="", policy=policy, surrogate=surrogate, n_init=10, **given)
    return options.method(request, known)


def test_options_that_do_not_apply_are_none():
    assert method().settings() == {
        **{"policy": "window", "surrogate": "gp", "kernel": "matern", "priors": "free"},
        **{"scale": "loss", "acquisition": "lcb", "kappa": 2.0},
        **{"reach": 1.5, "slice_by": "C", "n_init": 10, "replicates": False},
    }
    assert method(acquisition="ei").kappa is None
    assert method("full").reach is None
    assert method("full").slice_by is None
    assert (method(surrogate="surface").kernel, method(surrogate="surface").scale) == (None, None)
    told = {name: word for name, word in method("frontier").settings().items() if word is not None}
    kept = {"n_init": 10, "replicates": False}
    assert told == {"policy": "frontier", "surrogate": "surface", **kept}


def test_the_reach_and_the_split_are_the_catalogues_unless_told():
    steplaw = entry("steplaw")
    most = replace(steplaw, hold_out=0.9)
    assert method(known=steplaw).reach == 2.0
    assert method(known=steplaw, reach=1.0).reach == 1.0
    assert method("full", known=steplaw).reach is None
    assert str(options.split(None, LC, most)) == "0.9"
    assert str(options.split(None, LC, None)) == "0.5"
    assert str(options.split(HeldOut.parse("0.3"), LC, most)) == "0.3"
    assert str(options.split(None, CHINCHILLA, most)) == "largest-N"
    assert options.catalogued("porian-hp:beta2") is entry("porian-hp")
    assert options.catalogued("runs.csv") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.05", 0.05), ("5%", 0.05), (" 5 % ", 0.05), ("1", 1.0), ("100%", 1.0), ("1e21", 1e21)],
)
def test_a_budget_up_to_one_is_a_share(text, value):
    assert options.budget(text) == pytest.approx(value)


def test_a_budget_in_flops_is_kept_and_a_share_is_of_the_pool(task):
    assert options.stop_rule(None, 0.25, task).budget == pytest.approx(0.25 * task.total_compute)
    assert options.stop_rule(None, 1e20, task) == Stop(None, 1e20)
    assert options.stop_rule(7, None, task) == Stop(7, None)


def test_targets_are_the_studys_or_the_papers_unless_told(sweep):
    def computes(given, known=None):
        return [target.C for target in options.targets(given, load(str(sweep)), known)]

    assert computes([]) == [1e21]
    assert computes([], entry("oellm-english")) == [1e25, 1e27, 1e29]
    assert computes([], entry("tinylm")) == [1e16, 1e17, 1e18]
    assert computes([("--target", "1e20")], entry("tinylm")) == [1e20]
    given = [("--target", "1e23"), ("--at", "N=1B,D=20B,lr=1e-3"), ("--target", "1e22")]
    assert computes(given) == pytest.approx([1e23, 1.2e20, 1e22])
    with pytest.raises(LawsmithError, match="--at: got 'wd'"):
        options.targets([("--at", "N=1B,D=20B,wd=0.1")], load(str(sweep)))


@pytest.mark.parametrize(
    ("x", "text"), [(4.916, "+4.92%"), (-0.001, "+0.00%"), (0.0, "+0.00%"), (-12.0, "-12.00%")]
)
def test_nearly_nothing_has_no_minus_sign(x, text):
    assert signed(x) == text
