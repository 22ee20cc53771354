"""The sizes of a BERT, under transformers' field names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Self, get_type_hints

from minibert.text.json_values import check_kinds, short

# name → (L, H, A). base and large: Devlin et al. 2019, §3; the smaller ones: Turc et al. 2019, table 1.
PRESETS = {
    "tiny": (2, 128, 2),
    "mini": (4, 256, 4),
    "small": (4, 512, 8),
    "medium": (8, 512, 8),
    "base": (12, 768, 12),
    "large": (24, 1024, 16),
}


@dataclass(frozen=True)
class BertConfig:
    """A BERT's sizes: the paper's letters beside the names of `transformers.BertConfig`, which it reads and writes.

    A relative of BERT has a config of its own, with another `model_type` and perhaps more fields (see `relatives`).
    renamed: our field → its name in config.json, where that differs · fixed: entry of config.json → its only value.
    """

    model_type: ClassVar[str] = "bert"
    presets: ClassVar[Mapping[str, tuple[int, int, int]]] = PRESETS
    renamed: ClassVar[Mapping[str, str]] = {}
    fixed: ClassVar[Mapping[str, Any]] = {}

    vocab_size: int = 30522  # V
    hidden_size: int = 768  # H
    num_hidden_layers: int = 12  # L
    num_attention_heads: int = 12  # A
    intermediate_size: int = 3072  # F
    max_position_embeddings: int = 512  # P
    type_vocab_size: int = 2  # S
    hidden_act: str = "gelu"  # the erf form, as in the Hugging Face checkpoints; "gelu_new" is Google's tanh form
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int = 0

    def __post_init__(self) -> None:
        for name in SIZES:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {short(value)}")
            if value > LARGEST.get(name, LARGEST_SIZE):
                raise ValueError(f"{name} is {short(value)}; at most {LARGEST.get(name, LARGEST_SIZE):,} can be read")
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"hidden_size {self.hidden_size} does not divide evenly among {self.num_attention_heads} heads"
            )
        if self.hidden_act not in ACTIVATIONS:
            raise ValueError(f"hidden_act must be one of {', '.join(ACTIVATIONS)}, not {short(self.hidden_act)}")
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, not {getattr(self, name)!r}")
        if not 0 < self.layer_norm_eps < math.inf:  # else LayerNorm divides by 0 or the root of a negative
            raise ValueError(f"layer_norm_eps must be a number above 0, not {self.layer_norm_eps!r}")
        if not 0 <= self.initializer_range < math.inf:
            raise ValueError(f"initializer_range must be a number of at least 0, not {self.initializer_range!r}")

    @property
    def head_size(self) -> int:
        """D = H / A."""
        return self.hidden_size // self.num_attention_heads

    @property
    def mlm_act(self) -> str:
        """Activation of the masked-LM head."""
        return self.hidden_act

    @property
    def longest(self) -> int:
        """Most tokens that a row may have."""
        return self.max_position_embeddings

    @classmethod
    def preset(cls, name: str, **changes) -> Self:
        """One of `PRESETS`; F = 4H as in every published size. `changes` override any field."""
        if name not in cls.presets:
            raise ValueError(f"no preset {name!r}; there are {', '.join(cls.presets)}")
        layers, hidden, heads = cls.presets[name]
        sizes = {"num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads}
        return cls(**{**sizes, "intermediate_size": 4 * hidden, **changes})

    def change(self, **changes) -> Self:
        """A copy with some fields changed, checked anew."""
        return replace(self, **changes)

    def as_dict(self) -> dict:
        return {self.renamed.get(name, name): value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read the known fields of a config.json. Raises ValueError for settings that this model does not implement.
        For any model_type: `relatives.config_from`."""
        kind = values.get("model_type", "bert")
        if kind != cls.model_type:
            raise ValueError(f'model_type is {short(kind)}; this reads "{cls.model_type}"')
        position = values.get("position_embedding_type", "absolute")
        if position != "absolute":
            raise ValueError(f'position_embedding_type {short(position)} is not BERT\'s; "absolute" is')
        if values.get("is_decoder"):
            raise ValueError("is_decoder is set; BERT is an encoder")
        for name, only in cls.fixed.items():
            if values.get(name) not in (None, only):
                raise ValueError(f"{name} is {short(values[name])}; here it is {short(only)}")
        values = {**values, **{ours: values[theirs] for ours, theirs in cls.renamed.items() if theirs in values}}
        hints = get_type_hints(cls)
        kinds = {field.name: hints[field.name] for field in fields(cls)}
        known = {name: value for name, value in values.items() if name in kinds and value is not None}
        check_kinds(known, kinds)
        return cls(**known)


SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
)
IGNORE = -100  # label of positions that do not enter the loss
# No real model is larger; a greater number is a typo or an attempt to exhaust memory.
LARGEST_SIZE, LARGEST = 2**24, {"num_hidden_layers": 1000}
ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")


def check_positive(settings: Any, *names: str) -> None:
    """Raise ValueError if one of these fields is less than 1."""
    for name in names:
        if getattr(settings, name) < 1:
            raise ValueError(f"{name} must be at least 1, not {getattr(settings, name)}")
