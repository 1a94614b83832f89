"""Published models: their public configurations give their published numbers of parameters."""

from __future__ import annotations

import json

import pytest

from lawsmith.counting import Arch, count, read_config
from lawsmith.errors import LawsmithError

GPT2 = {"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024}
PYTHIA = {"model_type": "gpt_neox", "max_position_embeddings": 2048, "attention_bias": True}
LLAMA = {"model_type": "llama", "tie_word_embeddings": False}


def gpt2(layers, width, heads):
    return {**GPT2, "n_layer": layers, "n_embd": width, "n_head": heads}


def pythia(layers, width, heads, vocab=50304):
    sizes = {"num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": heads}
    return {**PYTHIA, **sizes, "intermediate_size": 4 * width, "vocab_size": vocab}


def llama(layers, width, heads, kv_heads, ffn, vocab, **more):
    return {
        **LLAMA,
        "num_hidden_layers": layers,
        "hidden_size": width,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": ffn,
        "vocab_size": vocab,
        **more,
    }


def mixtral(*sizes):
    experts = {"num_local_experts": 8, "num_experts_per_tok": 2}
    return llama(*sizes, model_type="mixtral", **experts)


# Parameters as the authors' checkpoints have them.
TOTAL = {
    "gpt2": (gpt2(12, 768, 12), 124_439_808),
    "gpt2-medium": (gpt2(24, 1024, 16), 354_823_168),
    "gpt2-large": (gpt2(36, 1280, 20), 774_030_080),
    "gpt2-xl": (gpt2(48, 1600, 25), 1_557_611_200),
    "llama-2-7b": (llama(32, 4096, 32, 32, 11008, 32000), 6_738_415_616),
    "llama-2-13b": (llama(40, 5120, 40, 40, 13824, 32000), 13_015_864_320),
    "llama-2-70b": (llama(80, 8192, 64, 8, 28672, 32000), 68_976_648_192),
    "llama-3-8b": (llama(32, 4096, 32, 8, 14336, 128256), 8_030_261_248),
    "llama-3-70b": (llama(80, 8192, 64, 8, 28672, 128256), 70_553_706_496),
    "llama-3.1-405b": (llama(126, 16384, 128, 8, 53248, 128256), 405_853_388_800),
    "llama-3.2-1b": (
        llama(16, 2048, 32, 8, 8192, 128256, head_dim=64, tie_word_embeddings=True),
        1_235_814_400,
    ),
    "mixtral-8x7b": (mixtral(32, 4096, 32, 8, 14336, 32000), 46_702_792_704),
    "mixtral-8x22b": (mixtral(56, 6144, 48, 8, 16384, 32000), 140_620_634_112),
}
# Total and without embeddings, as in the table of the Pythia paper.
PYTHIAS = {
    "70m": (pythia(6, 512, 8), 70_426_624, 18_915_328),
    "160m": (pythia(12, 768, 12), 162_322_944, 85_056_000),
    "410m": (pythia(24, 1024, 16), 405_334_016, 302_311_424),
    "1b": (pythia(16, 2048, 8), 1_011_781_632, 805_736_448),
    "1.4b": (pythia(24, 2048, 16), 1_414_647_808, 1_208_602_624),
    "2.8b": (pythia(32, 2560, 32), 2_775_208_960, 2_517_652_480),
    "6.9b": (pythia(32, 4096, 32, 50432), 6_857_302_016, 6_444_163_072),
    "12b": (pythia(36, 5120, 40, 50688), 11_846_072_320, 11_327_027_200),
}


def read(config, folder):
    path = folder / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return count(read_config(path))


@pytest.mark.parametrize("name", TOTAL)
def test_the_published_total_comes_out_to_the_last_parameter(name, tmp_path):
    config, total = TOTAL[name]
    assert read(config, tmp_path).total == total


@pytest.mark.parametrize("name", PYTHIAS)
def test_pythia_comes_out_with_and_without_embeddings(name, tmp_path):
    config, total, without = PYTHIAS[name]
    found = read(config, tmp_path)
    assert (found.total, found.without_embeddings) == (total, without)


def test_mixtral_uses_the_published_share_of_its_parameters(tmp_path):
    small, large = (read(TOTAL[name][0], tmp_path) for name in ("mixtral-8x7b", "mixtral-8x22b"))
    assert small.active == pytest.approx(12.9e9, rel=2e-3)  # "12.9B parameters per token"
    assert large.active == pytest.approx(39e9, rel=5e-3)  # "39B active parameters"


def test_a_family_that_is_not_known_is_refused(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"model_type": "mamba"}', encoding="utf-8")
    with pytest.raises(LawsmithError, match="model_type: got 'mamba', want one of gpt2"):
        read_config(path)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"model_type": "llama"}', "[" * 100_000])
def test_a_file_that_is_no_config_is_told_in_one_line(text, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LawsmithError, match=r"config\.json"):
        read_config(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"layers": 0}, "layers: got 0, want a whole number from 1"),
        ({"width": 12.5}, "width: got 12.5"),
        ({"heads": 7}, "heads: got 7 heads for a width of 64"),
        ({"kv_heads": 3}, "kv_heads: got 3 for 4 heads"),
        ({"experts": 2, "active": 3}, "active: got 3 of 2 experts"),
        ({"biases": "some"}, "biases: got 'some', want one of none, qkv, all"),
        ({"tied": 1}, "tied: got 1, want true or false"),
    ],
)
def test_a_shape_that_cannot_be_is_refused_by_its_key(change, words):
    base = {"layers": 2, "width": 64, "heads": 4, "vocab": 100}
    with pytest.raises(LawsmithError, match=words):
        Arch(**{**base, **change})
