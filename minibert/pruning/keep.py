"""Which parts of a model stay, and how they are chosen: the least important go first, in any layer. Needs no torch."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from minibert.config import BertConfig

KINDS = ("heads", "neurons", "layers", "weights")  # what can be cut; weights: single weights become 0


def sizes_of(config: BertConfig) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers of heads, and of neurons, per layer. Raises ValueError unless it is a BERT, pruned or not."""
    if config.model_type not in ("bert", "pruned"):
        raise ValueError(f"only a plain BERT is cut here, not {config.model_type!r}")
    layers = config.num_hidden_layers
    heads = getattr(config, "heads", (config.num_attention_heads,) * layers)
    return heads, getattr(config, "neurons", (config.intermediate_size,) * layers)


@dataclass(frozen=True)
class Keep:
    """layers: those that stay, from 0, in order · heads, neurons: those that stay, for each of these layers."""

    layers: tuple[int, ...]
    heads: tuple[tuple[int, ...], ...]
    neurons: tuple[tuple[int, ...], ...]

    @classmethod
    def whole(cls, config: BertConfig) -> Keep:
        heads, neurons = sizes_of(config)
        return cls(
            tuple(range(len(heads))), tuple(tuple(range(n)) for n in heads), tuple(tuple(range(n)) for n in neurons)
        )

    def without_heads(self, dropped: Collection[tuple[int, int]]) -> Keep:
        """dropped: (layer, head)."""
        heads = zip(self.layers, self.heads, strict=True)
        left = tuple(tuple(h for h in kept if (layer, h) not in dropped) for layer, kept in heads)
        return Keep(self.layers, left, self.neurons)

    def without_neurons(self, dropped: Collection[tuple[int, int]]) -> Keep:
        neurons = zip(self.layers, self.neurons, strict=True)
        left = tuple(tuple(n for n in kept if (layer, n) not in dropped) for layer, kept in neurons)
        return Keep(self.layers, self.heads, left)

    def without_layers(self, dropped: Collection[int]) -> Keep:
        """Raises ValueError if none would stay."""
        kept = [i for i, layer in enumerate(self.layers) if layer not in dropped]
        if not kept:
            raise ValueError("a model without any layer cannot be built: keep one")
        heads, neurons = (tuple(part[i] for i in kept) for part in (self.heads, self.neurons))
        return Keep(tuple(self.layers[i] for i in kept), heads, neurons)

    def check(self, config: BertConfig) -> None:
        """Raise ValueError for parts that the model does not have."""
        whole = Keep.whole(config)
        if not self.layers or list(self.layers) != sorted(set(self.layers) & set(whole.layers)):
            raise ValueError(f"layers are from 0 to {len(whole.layers) - 1}, in order, not {list(self.layers)}")
        if not len(self.layers) == len(self.heads) == len(self.neurons):
            raise ValueError("heads and neurons are needed for every layer that stays")
        for name in ("heads", "neurons"):
            for layer, kept in zip(self.layers, getattr(self, name), strict=True):
                available = getattr(whole, name)[layer]
                if list(kept) != sorted(set(kept) & set(available)):
                    raise ValueError(
                        f"layer {layer} has {len(available)} {name}: some that are to stay are not among them"
                    )


def least_important(importance: Sequence[Sequence[float]], share: float) -> set[tuple[int, int]]:
    """(layer, index) of the least important heads or neurons, this share of all, across layers; of equals the first.
    importance: for each layer, a value for each of its heads or neurons."""
    if not 0 <= share <= 1:
        raise ValueError(f"a share is from 0 to 1, not {share}")
    every = [(value, layer, n) for layer, values in enumerate(importance) for n, value in enumerate(values)]
    return {(layer, n) for _, layer, n in sorted(every)[: round(share * len(every))]}


def normalised(importance: Iterable[Sequence[float]]) -> list[list[float]]:
    """Each layer's values divided by their ℓ2 norm, which makes layers comparable (Molchanov et al. 2017, §2.2)."""
    found = []
    for values in importance:
        norm = math.sqrt(sum(value * value for value in values))
        found.append([value / norm if norm else 0.0 for value in values])
    return found
