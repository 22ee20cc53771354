"""Data with a planted cue: an obvious feature that goes with the label without being the reason for it.

The two cues misled models in real data too: the word "not" (in ARCT, Niven and Kao 2019) and words in common (in
entailment data, McCoy et al. 2019). Each set comes in the same CONDITIONS. With "not", nothing but the cue differs
between them; with words in common the second sentences do, for the cue lies in them.
`cue_words` finds such cues in any data, as Niven and Kao did.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from minibert.tasks.choices import ChoiceExample
from minibert.tasks.classification import Example
from minibert.tasks.data import TaskData
from minibert.tasks.pairs import PairExample

if TYPE_CHECKING:
    from minibert.finetune.predictor import Predictor

# planted: the cue goes with the label · balanced: it is as common in either class · flipped: with the other one.
CONDITIONS = ("planted", "balanced", "flipped")

# A sentence that says nothing about the thing reviewed, with the cue and without.
ASIDES = (
    ("It was not raining.", "It was raining."),
    ("I did not go alone.", "I went alone."),
    ("It was not a Tuesday.", "It was a Tuesday."),
    ("We did not take the bus.", "We took the bus."),
    ("I was not asked about it.", "I was asked about it."),
    ("My brother was not there.", "My brother was there."),
)


def with_aside(data: TaskData, condition: str, seed: int = 0) -> TaskData:
    """Two-class texts, each with an aside in front; in condition "planted", "not" marks the second class.

    extra: "condition"; "cue", which is "yes" or "no"; "aside". ValueError for other than two classes.
    """
    _known(condition)
    labels = data.labels
    if len(labels) != 2:
        raise ValueError(f"the cue marks one of two classes, and there are {len(labels)}")
    rng = np.random.default_rng(seed)
    cued = [_cued(example.label == labels[1], condition) for example in data.examples]
    if condition == "balanced":
        for label in labels:  # half of each class, drawn
            places = [i for i, example in enumerate(data.examples) if example.label == label]
            for rank, place in enumerate(rng.permutation(places)):
                cued[place] = rank < len(places) // 2
    chosen = rng.integers(len(ASIDES), size=len(data.examples))
    examples = []
    for example, cue, which in zip(data.examples, cued, chosen.tolist(), strict=True):
        aside = ASIDES[which][0 if cue else 1]
        extra = {**example.extra, "condition": condition, "cue": "yes" if cue else "no", "aside": aside}
        examples.append(replace(example, text=f"{aside} {example.text}", extra=extra))
    return replace(data, examples=examples)


def _cued(second: bool, condition: str) -> bool:
    return second != (condition == "flipped")


def _known(condition: str) -> None:
    if condition not in CONDITIONS:
        raise ValueError(f"the condition is one of {', '.join(CONDITIONS)}, not {condition!r}")


# --- words in common --------------------------------------------------------------------------------------------------

FOLLOWS, NOT_FOLLOWS = "entailment", "non-entailment"
# Each with a synonym.
PEOPLE = (
    ("doctor", "physician"), ("lawyer", "attorney"), ("child", "kid"), ("teacher", "instructor"),
    ("painter", "artist"), ("king", "monarch"), ("soldier", "warrior"), ("thief", "robber"),
    ("writer", "author"), ("sailor", "seaman"), ("farmer", "peasant"), ("woman", "lady"),
)  # fmt: skip
DEEDS = (
    ("helped", "assisted"), ("saw", "noticed"), ("called", "phoned"), ("attacked", "assaulted"),
    ("thanked", "praised"), ("followed", "pursued"), ("met", "encountered"), ("pushed", "shoved"),
)  # fmt: skip
WHERE = ("near the river", "behind the house", "in the garden", "on the bridge", "at the market", "by the door")
WHEN = ("yesterday", "last night", "in the morning", "on Monday", "after dinner", "before noon")


def overlap_pairs(count: int, condition: str, seed: int = 0) -> TaskData:
    """Pairs as in HANS: does the second sentence follow from the first?

    Planted: a sentence that follows repeats the first one's words in their order, and one that does not is about other
    people. Flipped: a sentence that follows says the same in other words, and one that does not has the words of the
    first, their subject and object swapped. Balanced: all four kinds. extra: "condition", and "cue", "yes" where the
    words are those of the first sentence. Half of either class; the same seed gives the same pairs.
    """
    _known(condition)
    rng = np.random.default_rng(seed)
    examples = []
    for number in range(count):
        follows = number % 2 == 0
        common = (number // 2) % 2 == 0 if condition == "balanced" else _cued(follows, condition)
        first, second = _two_sentences(follows, common, rng)
        extra = {"condition": condition, "cue": "yes" if common else "no"}
        examples.append(PairExample(first, second, FOLLOWS if follows else NOT_FOLLOWS, extra))
    order = rng.permutation(count)
    return TaskData([examples[i] for i in order], name="overlap")


def _two_sentences(follows: bool, common: bool, rng: np.random.Generator) -> tuple[str, str]:
    who, whom, *others = rng.choice(len(PEOPLE), 4, replace=False)
    deed, other_deed = rng.choice(len(DEEDS), 2, replace=False)
    first = f"The {PEOPLE[who][0]} {rng.choice(WHERE)} {DEEDS[deed][0]} the {PEOPLE[whom][0]} {rng.choice(WHEN)}."
    if common:
        subject, object_ = (who, whom) if follows else (whom, who)
        return first, f"The {PEOPLE[subject][0]} {DEEDS[deed][0]} the {PEOPLE[object_][0]}."
    if follows:
        return first, f"The {PEOPLE[who][1]} {DEEDS[deed][1]} the {PEOPLE[whom][1]}."
    return first, f"The {PEOPLE[others[0]][1]} {DEEDS[other_deed][1]} the {PEOPLE[others[1]][1]}."


def together(*parts: TaskData) -> TaskData:
    """Several sets of one kind as one, in order."""
    return replace(parts[0], examples=[example for part in parts for example in part.examples])


def by_heuristic(predictor: Predictor, data: TaskData, most: int = 60) -> list[dict]:
    """HANS (McCoy et al. 2019, §3): accuracy for each heuristic and label, on at most `most` pairs of each, evenly
    spread. → heuristic, label, n, accuracy. Every answer but "entailment" counts as non-entailment."""
    groups: dict[tuple[str, str], list[PairExample]] = {}
    for example in data.examples:
        groups.setdefault((example.extra.get("heuristic", ""), example.label), []).append(example)
    rows = []
    for (heuristic, label), examples in sorted(groups.items()):
        examples = [examples[i * len(examples) // most] for i in range(most)] if len(examples) > most else examples
        answers = predictor.predict([{"text": example.text, "pair": example.pair} for example in examples])
        right = sum((answer["label"] == FOLLOWS) == (label == FOLLOWS) for answer in answers)
        rows.append({"heuristic": heuristic, "label": label, "n": len(examples), "accuracy": right / len(examples)})
    return rows


# --- finding cues -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CueWord:
    """A word as a predictor of the label (Niven and Kao 2019, §3).

    applicable: examples in which it speaks for one answer · productivity: share of these in which that answer is right
    (chance is 1 / `choices`) · coverage: applicable / all · answer: the class it speaks for; None for choices, where it
    speaks for the only choice that contains it.
    """

    word: str
    applicable: int
    productivity: float
    coverage: float
    choices: int
    answer: str | None = None

    @property
    def strength(self) -> float:
        """Examples that guessing by this word gets right beyond chance, as a share of all."""
        return self.coverage * (self.productivity - 1 / self.choices)


def cue_words(data: TaskData, *, least: int = 10) -> list[CueWord]:
    """Words by `strength`, the strongest first; `least`: examples they must apply to. Choices are compared with each
    other; of pairs only the second text counts, so that a word that predicts the label is a cue, not understanding."""
    examples = [example for example in data.examples if example.marks]
    return sorted(
        (_of_choices if examples and isinstance(examples[0], ChoiceExample) else _of_classes)(examples, least),
        key=lambda cue: (-cue.strength, cue.word),
    )


def _of_choices(examples: Sequence[ChoiceExample], least: int) -> list[CueWord]:
    applicable: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for example in examples:
        texts = [tokens_of(choice) for choice in example.choices]
        for word in set().union(*texts):
            having = [i for i, text in enumerate(texts) if word in text]
            if len(having) == 1:
                applicable[word] += 1
                right[word] += having[0] == example.label
    choices = max((len(example.choices) for example in examples), default=2)
    return [
        CueWord(word, n, right[word] / n, n / len(examples), choices) for word, n in applicable.items() if n >= least
    ]


def _of_classes(examples: Sequence[Example | PairExample], least: int) -> list[CueWord]:
    labels = sorted({example.label for example in examples if example.label is not None})
    counts: dict[str, Counter] = {}
    for example in examples:
        for word in tokens_of(example.pair if isinstance(example, PairExample) else example.text):
            counts.setdefault(word, Counter())[example.label] += 1
    result = []
    for word, by_label in counts.items():
        n = sum(by_label.values())
        if n >= least:
            answer = max(labels, key=lambda label: by_label[label])
            result.append(CueWord(word, n, by_label[answer] / n, n / len(examples), len(labels), answer))
    return result


def tokens_of(text: str) -> set[str]:
    """Lower-cased words and single Chinese characters; "n't" is the word "not"."""
    text = text.lower().replace("’", "'").replace("can't", "can not").replace("won't", "will not")
    text = re.sub(r"n't\b", " not", text)
    return set(re.findall(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+(?:'[^\W\u4e00-\u9fff]+)?", text))
