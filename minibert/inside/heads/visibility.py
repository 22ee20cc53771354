"""Which words can reach each position, and on which paths, in ELMo, GPT and BERT (Devlin et al. 2019, Fig. 3) and in a
convolutional network (Kim 2014).

All with two layers. A vector depends on the words to its left (and its own), on those to its right (and its own), or on
both together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

MODELS = ("CNN", "ELMo", "GPT", "BERT")
LAYERS = 2
WIDTH = 3  # words that a convolution reads at once
KNOWS = ("word", "left", "right", "both", "halves")  # halves: a left and a right one, concatenated


class Node(NamedTuple):
    """A vector in a model. layer 0: the words' own vectors; knows: one of `KNOWS`."""

    layer: int
    position: int
    knows: str


@dataclass(frozen=True)
class Reach:
    """What reaches one position of a model's output.

    left, right: the words that its left-looking and its right-looking half depend on, the position's own included.
    joint: whether one vector is computed from both sides. steps: vectors on the way from the farthest of these words:
    one for attention; one per word for a recurrent network, within a layer, and for convolutions, from layer to layer.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    joint: bool
    steps: int

    @property
    def words(self) -> tuple[int, ...]:
        return tuple(sorted({*self.left, *self.right}))


def reads(model: str, node: Node, n: int) -> list[Node]:
    """The nodes that `node` is computed from directly, in a model over n words."""
    layer, i, knows = node
    if layer == 0:
        return []
    if model == "BERT":  # attention to every position
        return [Node(layer - 1, j, "both" if layer > 1 else "word") for j in range(n)]
    if model == "GPT":  # attention to this position and those before it
        return [Node(layer - 1, j, "left" if layer > 1 else "word") for j in range(i + 1)]
    if model == "CNN":  # a window around this position
        window = range(max(0, i - WIDTH // 2), min(n, i + WIDTH // 2 + 1))
        return [Node(layer - 1, j, "both" if layer > 1 else "word") for j in window]
    if knows == "halves":  # ELMo's output: its two networks' vectors side by side
        return [Node(layer - 1, i, "left"), Node(layer - 1, i, "right")]
    below = Node(layer - 1, i, knows if layer > 1 else "word")  # a recurrent network: the layer below, and …
    before = i - 1 if knows == "left" else i + 1  # … its own vector one word earlier in its direction
    return [below, Node(layer, before, knows)] if 0 <= before < n else [below]


def output(model: str, position: int) -> Node:
    """The vector a model gives for a word."""
    return {
        "CNN": Node(LAYERS, position, "both"),
        "ELMo": Node(LAYERS + 1, position, "halves"),
        "GPT": Node(LAYERS, position, "left"),
        "BERT": Node(LAYERS, position, "both"),
    }[model]


def nodes(model: str, n: int) -> list[Node]:
    """Every vector of a model over n words."""
    return list(
        dict.fromkeys(node for i in range(n) for node in (*paths(model, output(model, i), n), Node(0, i, "word")))
    )


def paths(model: str, start: Node, n: int) -> Iterator[Node]:
    """`start` and all nodes that it is computed from."""
    seen, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        yield node
        for source in reads(model, node, n):
            if source not in seen:
                seen.add(source)
                waiting.append(source)


def reach(model: str, position: int, n: int) -> Reach:
    """Which words may reach the output of `model` at `position` (from 0) among n words, found by following `reads`."""
    if not 0 <= position < n:
        raise ValueError(f"position {position} is not one of {n} words")

    def words(start: Node) -> tuple[int, ...]:
        return tuple(sorted(node.position for node in paths(model, start, n) if node.layer == 0))

    top = output(model, position)
    if model == "ELMo":
        left, right = (words(source) for source in reads(model, top, n))
    else:
        left = tuple(j for j in words(top) if j <= position)
        right = tuple(j for j in words(top) if j > position)
    farthest = max(abs(j - position) for j in (*left, *right))
    return Reach(
        left, right, joint=top.knows == "both", steps=farthest if model in ("CNN", "ELMo") else min(farthest, 1)
    )
