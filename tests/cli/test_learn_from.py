"""`--learn-from`: an earlier study moves the answer, the answer says so, and bad ones are named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.report.sources import live_study


def runs(seed: int, n: int, top: float) -> pd.DataFrame:
    """Runs of a family with steep exponents."""
    rng = np.random.default_rng(seed)
    N = np.exp(rng.uniform(np.log(1e7), np.log(top), n))
    D = N * np.exp(rng.uniform(2.0, 4.5, n))
    return pd.DataFrame({"N": N, "D": D, "loss": law(N, D) * np.exp(rng.normal(0, 2e-3, n))})


def law(N, D):
    return 1.5 + 0.8 * (N / 1e8) ** -0.6 + 0.8 * (D / 2e9) ** -0.5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("learning")
    runs(0, 80, 1e9).to_csv(path / "last.csv", index=False)
    runs(1, 60, 1e9).to_csv(path / "before.csv", index=False)
    for i in range(N_NEW):
        runs(2 + i, 9, 4e7).to_csv(path / f"new{i or ''}.csv", index=False)
    runs(3, 5, 1e9).to_csv(path / "tiny.csv", index=False)
    return path


AT = ("--at", "N=3e9,D=6e10")
N_NEW = 6  # studies that are begun: what is learnt helps on average, not in every draw


def test_fit_learns_from_earlier_studies(fit_json, folder):
    more = ("--learn-from", str(folder / "last.csv"), "--learn-from", str(folder / "before.csv"))
    true, off, widths = float(law(3e9, 6e10)), [], []
    for i in reversed(range(N_NEW)):
        table = folder / f"new{i or ''}.csv"
        plain, taught = fit_json(table, *AT), fit_json(table, *AT, *more)
        answers = [found["answers"][0] for found in (plain, taught)]
        off.append([abs(one["loss"] - true) for one in answers])
        widths.append([np.log(one["high"] / one["low"]) for one in answers])
        assert answers[1]["low"] < true < answers[1]["high"]
    assert np.mean(off, axis=0)[1] < np.mean(off, axis=0)[0]
    assert all(taught < plain for plain, taught in widths)
    assert plain["learnt_from"]["studies"] == []
    assert "chinchilla" in plain["learnt_from"]["public"]
    assert [one["n_runs"] for one in taught["learnt_from"]["studies"]] == [80, 60]
    assert taught["learnt_from"]["studies"][0]["study"] == str(folder / "last.csv")


def test_the_terminal_says_what_was_learnt_from(lawsmith, folder):
    found = lawsmith("fit", folder / "new.csv", *AT, "--learn-from", folder / "last.csv")
    assert "Learnt from: 26 public studies and" in found.text
    assert "last.csv (80 runs)" in found.text.replace("\n", "")


def test_a_live_study_teaches_too(fit_json, folder, tmp_path):
    study = live_study(tmp_path, n_runs=12)
    for source in (study.layout.file, study.layout.folder):
        found = fit_json(folder / "new.csv", *AT, "--learn-from", str(source))
        assert found["learnt_from"]["studies"] == [{"study": str(source), "n_runs": 12}]


def test_a_study_file_names_what_to_learn_from(lawsmith, folder, tmp_path):
    study = live_study(tmp_path / "now", n_runs=12)
    runs(0, 40, 1e9).to_csv(tmp_path / "last.csv", index=False)
    file = study.layout.file
    text = file.read_text(encoding="utf-8")
    before = lawsmith("status", file, "--json").json
    file.write_text('learn_from = ["../last.csv"]\n' + text, encoding="utf-8")
    after = lawsmith("status", file, "--json").json
    assert before["learnt_from"]["studies"] == []
    (lesson,) = after["learnt_from"]["studies"]
    assert lesson == {"study": "../last.csv", "n_runs": 40}
    assert after["answers"] != before["answers"]
    file.write_text('learn_from = ["../gone.csv"]\n' + text, encoding="utf-8")
    gone = lawsmith("status", file)
    assert gone.code == 2
    assert "learn from ../gone.csv" in gone.err


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nowhere.csv", "no such file"),
        ("nowhere", "want one of a path"),
        ("no/study.toml", "want a study file"),
        ("tiny.csv", "got 5 finished runs, want at least 8"),
    ],
)
def test_a_bad_earlier_study_is_named(lawsmith, folder, source, words):
    given = folder / source if "." in source else source
    found = lawsmith("fit", folder / "new.csv", "--learn-from", given)
    assert found.code == 2
    said = " ".join(found.err.split())
    assert f"learn from {given}" in said
    assert words in said


def test_replay_learns_from_earlier_studies(lawsmith, folder):
    more = ("--budget", "20%", "--target", "1e21", "--json")
    plain = lawsmith("replay", folder / "last.csv", *more).json
    taught = lawsmith("replay", folder / "last.csv", *more, "--learn-from", folder / "before.csv")
    assert taught.code == 0
    assert taught.json["settings"]["learn_from"] == [str(folder / "before.csv")]
    assert taught.json["learnt_from"]["studies"][0]["n_runs"] == 60
    assert taught.json["answers"] != plain["answers"]
