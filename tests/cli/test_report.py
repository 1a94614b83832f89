"""`lawsmith report` and `lawsmith serve` from the command line: what they print, write, refuse."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from lawsmith.cli import main

from ..conftest import extra


@pytest.fixture
def runs(tmp_path):
    """A table of 30 runs."""
    lines = ["N,D,lr,loss"]
    for N in (1e8, 2e8, 4e8, 8e8, 1.6e9):
        for D in (2e9, 8e9, 3.2e10):
            for lr in (1e-3, 2e-3):
                off = 0.02 if lr > 1e-3 else 0.0
                loss = (1.7 + 400 * N**-0.34 + 410 * D**-0.28) * (1 + off)
                lines.append(f"{N:g},{D:g},{lr:g},{loss:.6f}")
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_becomes_a_page_and_the_answer_a_sentence(runs, tmp_path, capsys):
    page = tmp_path / "out" / "report.html"
    assert main(["report", str(runs), "--target", "1e22", "-o", str(page)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "30 runs of a finished study" in out
    found = re.search(
        r"the best loss to expect is (\S+) at 1e22 FLOPs, 95% interval \[(\S+), (\S+)\]\.", out
    )
    value, low, high = map(float, found.groups())
    assert low < value < high
    assert out.endswith(str(page))
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_page_holds_the_very_command_and_the_tables_checksum(runs, tmp_path):
    import hashlib

    page = tmp_path / "report.html"
    words = ["report", str(runs), "--law", "chinchilla", "--where", "lr < 0.0015", "-o", str(page)]
    assert main(words) == 0
    text = page.read_text(encoding="utf-8")
    told = re.search(r'<pre class="command">(lawsmith report .*?)</pre>', text)[1]
    assert "--law chinchilla" in told
    assert "--where &#x27;lr &lt; 0.0015&#x27;" in told
    assert hashlib.sha256(runs.read_bytes()).hexdigest() in text


def test_a_catalogued_study_needs_no_options(tmp_path, capsys):
    page = tmp_path / "demo.html"
    assert main(["report", "synthetic-demo", "-o", str(page)]) == 0
    assert "synthetic-demo" in page.read_text(encoding="utf-8")
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"the best loss to expect is \S+ at 1e21 FLOPs", said)


@pytest.mark.usefixtures("without_charts")
def test_a_replays_folder_and_its_file_are_the_same(sweep, tmp_path, capsys):
    folder = tmp_path / "replay"
    words = ["replay", str(sweep), "--iterations", "14", "--out", str(folder)]
    assert main([*words, "--budget", "40%"]) == 0
    for source in (folder, folder / "trace.json"):
        page = tmp_path / "report.html"
        assert main(["report", str(source), "-o", str(page)]) == 0
        text = page.read_text(encoding="utf-8")
        assert 'id="figure-answer"' in text
        assert 'id="figure-recovery"' not in text
        command = re.search(r'<pre class="command">(lawsmith replay .*?)</pre>', text)[1]
        assert "--budget 40% " in command
        assert "--iterations 14 " in command
    assert "A replay that made" in capsys.readouterr().out


@pytest.mark.usefixtures("without_charts")
def test_the_command_on_record_replays_the_same(sweep, tmp_path, monkeypatch):
    import json
    import shlex

    from lawsmith.cli.report import replay_command

    monkeypatch.chdir(tmp_path)
    words = ["replay", str(sweep), "--policy", "window", "--surrogate", "gp"]
    words += ["--acquisition", "ei", "--iterations", "13", "--seed", "3", "--out", "first"]
    words += ["--target", "1.23456789e24", "--at", "N=1.2345678e9,D=20B,lr=0.001"]
    assert main(words) == 0
    first = json.loads((tmp_path / "first" / "trace.json").read_text())
    again = shlex.split(replay_command(first["study"], first["seed"], first["settings"]))
    assert main(again[1:]) == 0
    second = json.loads((tmp_path / "replay" / "trace.json").read_text())
    assert second["trace"] == first["trace"]
    assert second["settings"] == first["settings"]
    assert second["answers"] == first["answers"]


@pytest.mark.usefixtures("without_charts")
def test_a_replay_of_a_users_table_is_made_again_by_the_command_in_its_report(
    tmp_path, monkeypatch, capsys
):
    import html
    import json
    import re
    import shlex

    monkeypatch.chdir(tmp_path)
    rows = [(1e8 * 2**i, 2e9 * 2**j) for i in range(6) for j in range(6)]
    lines = [f"{N},{D},{1.7 + 400 * N**-0.34 + 410 * D**-0.28:.5f},r" for N, D in rows]
    lines.insert(7, "oops,2e9,3.0,r")
    text = "\n".join(["size,n tok,final,note", *lines]) + "\n"
    (tmp_path / "runs.csv").write_text(text)
    told = ["--columns", "N=size,D=n tok,loss=final", "--skip-bad-rows", "--hold-out", "0.5"]
    words = ["replay", "runs.csv", *told, "--iterations", "13"]
    assert main([*words, "--out", "first"]) == 0
    assert main(["report", "first", "-o", "page.html"]) == 0  # with no option said again
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    commands = [html.unescape(c) for c in re.findall(r'<pre class="command">([^<]+)</pre>', page)]
    assert len(commands) == 2
    again = shlex.split(commands[0])
    assert again[-2:] == ["--out", "first"]  # what the second command reads
    assert shlex.split(commands[1])[:3] == ["lawsmith", "report", "first"]
    first = json.loads((tmp_path / "first" / "trace.json").read_text())
    (tmp_path / "first" / "trace.json").unlink()
    assert main(again[1:]) == 0
    second = json.loads((tmp_path / "first" / "trace.json").read_text())
    assert second["trace"] == first["trace"]
    assert second["settings"] == first["settings"]
    assert second["settings"]["columns"] == {"N": "size", "D": "n tok", "loss": "final"}


def test_a_live_study_by_its_folder(tmp_path, capsys):
    assert main(["init", str(tmp_path / "study.toml")]) == 0
    page = tmp_path / "report.html"
    assert main(["report", str(tmp_path), "-o", str(page)]) == 0
    assert "there is no answer yet" in " ".join(capsys.readouterr().out.split())
    assert 'id="card-progress"' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["report", "{empty}"], "want trace.json"),
        (["report", "no-such-study"], "table: got 'no-such-study'"),
        (["report", "{study}", "--law", "LC"], "--law: got a live study, which has its own"),
        (["report", "{study}", "--at", "N=1,D=2"], "--target or --at: got a live study"),
        (["report", "{study}", "--target", "1e25"], "--target or --at: got a live study"),
        (["report", "synthetic-demo", "--level", "2"], "--level"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words, told, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    main(["init", str(tmp_path / "study.toml")])
    capsys.readouterr()
    places = {"empty": tmp_path / "empty", "study": tmp_path / "study.toml"}
    assert main([word.format(**places) for word in words]) == 2
    found = capsys.readouterr()
    assert told in found.err
    assert len(found.err.splitlines()) == 1


def test_serve_prints_an_address_answers_there_and_ends_with_ctrl_c(tmp_path):
    extra("starlette")
    extra("uvicorn")
    assert main(["init", str(tmp_path / "study.toml")]) == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "lawsmith", "serve", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        text=True,
    )
    try:
        url = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{20,}/", url)
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert "my-study" in answer.read().decode()
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["study.toml"]


def test_a_study_that_is_not_there_cannot_be_served(tmp_path, capsys):
    extra("uvicorn")
    assert main(["serve", str(tmp_path / "none.toml")]) == 2
    found = capsys.readouterr()
    assert "none.toml" in found.err
    assert len(found.err.splitlines()) == 1
