"""Study files: what is read, and the one line of error for what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.spec import build_candidates, load_spec, parse_spec
from tests.study.studies import study_text


def error_of(*changes: tuple[str, str]) -> str:
    with pytest.raises(LawsmithError) as caught:
        build_candidates(parse_spec(study_text(*changes).encode()))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_study_file_is_read_with_its_defaults():
    spec = parse_spec(study_text().encode())
    assert (spec.name, spec.seed, spec.compute) == ("small", 3, "6ND")
    assert [model.N for model in spec.model] == [1e7, 4e7]
    assert spec.model[1].args == {"layers": 8}
    assert spec.tokens.values == (1e8, 4e8, 1.6e9)
    assert spec.failures.retries == 2
    assert spec.results.kind == "json"
    assert spec.law.level == 0.95
    assert spec.runner.options["command"][0] == "/bin/sh"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("flops = 1e30", "flop = 1e30", "budget.flop: got an unknown key, want one of flops"),
        ("flops = 1e30", "flop = 1e30", "(did you mean flops?)"),
        ("flops = 1e30", "flops = '1e30'", "budget.flops: got '1e30', want a number"),
        ("flops = 1e30", "flops = nan", "budget.flops: got nan, want a finite number"),
        ("flops = 1e30", "flops = -1", "budget.flops: got -1, want greater than 0"),
        ("flops = 1e30", "", "budget.flops or gpu_hours: got neither"),
        ("flops = 1e30", "flops = 1\ngpu_hours = 1", "budget.flops or gpu_hours: got both"),
        ("flops = 1e30", "gpu_hours = 5", "throughput.flops_per_second: got nothing"),
        ("N = 4e7", "M = 4e7", "model[2].N: got nothing"),
        ("N = 4e7", "N = true", "model[2].N: got True, want a number"),
        ('name = "s"', 'name = "xs"', "model.name: got 'xs' twice"),
        ('name = "s"', 'name = "../s"', "model[2].name: got '../s', want letters"),
        ('name = "small"', 'name = "a b"', "name: got 'a b'"),
        ("layers = 8", "layers = [8]", "model[2].layers: got [8], want a number or text"),
        ("layers = 8", "lr = 8", "model s.lr: got the name of an axis as well"),
        ("layers = 8", "model = 8", "model[2].model: got a reserved name"),
        ("lr = [1e-3, 4e-3]", "N = [1, 2]", "axes.N: got a reserved name"),
        ("lr = [1e-3, 4e-3]", "'l r' = [1, 2]", "axes.'l r': got no word"),
        ("lr = [1e-3, 4e-3]", "constraints = [1]", "above the first [table]"),
        ("seed = 3", "seed = -1", "seed: got -1"),
        ("seed = 3", "seed = 1.5", "seed: got 1.5, want a whole number"),
        ("seed = 3", "sed = 3", "sed: got an unknown key"),
        ("poll = 0.05", "poll = 'soon'", "runner.poll: got 'soon', want seconds"),
        ("slots = 2", "slots = 0", "runner.slots: got 0"),
        ('kind = "local"', 'kind = "lokal"', "runner.kind: got 'lokal', want 'local', 'slurm'"),
        ("backoff = 0", "memory_class = ['bach']", "failures.memory_class: got 'bach'"),
        ("backoff = 0", "out_of_memory = '('", "failures.out_of_memory: got '(' "),
        ("[failures]", "[results]\nkind = 'regex'\n[failures]", "results.pattern: got None"),
        ("[failures]", "[results]\nkind='regex'\npattern='x'\n[failures]", "one group"),
        ("[failures]", "[results]\nfile = '../x'\n[failures]", "results.file: got '../x'"),
        ("[failures]", "[results]\nfile = '/x'\n[failures]", "results.file: got '/x'"),
    ],
)
def test_a_fault_is_told_with_its_key(old, new, message):
    assert message in error_of((old, new))


def test_a_misspelt_key_is_told_before_the_one_it_leaves_missing():
    text = error_of(("[[model]]", "[[modle]]"))
    assert text.startswith("study.toml: modle: got an unknown key")
    assert "did you mean model?" in text


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ("D >", "constraints[1]: expression: got 'D >'"),
        ("batch > 1", "constraints[1]: expression, character 1: got no column 'batch'"),
        ("D + 1", "want a comparison"),
        ("D > 1e30", "leave none of 24 candidates"),
        ("__import__('os')", "constraints[1]: expression"),
    ],
)
def test_a_bad_constraint_is_told(constraint, message):
    assert message in error_of(("tokens_per_param >= 5", constraint))


@pytest.mark.parametrize("formula", ["6*N*layrs", "N > 1", "'x'", "N - 1e9", "1e308 * N"])
def test_a_compute_formula_must_be_a_positive_number_everywhere(formula):
    assert "compute" in error_of(('name = "small"', f'name = "small"\ncompute = "{formula}"'))


def test_no_such_file_and_a_folder_are_told_with_a_hint(tmp_path: Path):
    (tmp_path / "study.toml").write_text("x")
    with pytest.raises(LawsmithError, match=r"did you mean study\.toml"):
        load_spec(tmp_path / "studi.toml")
    with pytest.raises(LawsmithError, match="got a folder"):
        load_spec(tmp_path)


@pytest.mark.parametrize(
    "raw", [b"\xff\xfe", b"a = ", b"[" * 5000, b"x = " + b"9" * 9000, b"", b"\0"]
)
def test_what_is_no_toml_is_one_line_of_error(raw: bytes):
    with pytest.raises(LawsmithError):
        parse_spec(raw)


def test_the_file_of_init_is_valid_as_it_stands():
    from lawsmith.cli.start import template

    assert len(build_candidates(parse_spec(template("study.toml").encode())).grid) > 100
