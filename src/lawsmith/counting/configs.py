"""A model's public config.json, as Hugging Face's transformers write it, to an Arch.

A config has the sizes. Its ``model_type`` tells the rest: gates, biases, norms. An unknown type is
refused, because a guess would give a wrong count.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lawsmith.counting.arch import Arch
from lawsmith.errors import LawsmithError, unknown
from lawsmith.files import read_bytes, reason
from lawsmith.numbers import read_json

MAX_BYTES = 2**20  # configs have a few kilobytes
_GATED: dict[str, Any] = {"gated": True, "norm": "rms", "tied": False}
FAMILIES: dict[str, dict[str, Any]] = {
    "gpt2": {"biases": "all", "norm": "layer", "tied": True},
    "gpt_neox": {"biases": "all", "norm": "layer", "tied": False},
    "llama": _GATED,
    "mistral": _GATED,
    "mixtral": {**_GATED, "experts": 8, "active": 2},
    "qwen2": {**_GATED, "biases": "qkv"},
}
# Key of an Arch → its names in configs; the first one found is used.
_NAMES = {
    "layers": ("num_hidden_layers", "n_layer"),
    "width": ("hidden_size", "n_embd"),
    "heads": ("num_attention_heads", "n_head"),
    "kv_heads": ("num_key_value_heads",),
    "head_dim": ("head_dim",),
    "ffn": ("intermediate_size", "n_inner"),
    "vocab": ("vocab_size",),
    "tied": ("tie_word_embeddings",),
    "experts": ("num_local_experts",),
    "active": ("num_experts_per_tok",),
    "context": ("max_position_embeddings", "n_positions"),
}


def read_config(path: str | Path) -> Arch:
    """The architecture in a config.json; its context is the longest that the model supports."""
    try:
        raw = read_bytes(path, limit=MAX_BYTES)
    except OSError as error:
        raise LawsmithError(str(path), got=reason(error), want="a config.json") from None
    try:
        config = read_json(raw)
    except ValueError:
        config = None
    if not isinstance(config, Mapping) or len(raw) > MAX_BYTES:
        raise LawsmithError(str(path), got="no JSON object", want="a config.json")
    try:
        return _arch_of(config)
    except LawsmithError as error:
        raise LawsmithError(f"{path}: {error}") from None


def _arch_of(config: Mapping[str, Any]) -> Arch:
    """The architecture that a config describes."""
    kind = str(config.get("model_type"))
    if kind not in FAMILIES:
        raise unknown("model_type", kind, FAMILIES)
    values = dict(FAMILIES[kind])
    for key, names in _NAMES.items():
        value = next((config[name] for name in names if config.get(name) is not None), None)
        if value is not None:
            values[key] = value
    if kind == "gpt2":
        values["positions"] = values.get("context", 1024)
    if config.get("attention_bias") and values.get("biases", "none") == "none":
        raise LawsmithError("attention_bias", got="true", want=f"none, as in other {kind} models")
    missing = [key for key in ("layers", "width", "heads", "vocab") if key not in values]
    if missing:
        raise LawsmithError(_NAMES[missing[0]][0], got="nothing", want="a whole number above 0")
    return Arch(**values)
