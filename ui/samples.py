"""The words and sentences whose vectors the lesson on embeddings shows: from our data sets, and the user's own."""

import csv
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ui.lesson import LESSONS

DATA = LESSONS / "data"
PARTS = ("train", "dev")
LANGUAGES = ("en", "zh")
SENTENCES_A_TOPIC = 20
WORDS_AT_MOST = 260
# Parts of speech (of the Penn Treebank and of our Chinese sentences), in groups few enough to tell apart by colour.
POS_GROUPS = {
    "noun": ("NN", "NNS", "NOUN"),
    "name": ("NNP", "NNPS", "PROPN"),
    "verb": ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD", "VERB", "AUX"),
    "adjective": ("JJ", "JJR", "JJS", "ADJ"),
    "pronoun": ("PRP", "PRP$", "WP", "WP$", "WDT", "PRON"),
    "determiner": ("DT", "PDT", "DET"),
    "preposition": ("IN", "TO", "ADP"),
    "number": ("CD", "NUM"),
}
Span = tuple[int, int]
Pair = tuple[str, str, float]  # sentence, sentence, score from 0 to 5


@dataclass(frozen=True)
class VectorItems:
    """Items with one vector each: words, tokens or whole texts. spans: of each text, the spans that are items; None:
    each text is one item · of: group index of each item; own: group of the user's items · titles: tooltip of each
    item, with its sentence · marks: label beside its point, "" for none."""

    texts: tuple[str, ...]
    spans: tuple[tuple[Span, ...], ...] | None
    groups: tuple[str, ...]
    of: tuple[int, ...]
    titles: tuple[str, ...]
    marks: tuple[str, ...]
    own: int | None = None

    def __len__(self) -> int:
        return len(self.of)


@lru_cache
def senses(language: str) -> dict[str, list[tuple[str, str]]]:
    """Ambiguous word → (sense, sentence) of each of its sentences."""
    words: dict[str, list[tuple[str, str]]] = {}
    with (DATA / "senses" / f"{language}.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            words.setdefault(row["word"], []).append((row["sense"], row["sentence"]))
    return words


def place_of(word: str, text: str) -> Span | None:
    """Span of the first occurrence of the word, ignoring case; ASCII words match whole words only. None if absent."""
    edge = r"\b" if word.isascii() else ""
    found = re.search(f"{edge}{re.escape(word)}{edge}", text, re.IGNORECASE)
    return found.span() if found else None


def one_word(word: str, rows: Sequence[tuple[str, str]], own: Sequence[str], yours: str) -> VectorItems:
    """A word in all its sentences, one group per sense; `own` sentences that contain it form the group `yours`."""
    senses_of = list(dict.fromkeys(sense for sense, _ in rows))
    mine = [line for line in own if place_of(word, line)]
    texts = [*(text for _, text in rows), *mine]
    of = [*(senses_of.index(sense) for sense, _ in rows), *[len(senses_of)] * len(mine)]
    return VectorItems(
        tuple(texts),
        tuple((place_of(word, text),) for text in texts),
        (*senses_of, *([yours] if mine else [])),
        tuple(of),
        tuple(texts),
        ("",) * len(texts),
        len(senses_of) if mine else None,
    )


def all_words(language: str) -> VectorItems:
    """All words of `senses` in all their sentences, one group per word."""
    rows = [(word, text) for word, uses in senses(language).items() for _, text in uses]
    words = list(senses(language))
    return VectorItems(
        tuple(text for _, text in rows),
        tuple((place_of(word, text),) for word, text in rows),
        tuple(words),
        tuple(words.index(word) for word, _ in rows),
        tuple(f"{word}: {text}" for word, text in rows),
        ("",) * len(rows),
    )


@lru_cache
def annotated(language: str) -> list[list[tuple[str, ...]]]:
    """Sentences of the entity data, each as columns: the words first, then their annotations."""
    from minibert.inside.probes.tasks import read_columns

    folder = DATA / ("entities-zh" if language == "zh" else "entities")
    return [row for part in PARTS for row in read_columns((folder / f"{part}.txt").read_bytes(), f"{part}.txt")]


@lru_cache
def pronouns() -> list:
    """Our English texts with a pronoun and its referent, as `minibert.inside.heads.pronouns.Pronoun`."""
    from minibert.inside.heads.pronouns import read_pronouns

    return read_pronouns((DATA / "pronouns" / "en.tsv").read_bytes(), "en.tsv")


@lru_cache
def tagged(language: str) -> list[list[tuple[str, ...]]]:
    """Sentences with part-of-speech tags, each as columns: words, tags, further columns."""
    from minibert.inside.probes.tasks import read_columns

    if language != "zh":
        return annotated(language)
    return read_columns((DATA / "words-zh" / "sentences.txt").read_bytes(), "sentences.txt")


@lru_cache
def questions(language: str) -> tuple[tuple[str, str], ...]:
    """(question, standard question) of the help-desk data."""
    from minibert.sentence_vectors.rows import questions_of

    return tuple(questions_of(DATA / "desk" / f"{language}.tsv"))


def sts_b() -> list[Pair]:
    """The dev pairs of STS-B; [] unless the folder `MINIBERT_DATA` contains them."""
    return _sts_b(os.environ.get("MINIBERT_DATA", ""))


@lru_cache
def _sts_b(folder: str) -> list[Pair]:
    from minibert.tasks import TASKS

    file = Path(folder, "tasks", "en", "stsb", "dev.tsv")
    return [(e.text, e.pair, e.score) for e in TASKS["similarity"].read(file).examples] if file.is_file() else []


@lru_cache
def requests(language: str) -> list[tuple[str, str]]:
    """(text, intent) of the requests."""
    from minibert.tasks import TASKS

    folder = DATA / ("intents-zh" if language == "zh" else "intents")
    return [(e.text, e.intent) for part in PARTS for e in TASKS["intent"].read(folder / f"{part}.md").examples]


@lru_cache
def similar_parts(language: str) -> tuple[list[Pair], ...]:
    """Our sentence pairs by part; the last part is never used for fine-tuning."""
    from minibert.tasks import TASKS

    files = ["similarity-zh/pairs.tsv"] if language == "zh" else [f"similarity/{part}.tsv" for part in PARTS]
    read = TASKS["similarity"].read
    return tuple([(one.text, one.pair, one.score) for one in read(DATA / file).examples] for file in files)


def similar_pairs(language: str) -> list[Pair]:
    """All pairs of `similar_parts`."""
    return [pair for part in similar_parts(language) for pair in part]


def many_words(language: str, own: Sequence[str], yours: str) -> VectorItems:
    """Up to WORDS_AT_MOST words grouped by part of speech, and all words of the user's sentences as group `yours`."""
    from minibert.inside.geometry.vectors import joined
    from minibert.inside.probes.tasks import words_of

    pos = {tag: group for group, tags in POS_GROUPS.items() for tag in tags}
    found: list[tuple[str, list[tuple[int, str]]]] = []
    total = 0
    for words, tags, *_others in tagged(language):
        selected = [(place, pos[tag]) for place, tag in enumerate(tags) if tag in pos]
        if total + len(selected) > WORDS_AT_MOST:
            break
        total += len(selected)
        if selected:
            found.append((words, selected))
    groups = list(dict.fromkeys(group for _, selected in found for _, group in selected))
    for line in own:
        words = words_of(line)
        found.append((words, [(place, yours) for place in range(len(words))]))
    names = [*groups, *([yours] if own else [])]
    texts, spans = zip(*(joined(words) for words, _ in found), strict=True)
    return VectorItems(
        texts,
        tuple(tuple(where[place] for place, _ in selected) for where, (_, selected) in zip(spans, found, strict=True)),
        tuple(names),
        tuple(names.index(group) for _, selected in found for _, group in selected),
        tuple(
            f"{words[place]}: {text}"
            for text, (words, selected) in zip(texts, found, strict=True)
            for place, _ in selected
        ),
        tuple(words[place] for words, selected in found for place, _ in selected),
        len(groups) if own else None,
    )


def whole_sentences(language: str, own: Sequence[str], yours: str) -> VectorItems:
    """Up to SENTENCES_A_TOPIC requests of each intent, and the user's sentences as group `yours`."""
    counts: Counter[str] = Counter()
    rows = []
    for text, topic in requests(language):
        if counts[topic] < SENTENCES_A_TOPIC:
            counts[topic] += 1
            rows.append((text, topic))
    groups = list(counts)
    texts = (*(text for text, _ in rows), *own)
    return VectorItems(
        texts,
        None,
        (*groups, *([yours] if own else [])),
        (*(groups.index(topic) for _, topic in rows), *[len(groups)] * len(own)),
        texts,
        ("",) * len(texts),
        len(groups) if own else None,
    )


def own_tokens(encoding, text: str, names: tuple[str, str]) -> VectorItems:
    """The tokens of a text without special tokens, in two groups `names`: word-initial and continuation pieces (##)."""
    shown = [
        (token, span)
        for token, span, special in zip(encoding.tokens, encoding.offsets, encoding.special, strict=True)
        if not special
    ]
    return VectorItems(
        (text,),
        (tuple(span for _, span in shown),),
        names,
        tuple(int(token.startswith("##")) for token, _ in shown),
        tuple(f"{number}. {token}" for number, (token, _) in enumerate(shown, 1)),
        tuple(token for token, _ in shown),
    )
