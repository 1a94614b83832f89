"""The application as a whole: help, version, usage errors, exit codes, what is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

import pytest

import lawsmith.cli.app
from lawsmith import __version__
from lawsmith.cli.commands import COMMANDS, DATASETS, LIVE
from lawsmith.errors import LawsmithError

HEAVY = ("numpy", "pandas", "scipy", "altair", "pyarrow")


def python(*args: str, **kwargs: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "80"}
    return subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, env=environment, check=False
    )


def test_help_names_every_command(lawsmith):
    result = lawsmith("--help")
    assert result.code == 0
    assert result.err == ""
    for command in ("fit", "replay", "demo", "datasets"):
        assert f" {command} " in result.out


def test_without_a_command_there_is_help(lawsmith):
    result = lawsmith()
    assert result.code == 0
    assert "Usage: lawsmith" in result.out


def test_version(lawsmith):
    assert lawsmith("--version").out == f"lawsmith {__version__}\n"


@pytest.mark.parametrize(
    "args",
    [
        *(["--help"], ["--version"], ["fit", "--help"], ["replay", "-h"], ["datasets", "-h"]),
    ],
)
def test_asking_for_help_imports_nothing_heavy(args):
    script = (
        "import sys\n"
        "from lawsmith.cli import main\n"
        f"main({args!r})\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    result = python("-c", script)
    assert result.stderr.splitlines()[-1] == "[]"


def test_only_serve_needs_the_packages_of_serve():
    absent = "import sys; sys.modules |= dict.fromkeys(('starlette', 'uvicorn'))"
    others = "run, check, report, fit_view, replay"
    done = python("-c", f"{absent}; from lawsmith.cli import {others}")
    assert done.returncode == 0, done.stderr
    assert python("-c", f"{absent}; import lawsmith.cli.serve").returncode != 0


@pytest.mark.parametrize("request_", [*COMMANDS.values(), *LIVE.values(), *DATASETS.values()])
def test_every_command_names_the_function_that_does_it(request_):
    module, _, name = request_.runs.partition(":")
    if module.endswith(".serve"):
        pytest.importorskip("starlette")
    assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize(("command", "field"), [("count", "as-json"), ("cancel", "everything")])
def test_an_option_goes_by_its_own_name_and_not_by_that_of_its_field(lawsmith, command, field):
    assert lawsmith(command, f"--{field}").err.startswith(
        f"error: lawsmith {command}: no such option: --{field}"
    )
    assert field not in lawsmith(command, "--help").out


def test_the_package_can_be_run_as_a_module():
    result = python("-m", "lawsmith", "--version")
    assert (result.returncode, result.stdout) == (0, f"lawsmith {__version__}\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["ft"], "lawsmith: no such command 'ft'. Did you mean 'fit'?"),
        (["fit"], "lawsmith fit: missing argument 'TABLE'"),
        (["fit", "a.csv", "b.csv"], "lawsmith fit: got unexpected extra argument(s) (b.csv)"),
        (["fit", "a.csv", "--laww", "LC"], "no such option: --laww, did you mean"),
        (["fit", "a.csv", "--law"], "Option '--law' requires an argument"),
        (["datasets", "lst"], "no such command 'lst'. Did you mean 'list'?"),
        (["demo", "--seed", "x"], "--seed: got 'x', want a whole number from 0"),
    ],
)
def test_a_usage_error_is_one_line_and_exit_code_2(lawsmith, args, message):
    result = lawsmith(*args)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert message.lower() in result.err.lower()
    assert result.err.count("\n") == 1


def test_an_error_of_several_lines_is_printed_as_one(lawsmith, monkeypatch):
    def fail(**_):
        raise LawsmithError("a\ntable", got="x", want="y")

    monkeypatch.setattr(lawsmith_app(), "app", fail)
    result = lawsmith("fit")
    assert (result.code, result.err) == (2, "error: a table: got x, want y\n")


def test_an_interrupt_ends_quietly_with_130(lawsmith, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("lawsmith.datasets.names", interrupt)
    result = lawsmith("datasets", "list")
    assert (result.code, result.out, result.err) == (130, "", "")


def lawsmith_app():
    return sys.modules[lawsmith.cli.app.__name__]


@pytest.mark.parametrize("args", ["datasets list", "fit synthetic-demo --json"])
def test_a_reader_that_leaves_is_no_error(args):
    command = f"{sys.executable} -m lawsmith {args} | true"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert result.stderr == ""


def test_a_terminal_without_greek_letters_shows_question_marks():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = subprocess.run(
        [sys.executable, "-m", "lawsmith", "fit", "synthetic-demo"],
        capture_output=True,
        env=environment,
        check=False,
    )
    assert result.returncode == 0
    assert b"L(C) = E + A?C^?" in result.stdout
