"""Pairs of inference as what the supervised SimCSE reads (Gao et al. 2021, §4): what follows from a premise is its
positive, what contradicts it a hard negative. The paper's pairs, SNLI's and MNLI's, have three labels; RTE's and HANS's
have two, and of the rest say only that it does not follow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from minibert.tasks import TASKS
from minibert.tasks.pairs import PairExample, names_two_texts
from minibert.tasks.tables import header_of

FOLLOWS = "entailment"
AGAINST = ("contradiction", "not_entailment", "non-entailment")  # hard negatives, the first kind that a premise has
LABELS = (FOLLOWS, "neutral", *AGAINST)


def holds_inference(line: str) -> bool:
    """Whether a file that begins with this line holds labelled pairs, rather than texts that belong together."""
    cells = line.split("\t")
    return names_two_texts(header_of(cells)) or cells[-1].strip() in LABELS


def read_inference(path: str | Path) -> list[PairExample]:
    """Labelled pairs of a file, as the task `pair` reads them. Raises ValueError, with line and column, for what cannot
    be used."""
    return TASKS["pair"].read(path, strict=True, labels=LABELS).examples


def triples_of(pairs: Sequence[PairExample]) -> list[tuple[str, ...]]:
    """For each hypothesis that follows, none twice: its premise, it, and, where the same premise has one, a hypothesis
    that speaks against it. Raises ValueError where nothing follows from anything."""
    said: dict[str, dict[str, list[str]]] = {}
    for one in pairs:
        said.setdefault(one.text, {}).setdefault(one.label, []).append(one.pair)
    found: list[tuple[str, ...]] = []
    for premise, by_label in said.items():
        against = next((by_label[label] for label in AGAINST if label in by_label), [])
        hard = cycle([(text,) for text in against] or [()])
        found += [(premise, text, *next(hard)) for text in dict.fromkeys(by_label.get(FOLLOWS, ()))]
    if not found:
        raise ValueError(f"supervised SimCSE learns from pairs with the label {FOLLOWS}: there are none")
    return found


def alike_in(path: str | Path, label: str = "1") -> list[tuple[str, str]]:
    """The pairs of a file that have this label: in LCQMC "1", those that ask the same. Raises ValueError."""
    return [(one.text, one.pair) for one in TASKS["pair"].read(path).examples if one.label == label]
