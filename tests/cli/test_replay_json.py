"""`lawsmith replay --json`: its contract, and its metrics recomputed from the table it replays."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
from contextlib import redirect_stdout

import numpy as np
import pytest
from scipy.optimize import minimize

from lawsmith.cli import main
from lawsmith.datasets import demo_study

TARGETS = {"1e25": 1e25, "1e27": 1e27, "1e29": 1e29}


@pytest.fixture
def table(sweep):
    """Columns of the sweep as the file has them: the test's own reading."""
    with sweep.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0]}
    return columns | {"C": 6 * columns["N"] * columns["D"]}


@pytest.fixture(scope="module", params=["frontier", "window"])
def whole(sweep, request):
    """A replay to the end of the pool."""
    args = ["replay", str(sweep), "--hold-out", "0.9", "--n-init", "6", "--seed", "1", "--json"]
    args += ["--policy", "window"] if request.param == "window" else []  # frontier by default
    args += [word for label in TARGETS for word in ("--target", label)]
    with redirect_stdout(io.StringIO()) as out:
        assert main(args) == 0
    return json.loads(out.getvalue())


def pool_of(table):
    return np.flatnonzero(table["C"] < 0.1 * table["C"].max())


def pareto(C, loss):
    """Rows below every loss at no more compute, by comparing each with each."""
    rows = [i for i in range(len(C)) if not math.isnan(loss[i])]
    kept = [
        i for i in rows if not any(C[j] <= C[i] and loss[j] <= loss[i] and j != i for j in rows)
    ]
    return sorted(kept, key=lambda i: C[i])


def law(params, C):
    return params["E"] + params["A"] * np.asarray(C) ** params["alpha"]


def huber(theta, C, loss):
    """The objective of the law, written anew: Huber(1e-3) of log loss, summed."""
    E, A, alpha = theta
    r = np.log(np.exp(E) + np.exp(A + alpha * np.log(C))) - np.log(loss)
    a = np.abs(r)
    return float(np.where(a <= 1e-3, 0.5 * r**2, 1e-3 * (a - 0.5e-3)).sum())


def test_the_object_has_the_promised_keys(whole, request):
    assert set(whole) >= {
        *("version", "study", "synthetic", "policy", "seed", "settings", "law", "pool"),
        *("reference", "trace", "summary", "complete", "answers", "verdict", "whole_pool"),
        *("held_out_runs", "answer_warnings"),
    }
    policy = request.node.callspec.params["whole"]
    assert (whole["policy"], whole["seed"], whole["law"]) == (policy, 1, "LC")
    assert (whole["synthetic"], whole["complete"], whole["stopped"]) == (False, True, "exhausted")
    assert set(whole["settings"]) >= {
        *("surrogate", "kernel", "priors", "scale", "acquisition", "kappa", "reach", "n_init"),
        *("law", "hold_out", "stop_when", "trunk_decay"),
    }
    assert set(whole["pool"]) >= {"n", "total_compute", "rows"}
    assert set(whole["reference"]) >= {
        *("params", "log_params", "n_points", "held_out_mse", "held_out_mse_beyond", "pool_mse"),
        *("envelope", "global", "losses"),
    }
    assert set(whole["reference"]["global"]) == {"params", "log_params", "n_points"}
    step = whole["trace"][-1]
    assert set(step) == {
        *("iteration", "candidate", "config", "loss", "compute", "cost", "cost_fraction"),
        *("window", "fits", "envelope"),
    }
    assert set(step["config"]) == {"N", "D", "lr"}
    assert set(step["envelope"]) == {"mixed", "observed"}
    assert set(step["fits"]) == {"observed", "fantasized"}
    for fit in step["fits"].values():
        assert set(fit) == {
            *("params", "log_params", "n_points", "regret", "held_out_mse"),
            *("held_out_mse_beyond", "pool_mse", "extrapolation"),
        }
        assert list(fit["regret"]) == ["E", "A", "alpha", "log_E", "log_A"]
        assert list(fit["extrapolation"]) == list(TARGETS)


def test_before_the_initial_design_is_complete_there_is_no_law(whole):
    for step in whole["trace"][:5]:
        assert step["fits"] == {"observed": None, "fantasized": None}
        assert (step["window"], step["envelope"]["mixed"]) == (None, None)
    assert whole["trace"][5]["fits"]["fantasized"] is not None
    assert whole["trace"][6]["window"] is not None


def test_it_ends_with_the_whole_pool_run_once_and_every_metric_converged(whole, table):
    pool = pool_of(table)
    candidates = [step["candidate"] for step in whole["trace"]]
    assert sorted(candidates) == list(range(len(pool)))
    assert whole["pool"]["rows"] == pool.tolist()
    last = whole["trace"][-1]
    assert last["cost_fraction"] == 1.0
    assert last["envelope"] == {"mixed": 1.0, "observed": 1.0}
    for fit in last["fits"].values():
        assert set(fit["regret"].values()) == {0.0}
        assert set(fit["extrapolation"].values()) == {0.0}
        assert fit["held_out_mse"] == whole["reference"]["held_out_mse"]


def test_what_a_candidate_is_can_be_looked_up_in_the_table(whole, table):
    pool = pool_of(table)
    cost = 0.0
    for i, step in enumerate(whole["trace"], start=1):
        row = pool[step["candidate"]]
        assert step["iteration"] == i
        assert step["config"] == {name: table[name][row] for name in ("N", "D", "lr")}
        loss = table["loss"][row]
        assert step["loss"] == (None if math.isnan(loss) else pytest.approx(loss))
        cost += table["C"][row]
        assert step["compute"] == pytest.approx(table["C"][row])
        assert step["cost"] == pytest.approx(cost)
        assert step["cost_fraction"] == pytest.approx(cost / table["C"][pool].sum())


def test_the_reference_is_the_optimum_on_the_pools_frontier(whole, table):
    pool = pool_of(table)
    C, loss = table["C"][pool], table["loss"][pool]
    rows = pareto(C, loss)
    reference = whole["reference"]
    assert reference["envelope"] == rows
    assert reference["n_points"] == len(rows)
    check_optimum(reference, C[rows], loss[rows])
    held = np.setdiff1d(np.arange(len(table["C"])), pool)
    front = held[pareto(table["C"][held], table["loss"][held])]
    error = (law(reference["params"], table["C"][front]) - table["loss"][front]) ** 2
    assert reference["held_out_mse"] == pytest.approx(error.mean())
    cheaper = [loss[np.less_equal(C, table["C"][i])] for i in front]
    below = [not (cheap <= table["loss"][i]).any() for cheap, i in zip(cheaper, front, strict=True)]
    assert reference["held_out_mse_beyond"] == pytest.approx(error[below].mean())
    everything = pareto(table["C"], table["loss"])
    check_optimum(reference["global"], table["C"][everything], table["loss"][everything])
    for label, at in TARGETS.items():
        assert reference["losses"][label] == pytest.approx(float(law(reference["params"], at)))


def check_optimum(found, C, loss):
    """Nelder–Mead started there finds nothing better, and logs are those of the parameters."""
    params, logs = found["params"], found["log_params"]
    theta = np.array([logs["E"], logs["A"], params["alpha"]])
    assert theta[:2] == pytest.approx(np.log([params["E"], params["A"]]))
    value = huber(theta, C, loss)
    best = minimize(huber, theta, (C, loss), method="Nelder-Mead", options={"maxiter": 4000}).fun
    assert value <= best * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("number", [10, 20, 33])
def test_the_metrics_of_a_step_are_recomputed_from_candidates_and_table(whole, table, number):
    pool, reference = pool_of(table), whole["reference"]
    C, loss = table["C"][pool], table["loss"][pool]
    run = [step["candidate"] for step in whole["trace"][:number]]
    known = np.full(len(pool), np.nan)
    known[run] = loss[run]
    rows = pareto(C, known)
    step = whole["trace"][number - 1]
    shared = set(rows) & set(pareto(C, loss))
    assert step["envelope"]["observed"] == pytest.approx(len(shared) / len(pareto(C, loss)))
    assert step["fits"]["observed"]["n_points"] == len(rows)
    check_optimum(step["fits"]["observed"], C[rows], loss[rows])
    for fit in step["fits"].values():
        check_scores(fit, reference, table, pool)


def check_scores(fit, reference, table, pool):
    for name, value in fit["params"].items():
        assert fit["regret"][name] == pytest.approx(abs(value - reference["params"][name]))
    for name, value in fit["log_params"].items():
        off = abs(value - reference["log_params"][name])
        assert fit["regret"][f"log_{name}"] == pytest.approx(off)
    for label, at in TARGETS.items():
        off = 100 * (law(fit["params"], at) / law(reference["params"], at) - 1)
        assert fit["extrapolation"][label] == pytest.approx(float(off), rel=1e-6, abs=1e-9)
    held = np.setdiff1d(np.arange(len(table["C"])), pool)
    front = held[pareto(table["C"][held], table["loss"][held])]
    error = (law(fit["params"], table["C"][front]) - table["loss"][front]) ** 2
    assert fit["held_out_mse"] == pytest.approx(error.mean())
    C, loss = table["C"][pool], table["loss"][pool]
    rows = pareto(C, loss)
    at_pool = (law(fit["params"], C[rows]) - loss[rows]) ** 2
    assert fit["pool_mse"] == pytest.approx(at_pool.mean())


def test_the_summary_is_read_off_the_trace(whole):
    for row in whole["summary"]["budgets"]:
        past = [s for s in whole["trace"] if s["cost_fraction"] <= row["budget"] + 1e-12]
        assert row["iteration"] == len(past)
        assert row["fits"] == past[-1]["fits"]
    assert whole["summary"]["budgets"][-1]["budget"] == 1.0


def test_the_window_never_offers_a_run_beyond_its_reach(replay_json, sweep):
    found = replay_json(sweep, "--n-init", 6, "--policy", "window", "--reach", 1)
    levels = sorted({step["compute"] for step in found["trace"]})
    top = 0.0
    for step in found["trace"]:
        if step["window"] is not None:
            above = [level for level in levels if level > top * (1 + 1e-9)]
            assert step["window"] <= (above[0] if above else top) * (1 + 1e-9)
            assert step["compute"] <= step["window"]
        top = max(top, step["compute"])


@pytest.mark.parametrize("name", ["N", "D"])
def test_a_window_may_climb_by_slices_of_constant_n_or_d(replay_json, name):
    """Never more than one level of it above the runs so far, whatever the compute."""
    words = ("synthetic-demo", "--policy", "window", "--reach", 1, "--iterations", 24)
    found = replay_json(*words, "--slice-by", name)
    assert found["settings"]["slice_by"] == name
    values = [step["config"][name] for step in found["trace"]]
    levels = sorted(set(demo_study().grid.numbers(name)))
    for n in range(10, len(values)):
        assert levels.index(values[n]) <= levels.index(max(values[:n])) + 1
    plain = replay_json(*words)
    assert plain["settings"]["slice_by"] == "C"
    order, usual = ([s["candidate"] for s in made["trace"]] for made in (found, plain))
    assert order[:10] == usual[:10]
    assert order != usual


def test_slices_of_compute_are_the_default(replay_json, sweep):
    words = ("--n-init", 6, "--policy", "window", "--iterations", 14)
    assert replay_json(sweep, *words, "--slice-by", "C") == replay_json(sweep, *words)


def test_a_law_of_N_and_D_holds_out_the_largest_N(replay_json, sweep):
    found = replay_json(sweep, "--law", "chinchilla", "--n-init", 6, "--iterations", 30)
    assert found["settings"]["hold_out"] == "largest-N"
    assert max(step["config"]["N"] for step in found["trace"]) == 1.6e8
    assert found["reference"]["n_points"] == 12
    last = found["trace"][-1]["fits"]["fantasized"]
    assert list(last["regret"]) == [
        *("E", "A", "alpha", "B", "beta", "log_E", "log_A", "log_B"),
    ]


def test_targets_are_those_of_the_command_line_in_their_order(replay_json, sweep):
    short = (sweep, "--n-init", 6, "--iterations", 8)
    found = replay_json(*short, "--target", "3e23", "--at", "N=1B,D=20B", "--target", "1e22")
    sized = {"C": 1.2e20, "N": 1e9, "D": 2e10}
    assert found["settings"]["targets"] == [3e23, pytest.approx(sized), 1e22]
    assert [a["compute"] for a in found["answers"]] == pytest.approx([3e23, 1.2e20, 1e22])
    assert list(found["reference"]["losses"]) == ["3e23", "1e22"]
    unsaid = replay_json(*short)
    assert unsaid["settings"]["targets"] == [1e21]  # the sweep ends at 2.5e20
    assert unsaid["trace"] != []


def test_the_answer_is_held_against_the_whole_pools_and_against_what_was_held_out(whole, table):
    assert len(whole["answers"]) == len(whole["whole_pool"]["answers"]) == len(TARGETS)
    for one, all_runs in zip(whole["answers"], whole["whole_pool"]["answers"], strict=True):
        assert one == all_runs  # the pool is exhausted, and has no replicates
    judged = whole["held_out_runs"]
    held = np.setdiff1d(np.arange(len(table["C"])), pool_of(table))
    front = held[pareto(table["C"][held], table["loss"][held])]
    assert [run["row"] for run in judged["runs"]] == front.tolist()
    assert [run["loss"] for run in judged["runs"]] == pytest.approx(table["loss"][front].tolist())
    inside = [run["run_low"] <= run["loss"] <= run["run_high"] for run in judged["runs"]]
    assert judged["n_inside"] == sum(inside)
    off = [abs(run["predicted"] / run["loss"] - 1) for run in judged["runs"]]
    assert judged["median_error"] == pytest.approx(float(np.median(off)))


@pytest.mark.parametrize(
    ("args", "n_steps", "stopped"),
    [
        (["--iterations", "12"], 12, "iterations"),
        (["--iterations", "1000"], 45, "exhausted"),
        (["--budget", "1"], 45, "exhausted"),
        (["--budget", "100%"], 45, "exhausted"),
    ],
)
def test_it_stops_when_told(replay_json, sweep, args, n_steps, stopped):
    found = replay_json(sweep, "--n-init", 6, "--policy", "window", *args)
    assert (len(found["trace"]), found["stopped"], found["complete"]) == (n_steps, stopped, True)


def test_a_budget_is_a_share_a_percentage_or_flops(replay_json, sweep):
    total = replay_json(sweep, "--iterations", 1)["pool"]["total_compute"]
    found = [
        replay_json(sweep, "--n-init", 6, "--budget", text)
        for text in ("0.1", "10%", f"{0.1 * total:.17g}")
    ]
    assert found[0]["settings"]["budget"] == pytest.approx(0.1)
    assert found[0]["trace"] == found[1]["trace"] == found[2]["trace"]
    assert found[0]["trace"][-1]["cost_fraction"] <= 0.1
    assert found[0]["stopped"] == "budget"
    # It stood there when the next run would have cost too much, so the 10 % row is known.
    assert [row["budget"] for row in found[0]["summary"]["budgets"]][-1] == 0.1


def test_the_paper_sets_the_reach_and_the_split_of_a_published_study(published, replay_json):
    published("steplaw")
    found = replay_json("steplaw", "--policy", "window", "--iterations", 1)
    assert found["settings"] | {"reach": 2.0, "hold_out": "0.5"} == found["settings"]
    assert found["pool"]["n"] == 1864


def test_oellm_english_starts_as_the_reading_of_the_paper_says(published, replay_json):
    published("oellm-english")
    found = replay_json("oellm-english", "--policy", "window", "--iterations", 30)
    assert found["pool"]["n"] == 879
    assert found["pool"]["total_compute"] == pytest.approx(1.828e23, rel=1e-3)
    assert found["reference"]["n_points"] == 21
    assert found["reference"]["log_params"]["E"] == pytest.approx(0.4498, abs=5e-4)
    start = found["trace"][:10]
    assert {step["config"]["N"] for step in start} == {min(s["config"]["N"] for s in start)}
    assert start[-1]["cost_fraction"] == pytest.approx(3e-4, abs=2e-4)


def test_a_synthetic_study_is_labelled(replay_json):
    found = replay_json("synthetic-demo", "--iterations", 12)
    assert found["synthetic"] is True
    assert any("synthetic" in note for note in found["notes"])


def test_another_process_and_another_number_of_threads_change_no_byte(sweep):
    def run(threads: str, seed: str) -> str:
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        command = [sys.executable, "-m", "lawsmith", "replay", str(sweep), "--json"]
        command += ["--n-init", "6", "--iterations", "20", "--seed", seed]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        return done.stdout

    first = run("1", "3")
    assert json.loads(first)["complete"] is True
    assert run("2", "3") == first
    assert run("1", "4") != first
