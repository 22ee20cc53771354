"""Exact match and F1 of answers that are spans of a passage, as the official scripts of SQuAD and CMRC 2018 count."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any

from minibert.text.characters import is_cjk

ARTICLES = re.compile(r"\b(a|an|the)\b")
# What CMRC 2018's script takes for punctuation.
CMRC_PUNCTUATION = set("-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")
LATIN = re.compile(r"[^\W_]+(?:[.,][^\W_]+)*|[^\w\s]")  # about as NLTK's word_tokenize, which that script calls


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def normalized(text: str) -> str:
    """SQuAD: lower case, without punctuation, articles and surplus spaces."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(ARTICLES.sub(" ", text).split())


def is_chinese(text: str) -> bool:
    """At least a third of the characters are Chinese."""
    return 3 * sum(map(is_cjk, text)) >= max(1, len(text))


def squad_scores(answer: str, truth: str) -> tuple[float, float]:
    """(exact match, F1 over words), as SQuAD's script counts them."""
    said, right = normalized(answer), normalized(truth)
    words, wanted = said.split(), right.split()
    if not words or not wanted:
        return float(said == right), float(words == wanted)
    same = sum((Counter(words) & Counter(wanted)).values())
    return float(said == right), 2 * same / (len(words) + len(wanted))


def without_punctuation(text: str) -> str:
    return "".join(c for c in text.lower().strip() if c not in CMRC_PUNCTUATION)


def characters(text: str) -> list[str]:
    """Chinese characters one by one, other runs as words."""
    units, run = [], ""
    for c in text:
        if is_cjk(c):
            units += [*LATIN.findall(run), c]
            run = ""
        else:
            run += c
    return units + LATIN.findall(run)


def cmrc_scores(answer: str, truth: str) -> tuple[float, float]:
    """(exact match, F1 over the longest run of characters both share), as CMRC 2018's script counts them."""
    texts = without_punctuation(answer), without_punctuation(truth)
    same = float(texts[0] == texts[1])
    said, right = map(characters, texts)
    if not said or not right:
        return same, same
    longest, before = 0, [0] * (len(right) + 1)
    for unit in said:
        now = [0] * (len(right) + 1)
        for j, other in enumerate(right, 1):
            if unit == other:
                now[j] = before[j - 1] + 1
                longest = max(longest, now[j])
        before = now
    return same, 2 * longest / (len(said) + len(right))


def score_answer(answer: str, example: Any) -> tuple[float, float]:
    """(exact match, F1), each the best over the reference answers; without references, 1 for an empty answer, else 0.

    example: a SpanExample.
    """
    measure = cmrc_scores if is_chinese(example.context) else squad_scores
    pairs = [measure(answer, truth.text) for truth in example.answers or ()] or [(float(not answer),) * 2]
    return max(em for em, _ in pairs), max(f1 for _, f1 in pairs)


def outcome(answer: str, example: Any) -> str:
    """Compare an answer with the references: "exact", "overlap" (some F1), "wrong", or "missed" (no answer given).
    Without references: "silent" (rightly no answer) or "invented"."""
    if not example.answers:
        return "invented" if answer else "silent"
    if not answer:
        return "missed"
    exact, f1 = score_answer(answer, example)
    return "exact" if exact else "overlap" if f1 else "wrong"
