"""`lawsmith count`: what it prints, what it refuses."""

from __future__ import annotations

import json

import pytest

from lawsmith.cli.app import main

GPT2 = "--layers 12 --width 768 --heads 12 --vocab 50257 --tied --biases all --norm layer"


def test_it_prints_parameters_and_flops(capsys):
    assert main(["count", *GPT2.split(), "--positions", "1024", "--context", "1024"]) == 0
    said = capsys.readouterr().out
    assert "124,439,808" in said
    assert "85,056,000" in said


def test_json_has_every_count(capsys):
    args = [*GPT2.split(), "--positions", "1024", "--context", "1024", "--tokens", "1B", "--json"]
    assert main(["count", *args]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["N"]["total"] == 124_439_808
    assert found["N"]["active_without_embeddings"] == 85_056_000
    each, whole = found["flops_per_token"]["training"], found["training_flops"]
    assert whole["full"] == 1e9 * each["full"]
    # 6N of the matrices, and 12 · layers · width · context (PaLM's appendix B).
    matrices = 12 * 12 * 768**2 + 50257 * 768
    assert each["full"] == 6 * matrices + 12 * 12 * 768 * 1024


def test_options_override_a_config(capsys, tmp_path):
    path = tmp_path / "config.json"
    sizes = {"n_layer": 12, "n_embd": 768, "n_head": 12, "vocab_size": 50257, "n_positions": 1024}
    path.write_text(json.dumps({"model_type": "gpt2", **sizes}), encoding="utf-8")
    assert main(["count", str(path), "--context", "512", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["N"]["total"] == 124_439_808
    assert found["arch"]["context"] == 512


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "got nothing, want a config.json, or --layers"),
        (["--layers", "12"], "width: got nothing"),
        (["nowhere.json"], "nowhere.json: got No such file"),
        ([*GPT2.split(), "--tokens", "many"], "--tokens: got 'many'"),
        ([*GPT2.split(), "--layers", "-1"], "--layers: got '-1'"),
    ],
)
def test_bad_input_is_one_line(args, words, capsys):
    assert main(["count", *args]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
