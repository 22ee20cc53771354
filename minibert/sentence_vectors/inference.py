"""NLI pairs as training data for supervised SimCSE (Gao et al. 2021, §4): an entailed hypothesis is the positive of its
premise, a contradicting one a hard negative. The paper's pairs, SNLI's and MNLI's, have three labels; RTE's and HANS's
have two, of which the second says only that the hypothesis does not follow."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from minibert.tasks import TASKS
from minibert.tasks.pairs import PairExample, names_two_texts
from minibert.tasks.tables import header_of

FOLLOWS = "entailment"
AGAINST = ("contradiction", "not_entailment", "non-entailment")  # of hard negatives; the first that occurs is used
LABELS = (FOLLOWS, "neutral", *AGAINST)


def is_inference_file(line: str) -> bool:
    """Whether a file with this first line holds labelled pairs, rather than texts that belong together."""
    cells = line.split("\t")
    return names_two_texts(header_of(cells)) or cells[-1].strip() in LABELS


def read_inference(path: str | Path) -> list[PairExample]:
    """The labelled pairs of a file, as the task `pair` reads them. Raises ValueError, with line and column, for
    unusable lines; how many have no agreed label is printed on stderr."""
    data = TASKS["pair"].read(path, strict=True, labels=LABELS)
    if data.problems:
        print(f"{path}: {len(data.problems):,} pairs passed over, first {data.problems[0]}", file=sys.stderr)
    return data.examples


def inference_triples(pairs: Sequence[PairExample]) -> list[tuple[str, ...]]:
    """For each distinct entailed hypothesis: its premise, itself, and a hard negative of the same premise if there is
    one. Raises ValueError if there is no entailment at all."""
    hypotheses: dict[str, dict[str | None, list[str]]] = {}  # by premise and label
    for example in pairs:
        hypotheses.setdefault(example.text, {}).setdefault(example.label, []).append(example.pair)
    triples: list[tuple[str, ...]] = []
    for premise, by_label in hypotheses.items():
        against = next((by_label[label] for label in AGAINST if label in by_label), [])
        negatives = cycle([(text,) for text in against] or [()])
        triples += [(premise, text, *next(negatives)) for text in dict.fromkeys(by_label.get(FOLLOWS, ()))]
    if not triples:
        raise ValueError(f"supervised SimCSE learns from pairs with the label {FOLLOWS}: there are none")
    return triples


def pairs_labelled(path: str | Path, label: str = "1") -> list[tuple[str, str]]:
    """The pairs of a file with this label: in LCQMC "1", questions that mean the same. Raises ValueError."""
    examples = TASKS["pair"].read(path).examples
    return [(example.text, example.pair) for example in examples if example.label == label]
