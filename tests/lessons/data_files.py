"""What the tests of the data sets share: where they lie, what their READMEs state, which sentences are nearly the same,
and counting words as a baseline."""

import difflib
import re
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

DATA = Path(__file__).parents[2] / "lessons" / "data"
PARTS = ("train", "dev")


def readme(folder: str) -> str:
    return (DATA / folder / "README.md").read_text(encoding="utf-8")


def row_of(*cells) -> str:
    """A row of a README's table."""
    return f"| {' | '.join(map(str, cells))} |"


def bag(model=None, **features) -> Pipeline:
    """A classifier that only counts words."""
    return make_pipeline(CountVectorizer(binary=True, **features), model or LogisticRegression(max_iter=1000))


def text(name: str) -> str:
    """The file as it is: UTF-8 in NFC, Unix line ends, one newline at the end."""
    content = (DATA / name).read_bytes().decode("utf-8")
    assert unicodedata.is_normalized("NFC", content) and "\r" not in content and "\ufeff" not in content
    assert content.endswith("\n")
    return content


def lines(name: str) -> list[list[str]]:
    """The columns of each line."""
    return [line.split("\t") for line in text(name).removesuffix("\n").split("\n")]


def words(sentence: str) -> list[str]:
    """Lower-case words, and Chinese characters one by one."""
    return re.findall(r"[a-z0-9']+|[\u4e00-\u9fff]", sentence.lower())


def longer(sentence: str) -> set[str]:
    return {word for word in words(sentence) if len(word) > 3}


def guessed(scored) -> float:
    """How often the largest score is the right one's; among equals it is drawn. scored: (scores, place of the right)"""
    return np.mean([(scores[right] == max(scores)) / scores.count(max(scores)) for scores, right in scored])


def alone(scored, best) -> float:
    """How often the right one is the only one with the best score."""
    return np.mean([scores[right] == best(scores) and scores.count(best(scores)) == 1 for scores, right in scored])


def new_ones(train: list, dev: list) -> float:
    """The share of dev that train does not have."""
    return np.mean([one not in train for one in dev])


def assert_none_gives_the_class_away(found):
    """Of the signs that occur often enough. found: (a sentence's signs, its label)"""
    seen = Counter((sign, label) for signs, label in found for sign in signs)
    for sign in {sign for sign, _ in seen}:
        counts = seen[sign, "positive"], seen[sign, "negative"]
        assert sum(counts) < 15 or max(counts) / sum(counts) <= 0.9, (sign, counts)


def assert_clean(sentences: list[str], least: int = 4):
    for sentence in sentences:
        assert sentence == " ".join(sentence.split()) and '"' not in sentence and sentence.isprintable(), sentence
        assert least <= len(words(sentence)) <= 30, sentence


def said_once(sentences: list[str]) -> bool:
    return len({" ".join(words(sentence)) for sentence in sentences}) == len(sentences)


def grams(n: int):
    """A sentence's runs of n words."""
    return lambda sentence: list(zip(*(words(sentence)[i:] for i in range(n)), strict=False))


def alike(some: list[str], others: list[str]) -> list[tuple[str, str]]:
    """Pairs, one from each side, with a quarter of their word 4-grams in common (Jaccard)."""
    shares = jaccard(some + others, analyzer=grams(4))[: len(some), len(some) :]
    return [(some[i], others[j]) for i, j in np.argwhere(shares >= 0.25)]


def jaccard(sentences: list[str], **features) -> np.ndarray:
    # binary counts: (N, N) shared features over features of either
    found = CountVectorizer(binary=True, dtype=np.float64, **features).fit_transform(sentences)
    both = (found @ found.T).toarray()
    size = both.diagonal()
    return both / np.maximum(size[:, None] + size[None, :] - both, 1)


def near_duplicates(sentences: list[str], trigrams: float = 0.3, common: float = 0.4, order: float = 0.75) -> list:
    """Pairs alike in their word trigrams or character 5-grams (Jaccard), or with common words in much one order."""
    alike = jaccard(sentences, analyzer=grams(3)) > trigrams
    alike |= jaccard(sentences, analyzer="char_wb", ngram_range=(5, 5)) > 0.45
    for i, j in np.argwhere(np.triu(jaccard(sentences, analyzer=words) > common, 1)):
        alike[i, j] |= difflib.SequenceMatcher(None, *(sentences[n].lower() for n in (i, j)), False).ratio() > order
    return [(sentences[i], sentences[j]) for i, j in np.argwhere(np.triu(alike, 1))]
