"""The commands of live studies as typed: what they print, what they refuse, what they leave."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from tests.runners.contract import until_file
from tests.study.studies import N_CANDIDATES, shell, small_study, study_text

from lawsmith.journal import Kind, make


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A study file."""
    path = tmp_path / "study.toml"
    path.write_text(study_text())
    return path


def test_init_writes_a_study_that_check_likes(lawsmith, tmp_path: Path):
    path = tmp_path / "new" / "study.toml"
    assert lawsmith("init", path).code == 0
    (path.parent / "train.py").touch()
    result = lawsmith("check", path)
    assert (result.code, result.err) == (0, "")
    assert "my-study: study.toml is in order" in result.out
    again = lawsmith("init", path)
    assert again.code == 2
    assert "there already" in again.err


def test_check_tells_what_the_budget_buys(lawsmith, file: Path):
    result = lawsmith("check", file)
    assert (
        "20 candidates, of 24 before the constraints: 2 models × 3 D × 2 lr × 2 opt" in result.text
    )
    assert "the 20 cheapest candidates" in result.text
    told = lawsmith("check", file, "--json").json
    assert told["candidates"] == N_CANDIDATES
    assert told["warnings"]


def test_run_drives_a_study_to_its_end_and_shows_it(lawsmith, file: Path):
    result = lawsmith("run", file)
    assert result.code == 0
    assert f"{N_CANDIDATES} finished" in result.out
    assert "no candidate is left" in result.text
    assert result.err.count("loss 3.5000") == N_CANDIDATES
    told = lawsmith("status", file, "--json").json
    assert told["runs"]["finished"] == N_CANDIDATES
    assert told["ended"] == "candidates"
    assert len(told["trials"]) == N_CANDIDATES


def test_run_again_does_nothing_more(lawsmith, file: Path):
    lawsmith("run", file, "--quiet")
    before = (file.parent / "journal.jsonl").read_bytes()
    result = lawsmith("run", file, "--json")
    assert (result.code, result.err) == (0, "")
    assert (file.parent / "journal.jsonl").read_bytes() == before


def test_status_of_a_study_that_has_not_begun_writes_nothing(lawsmith, file: Path):
    result = lawsmith("status", file)
    assert result.code == 0
    assert "none yet" in result.out
    assert "No answer yet" in result.out
    assert "Next, if no further result comes in" in result.out
    assert list(file.parent.iterdir()) == [file]


def test_status_tells_what_stopping_saved(lawsmith, tmp_path: Path):
    study = small_study(tmp_path, ("flops = 1e30", "flops = 1e21"))
    study.begin()
    asked = {"config": dict(study.candidates.configs[0]), "by": "run", "cost": 1e20}
    study.journal.update(
        lambda _: [
            make(Kind.ASKED, "t0001", **asked),
            make(Kind.SUBMITTED, "t0001", attempt=1, handle="local"),
            make(Kind.CANCELLING, "t0001", reason="stopped"),
            make(Kind.CANCELLED, "t0001", trained=2.5e7),
        ]
    )
    said = "stopped 1 run stopped before the end: 7.5e19 FLOPs saved, 7.5% of the budget"
    assert said in lawsmith("status", study.layout.file).text


def test_watch_ends_with_the_study(lawsmith, file: Path):
    lawsmith("run", file, "--quiet")
    assert "no candidate is left" in lawsmith("status", file, "--watch").text


def test_ask_and_tell_go_round(lawsmith, file: Path):
    asked = lawsmith("ask", file, "-n", 4, "--json").json
    assert [run["trial"] for run in asked] == ["t0001", "t0002", "t0003", "t0004"]
    assert {"model", "layers", "N", "D", "lr", "opt"} == set(asked[0]["config"])
    results = file.parent / "results.json"
    results.write_text(json.dumps([{"trial": r["trial"], "loss": 3.0} for r in asked[:2]]))
    assert lawsmith("tell", file, results).out == "2 recorded\n"
    assert lawsmith("tell", file, results).out == "0 recorded, 2 already known\n"
    assert lawsmith("tell", file, "--trial", "t0003", "--loss", "nan").code == 0
    report = lawsmith("tell", file, "--trial", "t0004", "--loss", 4.5, "--tokens", 1e7, "--json")
    assert report.json[0]["event"] == "reported"
    told = lawsmith("status", file, "--json").json
    assert (told["runs"]["finished"], told["runs"]["diverged"], told["runs"]["asked"]) == (2, 1, 1)
    assert "4.5000 at 10M tokens" in lawsmith("status", file).out


def test_ask_says_why_and_among_how_many_it_chose(lawsmith, file: Path, monkeypatch):
    monkeypatch.setattr("lawsmith.study.asking.MOST_CANDIDATES", 4)
    assert "  (" in (out := lawsmith("ask", file).out)
    assert "of 4 among " in out
    assert "among " in lawsmith("ask", file, "--json").json[0]["why"]


def test_ask_says_when_there_is_nothing_left(lawsmith, tmp_path: Path):
    small_study(tmp_path, ("flops = 1e30", "flops = 7e15"))
    assert lawsmith("ask", tmp_path / "study.toml", "-n", 3).out.count("\n") == 1
    again = lawsmith("ask", tmp_path / "study.toml")
    assert again.code == 2
    assert "got a budget that is committed" in again.err


def test_a_loss_far_from_all_others_is_asked_about(lawsmith, file: Path, monkeypatch):
    asked = lawsmith("ask", file, "-n", 3, "--json").json
    names = [one["trial"] for one in asked]
    for name, loss in zip(names, (3.7, 3.5), strict=False):
        assert lawsmith("tell", file, "--trial", name, "--loss", loss).code == 0
    slip = ("tell", file, "--trial", names[2], "--loss", 372)
    refused = lawsmith(*slip)
    assert refused.code == 2
    assert "a loss of 372, after 3.5 to 3.7 so far" in refused.err
    assert "--force" in refused.err
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", _answer(False))
    assert lawsmith(*slip).code == 130
    monkeypatch.setattr("typer.confirm", _answer(True))
    assert lawsmith(*slip).out == "1 recorded\n"


def _answer(yes: bool) -> Callable[..., bool]:
    """What a person says to a question."""

    def confirm(*_: object, **__: object) -> bool:
        if not yes:
            raise typer.Abort
        return True

    return confirm


def test_import_export_and_fit_work_on_one_table(lawsmith, file: Path):
    lawsmith("run", file, "--quiet")
    table = file.parent / "runs.csv"
    assert lawsmith("export", file, "--out", table).code == 0
    assert (
        table.read_text().splitlines()[0].startswith("trial,state,by,model,N,D,lr,opt,C,cost,loss")
    )
    assert lawsmith("export", file).out == table.read_text()
    assert len((lines := lawsmith("export", file, "--out", file.parent / "a.jsonl")).out) == 0, (
        lines
    )
    done = lawsmith("import", file, table, "--json").json
    assert (done["imported"], done["known"], done["unmatched"]) == (0, N_CANDIDATES, 0)


def test_an_export_with_divergences_is_read_by_fit(lawsmith, file: Path):
    asked = lawsmith("ask", file, "-n", 8, "--json").json
    for i, run in enumerate(asked):
        loss = (
            "nan"
            if i == 0
            else 2 + 400 * run["config"]["N"] ** -0.34 + 1e3 / run["config"]["D"] ** 0.3
        )
        lawsmith("tell", file, "--trial", run["trial"], "--loss", loss)
    table = file.parent / "runs.csv"
    lawsmith("export", file, "--out", table)
    result = lawsmith("fit", table, "--law", "LC")
    assert "diverged    1 run" in result.out


def test_exclude_drops_candidates_and_takes_results_back(lawsmith, file: Path):
    assert (
        lawsmith("exclude", file, "--where", "opt == 'muon'").out
        == "10 of 20 candidates excluded\n"
    )
    asked = lawsmith("ask", file, "-n", 30, "--json").json
    assert len(asked) == 10
    lawsmith("tell", file, "--trial", "t0001", "--loss", 3)
    assert lawsmith("exclude", file, "--trial", "t0001", "--because", "typo").out.startswith("1 ")
    told = lawsmith("status", file, "--json").json
    assert (told["excluded"], told["runs"]["quarantined"]) == (10, 1)
    assert told["failures"][0]["detail"] == "typo"


def test_cancel_all_calls_everything_off(lawsmith, file: Path):
    lawsmith("ask", file, "-n", 2)
    assert lawsmith("cancel", file, "--all").out == "t0001 cancelled\nt0002 cancelled\n"
    assert lawsmith("cancel", file, "--all").out == "nothing was under way\n"


def test_plan_forecasts_an_interval(lawsmith, tmp_path: Path):
    change = ('name = "full"\nsurrogate = "surface"', "n_init = 4")
    small_study(tmp_path, change, ("flops = 1e30", "flops = 2e18"))
    result = lawsmith("plan", tmp_path / "study.toml", "--draws", 1)
    assert result.code == 0
    assert "± at 1e21" in result.out
    told = lawsmith("plan", tmp_path / "study.toml", "--draws", 1, "--json").json
    assert told["expected"][-1]["half_width"][0] > 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["tell", "STUDY"], "tell: got neither"),
        (["tell", "STUDY", "--trial", "t0001"], "--loss: got nothing"),
        (["tell", "STUDY", "--trial", "t0001", "--loss", "x"], "--loss: got 'x'"),
        (["tell", "STUDY", "--trial", "t0001", "--loss", "3"], "got trial 't0001'"),
        (["tell", "STUDY", "no.json"], "no.json: got No such file"),
        (["ask", "STUDY", "-n", "0"], "want a whole number from 1"),
        (["ask", "no.toml"], "no.toml: got no such file"),
        (["import", "STUDY", "no.csv"], "no.csv: got no such file"),
        (["exclude", "STUDY"], "exclude: got neither"),
        (["exclude", "STUDY", "--where", "N >"], "expression"),
        (["cancel", "STUDY"], "cancel: got neither"),
        (["cancel", "STUDY", "t0009"], "got 't0009'"),
        (["export", "STUDY", "--out", "x.pkl"], "want a name that ends in .csv or .jsonl"),
        (["check", "no.toml"], "no.toml: got no such file"),
        (["run", "no.toml"], "no.toml: got no such file"),
        (["status", "no.toml"], "no.toml: got no such file"),
        (["plan", "STUDY", "--draws", "-1"], "want a whole number from 0"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(lawsmith, file: Path, monkeypatch, args, message):
    monkeypatch.chdir(file.parent)
    result = lawsmith(*[str(file) if arg == "STUDY" else arg for arg in args])
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert message in result.err


def test_study_toml_is_the_file_that_is_meant_when_none_is_named(lawsmith, file, monkeypatch):
    monkeypatch.chdir(file.parent)
    assert lawsmith("ask").code == 0
    assert "1 asked" in lawsmith("status").out


def test_the_journal_of_another_study_is_refused(lawsmith, file: Path):
    lawsmith("ask", file)
    file.write_text(study_text(('name = "small"', 'name = "other"')))
    result = lawsmith("ask", file)
    assert result.code == 2
    assert "got the journal of study 'small', want one of 'other'" in result.err


def start(file: Path, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lawsmith", "run", str(file), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_second_driver_is_told_who_the_first_is_and_ctrl_c_leaves_all_resumable(
    lawsmith, tmp_path: Path
):
    line = 'echo $$ > pid; while [ ! -e "$LAWSMITH_STUDY/go" ]; do sleep 0.05; done; '
    study = small_study(tmp_path, shell(line + 'echo "{\\"loss\\": 3.0}" > result.json'))
    file = study.layout.file
    first = start(file)
    until_file(study.layout.attempt("t0002", 1) / "pid")
    second = lawsmith("run", file)
    assert second.code == 2
    assert f"process {first.pid} on {socket.gethostname()}" in second.err
    assert f"process {first.pid}" in lawsmith("status", file).text
    os.kill(first.pid, signal.SIGINT)
    _, err = first.communicate(timeout=60)
    assert first.returncode == 130
    assert "2 runs under way and left alone" in err
    assert "Traceback" not in err
    pid = int((study.layout.attempt("t0001", 1) / "pid").read_text())
    assert Path(f"/proc/{pid}").exists()
    (tmp_path / "go").touch()
    told = lawsmith("run", file, "--quiet", "--json").json
    assert told["runs"]["finished"] == N_CANDIDATES
    assert {trial["attempt"] for trial in told["trials"]} == {1}


def test_telling_and_excluding_while_a_driver_runs_lose_nothing(lawsmith, tmp_path: Path):
    study = small_study(tmp_path, shell('sleep 0.05; echo "{\\"loss\\": 3.0}" > result.json'))
    file = study.layout.file
    asked = lawsmith("ask", file, "-n", 4, "--json").json
    driver = start(file, "--quiet")
    until_file(study.layout.attempt("t0005", 1) / "result.json")  # those asked for are left to us
    for run in asked:
        assert lawsmith("tell", file, "--trial", run["trial"], "--loss", 2.5).code == 0
    assert lawsmith("exclude", file, "--where", "D > 1e9 and lr > 0.002").code == 0
    assert driver.wait(timeout=60) == 0
    driver.communicate()
    told = lawsmith("status", file, "--json").json
    by_hand = [t for t in told["trials"] if t["by"] == "hand"]
    assert [t["loss"] for t in by_hand] == [2.5] * 4
    assert all(t["state"] in ("finished", "cancelled") for t in told["trials"])
    configs = [json.dumps(t["config"]) for t in told["trials"]]
    assert len(set(configs)) == len(configs)


def test_a_torn_journal_is_remarked_upon_and_gone_on_with(lawsmith, file: Path):
    lawsmith("ask", file)
    journal = file.parent / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"event": "fin')
    assert "cut off by a crash" in lawsmith("status", file).text
    assert lawsmith("ask", file).code == 0
    assert "torn" not in lawsmith("status", file).text


def test_asking_imports_no_tables_or_charts(file: Path):
    script = (
        "import sys\n"
        "from lawsmith.cli import main\n"
        f"main(['ask', {str(file)!r}])\n"
        "heavy = [n for n in ('pandas', 'pyarrow', 'altair') if n in sys.modules]\n"
        "print(heavy, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"
