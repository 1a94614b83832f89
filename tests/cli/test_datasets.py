"""`lawsmith datasets`: list, show, fetch, and what they say offline."""

from __future__ import annotations

import pytest

from lawsmith.datasets import names


@pytest.fixture
def nowhere(monkeypatch, own_cache):
    """No tables, and no network: every download fails as it does offline."""
    monkeypatch.delenv("LAWSMITH_DATA", raising=False)

    def offline(*_, **__):
        raise OSError(-2, "Name or service not known")

    monkeypatch.setattr("urllib.request.urlopen", offline)
    return own_cache


def test_the_list_names_every_study_with_its_state(lawsmith, nowhere):
    result = lawsmith("datasets", "list")
    assert (result.code, result.err) == (0, "")
    for name in names():
        assert f"  {name} " in result.out
    assert "oellm-english 909 none stated absent" in result.text
    assert "porian-hp 566 MIT by hand" in result.text
    assert "synthetic-demo 924 Apache-2.0 built in" in result.text
    assert max(len(line) for line in result.out.splitlines()) <= 80


def test_datasets_alone_lists(lawsmith, nowhere):
    assert lawsmith("datasets").out == lawsmith("datasets", "list").out


def test_a_table_in_the_cache_is_told_from_one_that_is_given(lawsmith, nowhere, monkeypatch):
    folder = nowhere / "oellm-english"
    folder.mkdir()
    (folder / "loss_all_exps_post_annealing.csv").write_text("x", encoding="utf-8")
    assert "oellm-english 909 none stated cached" in lawsmith("datasets").text
    monkeypatch.setenv("LAWSMITH_DATA", str(nowhere))
    assert "oellm-english 909 none stated here" in lawsmith("datasets").text


def test_an_absent_study_is_shown_with_the_counts_it_must_have(lawsmith, nowhere):
    result = lawsmith("datasets", "show", "oellm-english")
    assert result.code == 0
    for words in (
        "Ajroldi et al. 2026",
        "state absent",
        "columns N, D, C, loss, lr, gbsz",
        "published paper",
        "runs 909 942 differs",
        "batch sizes 7 8 differs",
        "learning rates 5 5 batch",
        "the paper's 1.45e23 is probably StepLaw's",
        "https://raw.githubusercontent.com/OpenEuroLLM/",
    ):
        assert words in result.text


def test_a_study_that_cannot_be_fetched_says_how_to_have_it(lawsmith, nowhere):
    assert "`lawsmith docs datasets` shows how" in lawsmith("datasets", "show", "porian-hp").text
    result = lawsmith("datasets", "fetch", "porian-hp")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert "`lawsmith docs datasets` shows how to convert it to porian_hp_sweep.csv" in result.err


def test_a_study_at_hand_is_shown_with_its_own_counts_and_path(lawsmith, published, data_dir):
    published("porian-hp")
    result = lawsmith("datasets", "show", "porian-hp:beta2")
    assert "configurations 566 – values of N" in result.text
    assert "(N, D, lr, batch) 237 237 FLOPs in total 7.57e20 2.88e20 differs" in result.text
    assert str(data_dir / "porian-hp" / "porian_hp_sweep.csv") in result.out


@pytest.mark.parametrize("name", names())
def test_every_study_can_be_shown_without_its_table(lawsmith, nowhere, name):
    result = lawsmith("datasets", "show", name)
    assert (result.code, result.err) == (0, "")


def test_a_synthetic_study_is_shown_with_its_counts(lawsmith, nowhere):
    result = lawsmith("datasets", "show", "synthetic-demo")
    for words in ("A synthetic study whose law is known", "state built in", "runs 924"):
        assert words in result.text


@pytest.mark.parametrize("name", ["warmstart", "synthetic-warmstart", "scalebench-vocab"])
def test_studies_of_the_paper_are_not_in_the_catalogue(lawsmith, nowhere, name):
    assert name not in names()
    result = lawsmith("datasets", "show", name)
    assert result.code == 2
    assert f"study: got '{name}'" in result.err


def test_fetching_offline_is_one_clear_line(lawsmith, nowhere):
    for args in (["steplaw"], ["--all"]):
        result = lawsmith("datasets", "fetch", *args)
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert "Name or service not known" in result.err


def test_a_fit_that_needs_a_download_offline_is_one_clear_line(lawsmith, nowhere):
    result = lawsmith("fit", "steplaw")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert "put dense_lr_bs_loss.csv there, or give its path" in result.err


def test_fetching_what_is_here_prints_its_path(lawsmith, published, data_dir):
    published("chinchilla")
    result = lawsmith("datasets", "fetch", "chinchilla")
    assert result.out.split() == [str(data_dir / "chinchilla" / "svg_extracted_data.csv")]


@pytest.mark.parametrize("name", ["synthetic-demo", "tinylm"])
def test_a_study_that_comes_with_lawsmith_need_not_be_fetched(lawsmith, nowhere, name):
    result = lawsmith("datasets", "fetch", name)
    assert (result.code, result.out) == (0, "")
    assert "nothing to fetch" in result.err


def test_the_bundled_study_is_shown_with_its_counts_and_its_file(lawsmith, nowhere):
    result = lawsmith("datasets", "show", "tinylm")
    assert "state built in" in result.text
    assert "values of N 6 values of D 7 pairs (N, D) 42" in result.text
    assert result.out.rstrip().endswith("bundled/tinylm.csv")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["show", "steplaaw"], "did you mean steplaw?"),
        (["show", "porian-hp:beta3"], "porian-hp: variant: got 'beta3', want one of beta2"),
        (["fetch"], "datasets fetch: got no name, want names, or --all"),
        (["fetch", "--all", "steplaw"], "got both names and --all"),
        (["fetch", "steplaaw"], "did you mean steplaw?"),
    ],
)
def test_bad_names_are_one_line(lawsmith, args, message):
    result = lawsmith("datasets", *args)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert message in result.err
