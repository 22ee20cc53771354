"""A BERT with heads and neurons removed, any number in each layer (Michel et al. 2019, arXiv:1905.10650). D stays H/A;
`minibert.pruning` turns a model into one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from minibert.config import BertConfig
from minibert.count import CostRow, Shape
from minibert.relatives.base import Relative
from minibert.relatives.parts.pruned_block import PrunedBlock


@dataclass(frozen=True)
class PrunedConfig(BertConfig):
    """kept_heads, kept_neurons: how many are left in each layer, of A and F; () for all."""

    model_type: ClassVar[str] = "pruned"
    kept_heads: tuple[int, ...] = ()
    kept_neurons: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, most in (("kept_heads", self.num_attention_heads), ("kept_neurons", self.intermediate_size)):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # JSON has lists
            kept = getattr(self, name)
            if kept and len(kept) != self.num_hidden_layers:
                raise ValueError(f"{name} has {len(kept)} numbers for {self.num_hidden_layers} layers")
            if not all(0 <= number <= most for number in kept):
                raise ValueError(f"{name} are from 0 to {most}, not {list(kept)}")

    @property
    def heads(self) -> tuple[int, ...]:
        """Number of heads in each layer."""
        return self.kept_heads or (self.num_attention_heads,) * self.num_hidden_layers

    @property
    def neurons(self) -> tuple[int, ...]:
        return self.kept_neurons or (self.intermediate_size,) * self.num_hidden_layers


# K, G: head dimensions and neurons left in all layers, whose rows are counted together.
OWN = (
    *(
        CostRow(f"block.attn.{x}", "attention", "H·K + K", "2·B·T·H·K", together=True)
        for x in ("query", "key", "value")
    ),
    *(CostRow(f"block.attn.{x}", "scores", "", "2·B·T²·K", together=True) for x in ("scores", "mixed")),
    CostRow("block.attn.output", "attention", "K·H + L·H", "2·B·T·K·H", together=True),
    CostRow("block.mlp.expand", "mlp", "H·G + G", "2·B·T·H·G", together=True),
    CostRow("block.mlp.contract", "mlp", "G·H + L·H", "2·B·T·G·H", together=True),
)
RELATIVE = Relative(
    "Pruned BERT",
    PrunedConfig,
    encoder="bert",
    in_transformers=False,  # no longer: version 4 had `prune_heads`, and nothing for neurons
    about="heads, neurons or layers have been cut away",
    components={"blocks": lambda c: [PrunedBlock(c, *sizes) for sizes in zip(c.heads, c.neurons, strict=True)]},
    shape=lambda c: Shape(c, own=OWN, own_letters=(("K", sum(c.heads) * c.head_size), ("G", sum(c.neurons)))),
)
