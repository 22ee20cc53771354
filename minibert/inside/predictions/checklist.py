"""Does the answer follow the meaning? Edit texts by rule and count how often it flips (Ribeiro et al. 2020, CheckList).

A rule that keeps the meaning must not change the answer; a rule that reverses it must. Shuffling the words has no
expected answer: it shows whether the model uses their order. Rules work on English or Chinese, with the short word
lists below, so that their effect is easy to follow. A text to which a rule does not apply is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minibert.finetune.augmentation import join_words, split_words
from minibert.text.characters import is_cjk
from minibert.training.statistics import wilson

Edit = Callable[[str, np.random.Generator], str | None]
SAME, CHANGE, OPEN = "same", "change", "open"  # what the answer should do


@dataclass(frozen=True)
class Rule:
    """edit: the new text, or None where the rule does not apply · expects: SAME, CHANGE or OPEN."""

    name: str
    expects: str
    edit: Edit


NAMES = (
    "Anna", "Paulo", "Amina", "Tom", "Mona", "Jack", "Omar", "Lena", "Yuki", "Peter", "Maria", "Ahmed", "Sofia", "Ben",
    "Ines", "Karl", "Nadia", "Leo", "Ruth", "Ivan",
)  # fmt: skip
NAMES_ZH = ("小明", "小红", "小李", "小王", "小张", "老王", "老李", "老张", "阿强", "阿芳")
SYNONYMS = (
    ("film", "movie"), ("great", "terrific"), ("wonderful", "marvellous"), ("awful", "dreadful"), ("boring", "dull"),
    ("funny", "amusing"), ("big", "large"), ("small", "little"), ("quick", "fast"), ("begin", "start"),
    ("lovely", "delightful"), ("dirty", "filthy"), ("buy", "purchase"), ("nearly", "almost"), ("shop", "store"),
)  # fmt: skip
SYNONYMS_ZH = (
    ("电影", "影片"),
    ("非常", "十分"),
    ("饭店", "餐馆"),
    ("漂亮", "好看"),
    ("喜欢", "喜爱"),
    ("无聊", "乏味"),
)
OPPOSITES = (
    ("good", "bad"), ("best", "worst"), ("better", "worse"), ("love", "hate"), ("loved", "hated"), ("warm", "cold"),
    ("wonderful", "awful"), ("great", "terrible"), ("funny", "boring"), ("clean", "dirty"), ("friendly", "rude"),
    ("excellent", "dreadful"), ("beautiful", "ugly"), ("delicious", "disgusting"), ("clear", "confusing"),
    ("clever", "stupid"), ("lovely", "horrible"), ("brilliant", "hopeless"), ("always", "never"),
)  # fmt: skip
OPPOSITES_ZH = (
    ("好", "差"), ("喜欢", "讨厌"), ("干净", "肮脏"), ("精彩", "无聊"), ("热情", "冷淡"), ("漂亮", "难看"),
    ("便宜", "昂贵"), ("满意", "失望"), ("好吃", "难吃"),
)  # fmt: skip
ASIDES = ("It was a Tuesday.", "We came by bus.", "I was there with my cousin.", "It was about noon.")
ASIDES_ZH = ("那天是星期二。", "我们坐公交车去的。", "当时快到中午了。", "我是和表弟一起去的。")
AUXILIARIES = (
    "is", "are", "was", "were", "am", "has", "had", "have", "can", "could", "will", "would", "should", "does", "did",
    "do", "must",
)  # fmt: skip
SHORT_FORMS = (
    ("can not", "can't"), ("cannot", "can't"), ("will not", "won't"), ("is not", "isn't"), ("are not", "aren't"),
    ("was not", "wasn't"), ("were not", "weren't"), ("did not", "didn't"), ("does not", "doesn't"),
    ("do not", "don't"), ("has not", "hasn't"), ("have not", "haven't"), ("had not", "hadn't"),
    ("would not", "wouldn't"), ("could not", "couldn't"), ("should not", "shouldn't"),
    ("it is", "it's"), ("I am", "I'm"), ("I have", "I've"), ("that is", "that's"),
)  # fmt: skip


def has_chinese(text: str) -> bool:
    return any(map(is_cjk, text))


def negated(text: str, rng: np.random.Generator) -> str | None:
    """Remove the first "not", or insert one after the first auxiliary verb."""
    if has_chinese(text):
        if found := re.search(r"不是|没有|从不|不|没", text):
            rest = {"不是": "是", "没有": "有", "从不": "总是"}.get(found[0], "")
            return text[: found.start()] + rest + text[found.end() :]
        denied = {"是": "不是", "有": "没有", "很": "不"}
        return _changed(text, re.sub("是|有|(?<!得)很", lambda found: denied[found[0]], text, count=1))
    for irregular, full in (("can't", "can"), ("won't", "will"), ("cannot", "can")):
        if found := re.search(rf"\b{irregular}\b", text, re.IGNORECASE):
            return text[: found.start()] + _cased_like(found[0], full) + text[found.end() :]
    if found := re.search(r"n't\b| not\b", text):
        return text[: found.start()] + text[found.end() :]
    verbs = "|".join(AUXILIARIES)
    return _changed(text, re.sub(rf"\b({verbs})\b(?!')", r"\1 not", text, count=1, flags=re.IGNORECASE))


def opposite(text: str, rng: np.random.Generator) -> str | None:
    """Replace the first word that has an opposite by it."""
    return _replaced(text, OPPOSITES_ZH if has_chinese(text) else OPPOSITES)


def synonym(text: str, rng: np.random.Generator) -> str | None:
    """Replace the first word that has a synonym by it."""
    return _replaced(text, SYNONYMS_ZH if has_chinese(text) else SYNONYMS)


def other_name(text: str, rng: np.random.Generator) -> str | None:
    """Replace the first name by another, everywhere."""
    names = NAMES_ZH if has_chinese(text) else NAMES
    edge = "" if has_chinese(text) else r"\b"  # Chinese words have none
    found = re.search(f"{edge}(?:{'|'.join(names)}){edge}", text)
    if found is None:
        return None
    others = [name for name in names if name not in text]
    return re.sub(edge + found[0] + edge, others[int(rng.integers(len(others)))], text) if others else None


def typo(text: str, rng: np.random.Generator) -> str | None:
    """Swap two neighbouring letters inside a word of four letters or more (in Chinese, two characters)."""
    pattern = r"[\u4e00-\u9fff]{4,}" if has_chinese(text) else r"[A-Za-z]{4,}"
    places = [
        i
        for word in re.finditer(pattern, text)
        for i in range(word.start() + 1, word.end() - 2)
        if text[i] != text[i + 1]
    ]
    if not places:
        return None
    i = places[int(rng.integers(len(places)))]
    return text[:i] + text[i + 1] + text[i] + text[i + 2 :]


def aside(text: str, rng: np.random.Generator) -> str | None:
    """Append a neutral sentence."""
    if not text.strip():
        return None
    asides = ASIDES_ZH if has_chinese(text) else ASIDES
    return f"{text.rstrip()}{'' if has_chinese(text) else ' '}{asides[int(rng.integers(len(asides)))]}"


def short_form(text: str, rng: np.random.Generator) -> str | None:
    """is not → isn't, or the other way round."""
    if has_chinese(text):
        return None
    return _replaced(text, SHORT_FORMS, letters=r"[\w']")


def shuffled(text: str, rng: np.random.Generator) -> str | None:
    """All words (in Chinese: characters) in random order; final punctuation stays at the end."""
    body = text.rstrip(".!?。！？ ")
    words = split_words(body)
    if len(set(words)) < 3:
        return None
    order = rng.permutation(len(words))
    return _changed(text, join_words([words[i] for i in order]) + text[len(body) :])


RULES = (
    Rule("synonym", SAME, synonym),
    Rule("name", SAME, other_name),
    Rule("short form", SAME, short_form),
    Rule("aside", SAME, aside),
    Rule("typo", SAME, typo),
    Rule("negation", CHANGE, negated),
    Rule("opposite", CHANGE, opposite),
    Rule("order", OPEN, shuffled),
)


def _changed(old: str, new: str) -> str | None:
    return None if new == old else new


def _cased_like(model: str, word: str) -> str:
    return word[0].upper() + word[1:] if model[:1].isupper() else word


def _replaced(text: str, pairs: Sequence[tuple[str, str]], letters: str = r"\w") -> str | None:
    """Replace the first word of `pairs` in the text by its partner; only whole words, except in Chinese."""
    chinese = has_chinese(text)
    best = None
    for a, b in (way for pair in pairs for way in (pair, pair[::-1])):
        pattern = re.escape(a) if chinese else rf"(?<!{letters}){re.escape(a)}(?!{letters})"
        found = re.search(pattern, text, 0 if chinese else re.IGNORECASE)
        if found and (best is None or (found.start(), -len(found[0])) < (best[0].start(), -len(best[0][0]))):
            best = (found, b)
    if best is None:
        return None
    found, word = best
    if chinese:
        return text[: found.start()] + word + text[found.end() :]
    before = re.sub(r"\b(a)n? $", r"\1n " if word[0] in "aeiou" else r"\1 ", text[: found.start()], flags=re.IGNORECASE)
    return before + _cased_like(found[0], word) + text[found.end() :]


# --- asking a model ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EditedText:
    """One text before and after a rule, with the model's answers: label → probability. others: its other fields."""

    before: str
    after: str
    answer: dict[str, float]
    answer_after: dict[str, float]
    others: Mapping[str, str]

    @property
    def label(self) -> str:
        return max(self.answer, key=self.answer.__getitem__)

    @property
    def label_after(self) -> str:
        return max(self.answer_after, key=self.answer_after.__getitem__)

    @property
    def flipped(self) -> bool:
        return self.label != self.label_after


@dataclass(frozen=True)
class RuleResult:
    """What a rule did to the answers. texts: those it applies to · of: the number of all texts."""

    rule: Rule
    texts: list[EditedText]
    of: int

    @property
    def flips(self) -> int:
        return sum(edited.flipped for edited in self.texts)

    @property
    def rate(self) -> float:
        """Share of the texts whose answer flips; NaN if the rule applies to none."""
        return self.flips / len(self.texts) if self.texts else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.flips, len(self.texts))


def check(
    predictor, inputs: Sequence[Mapping[str, str]], field: str = "text", *, seed: int = 0
) -> Iterator[RuleResult]:
    """Apply each of RULES to the field of every input, and compare the answers. inputs: as for `Predictor.predict`,
    of a task that answers with a class."""
    answers = [answer["probabilities"] for answer in predictor.predict(list(inputs))]
    for number, rule in enumerate(RULES):
        rng = np.random.default_rng((seed, number))
        edits = [(i, new) for i, given in enumerate(inputs) if (new := rule.edit(given[field], rng)) and new.strip()]
        after: list[Any] = predictor.predict([{**inputs[i], field: new} for i, new in edits])
        texts = [
            EditedText(inputs[i][field], new, answers[i], answer["probabilities"], _others(inputs[i], field))
            for (i, new), answer in zip(edits, after, strict=True)
        ]
        yield RuleResult(rule, texts, len(inputs))


def _others(given: Mapping[str, str], field: str) -> dict[str, str]:
    return {name: value for name, value in given.items() if name != field}
