"""Probing tasks made from annotated sentences: labels of words, of pairs of words or of whole sentences.

Sources: columns as in CoNLL-2000 and -2003, texts with a pronoun, and
sentences by topic; length and word order need no annotation (Conneau et al. 2018, §2).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from minibert.inside.heads.grammatical_relations import relations
from minibert.inside.heads.pronouns import Pronoun
from minibert.tasks.data import TaskDataError
from minibert.tasks.tables import decoded, lines_of
from minibert.tasks.tagging import to_iob2, word_offsets
from minibert.text.characters import is_cjk

SURFACE, SYNTAX, MEANING = KINDS = ("surface", "syntax", "meaning")
LEAST = 8  # a label that occurs less often is left out
Words = tuple[str, ...]


@dataclass(frozen=True)
class ProbeItem:
    """The label of the words at `places` of sentence number `sentence`; no places: of the sentence as a whole."""

    sentence: int
    places: tuple[int, ...]
    label: str


@dataclass(frozen=True)
class ProbeTask:
    """kind: one of KINDS, the sort of knowledge by the literature · together: a group number for each sentence; a group
    is never split between training and testing; empty: each sentence is a group · matched: the label says whether the
    two words of a pair fit each other. Their vectors are then multiplied, not concatenated."""

    name: str
    kind: str
    sentences: tuple[Words, ...]
    items: tuple[ProbeItem, ...]
    together: tuple[int, ...] = ()
    matched: bool = False

    @property
    def unit(self) -> str:
        """What has a label: "sentence", "word" or "pair"."""
        return ("sentence", "word", "pair")[len(self.items[0].places)]

    @property
    def labels(self) -> list[str]:
        return sorted({item.label for item in self.items})

    def type_of(self, item: ProbeItem) -> Words:
        """The words in lower case: the word type, to which a control task gives a random label."""
        return tuple(self.sentences[item.sentence][place].lower() for place in item.places)

    def most(self, count: int) -> ProbeTask:
        """The first sentences with at most `count` items in all, without labels that are then rare. Raises ValueError
        when fewer than two labels are left."""
        kept, total = 0, Counter(item.sentence for item in self.items)
        while kept < len(self.sentences) and count >= total[kept]:
            count -= total[kept]
            kept += 1
        items = [item for item in self.items if item.sentence < kept]
        often = Counter(item.label for item in items)
        items = [item for item in items if often[item.label] >= LEAST]
        if len({item.label for item in items}) < 2:
            raise ValueError(f"{self.name}: fewer than two labels that occur at least {LEAST} times")
        return replace(self, sentences=self.sentences[:kept], items=tuple(items), together=self.together[:kept])


def usable(tasks: Sequence[ProbeTask], count: int) -> list[ProbeTask]:
    """Each task at `ProbeTask.most`, without those left with fewer than two labels."""
    kept = []
    for task in tasks:
        try:
            kept.append(task.most(count))
        except ValueError:
            continue
    return kept


# --- of any sentences -------------------------------------------------------------------------------------------------


def length(sentences: Sequence[Words]) -> ProbeTask:
    """How long is the sentence? Four groups of nearly equal size, by number of words."""
    ordered = sorted(map(len, sentences))
    bounds = sorted({ordered[len(ordered) * quarter // 4] for quarter in (1, 2, 3)})
    items = [ProbeItem(i, (), str(sum(len(words) >= bound for bound in bounds))) for i, words in enumerate(sentences)]
    return ProbeTask("length", SURFACE, tuple(sentences), tuple(items))


def order(sentences: Sequence[Words], seed: int = 0) -> ProbeTask:
    """Are the words in their order? In a random half of the sentences, drawn by `seed`, two neighbours are swapped
    ("bigram shift"). Sentences of fewer than four words, or whose words are all the same, are left out."""
    rng = random.Random(seed)
    changed: list[Words] = []
    items: list[ProbeItem] = []
    for words in sentences:
        inner = [i for i in range(len(words) - 2) if words[i].lower() != words[i + 1].lower()]  # the full stop stays
        if len(words) < 4 or not inner:
            continue
        row, swapped = list(words), rng.random() < 0.5
        if swapped:
            at = inner[int(rng.random() * len(inner))]
            row[at], row[at + 1] = row[at + 1], row[at]
        items.append(ProbeItem(len(changed), (), "swapped" if swapped else "as written"))
        changed.append(tuple(row))
    return ProbeTask("order", SYNTAX, tuple(changed), tuple(items))


def topic(texts: Sequence[tuple[str, str]], seed: int = 0) -> ProbeTask:
    """What is the sentence about? texts: (text, topic), taken in an order drawn by `seed`."""
    rows = list(texts)
    random.Random(seed).shuffle(rows)
    sentences = tuple(words_of(text) for text, _ in rows)
    return ProbeTask("topic", MEANING, sentences, tuple(ProbeItem(i, (), label) for i, (_, label) in enumerate(rows)))


def words_of(text: str) -> Words:
    """Runs of letters and digits, Chinese characters and other signs one by one."""
    return tuple(text[a:b] for a, b in word_offsets(text))


def by_word(name: str, kind: str, sentences: Sequence[Words], label: Callable[[int, int], str | None]) -> ProbeTask:
    """A label for each word; label(sentence, place): None for words that are no items."""
    found = ((i, j, label(i, j)) for i, words in enumerate(sentences) for j in range(len(words)))
    return ProbeTask(
        name, kind, tuple(sentences), tuple(ProbeItem(i, (j,), said) for i, j, said in found if said is not None)
    )


def segmentation(sentences: Sequence[Words]) -> ProbeTask:
    """Does a Chinese character begin a word, as `jieba` cuts it?"""
    import jieba

    jieba.setLogLevel("WARNING")
    begins = []
    for words in sentences:
        starts, at = set(), 0
        for word in jieba.cut("".join(words)):
            starts.add(at)
            at += len(word)
        ends = [0]
        for word in words:
            ends.append(ends[-1] + len(word))
        begins.append([end in starts for end in ends[:-1]])
    return by_word(
        "segmentation",
        SYNTAX,
        sentences,
        lambda i, j: ("begins" if begins[i][j] else "goes on") if is_cjk(sentences[i][j][0]) else None,
    )


# --- columns ----------------------------------------------------------------------------------------------------------


def read_columns(content: bytes, name: str) -> list[list[Words]]:
    """CoNLL format: a line has a word and further columns, separated by spaces or tabs; a blank line ends a sentence. →
    each sentence's columns, the words first. Raises TaskDataError naming the line with another number of columns."""
    sentences: list[list[Words]] = []
    rows: list[list[str]] = []
    width = None

    def flush() -> None:
        if rows:
            sentences.append([tuple(column) for column in zip(*rows, strict=True)])
            rows.clear()

    for number, line in lines_of(decoded(content, name)):
        cells = line.split("\t") if "\t" in line else line.split()
        if not any(cell.strip() for cell in cells) or cells[0] == "-DOCSTART-":
            flush()
            continue
        width = width or len(cells)
        if len(cells) != width or not all(cells) or width < 2:
            expected = "at least 2" if width < 2 else width
            raise TaskDataError(f"{name}, line {number}: {len(cells)} columns where {expected} are expected")
        rows.append(cells)
    flush()
    if not sentences:
        raise TaskDataError(f"{name} holds no sentence")
    return sentences


def conll_tasks(sentences: Sequence[list[Words]]) -> list[ProbeTask]:
    """Tasks from the columns word, part of speech (Penn Treebank), chunk, name (CoNLL-2003)."""
    words, pos = [columns[0] for columns in sentences], [columns[1] for columns in sentences]
    chunks, names = ([to_iob2(columns[place]) for columns in sentences] for place in (2, 3))
    numbers = {"NN": "singular", "NNS": "plural"}
    tenses = {"VBD": "past", "VBZ": "present", "VBP": "present"}
    pairs = tuple(
        ProbeItem(i, (one.dependent, one.head), one.name)
        for i, row in enumerate(zip(words, pos, chunks, strict=True))
        for one in relations(*row)
    )
    return [
        length(words),
        by_word("pos", SYNTAX, words, lambda i, j: pos[i][j]),
        by_word("chunk", SYNTAX, words, lambda i, j: chunks[i][j]),
        by_word("number", SYNTAX, words, lambda i, j: numbers.get(pos[i][j])),
        by_word("tense", SYNTAX, words, lambda i, j: tenses.get(pos[i][j])),
        *([ProbeTask("relation", SYNTAX, tuple(words), pairs)] if pairs else []),
        order(words),
        by_word("names", MEANING, words, lambda i, j: names[i][j][2:] or None),
    ]


def coreference(pronouns: Sequence[Pronoun]) -> ProbeTask:
    """Does the pronoun stand for this candidate? A pair of words for each candidate. Texts with the same candidates
    differ in a few words and in the answer: they stay together, or the probe would memorize one and be wrong on the
    other."""
    items = tuple(
        ProbeItem(i, (one.pronoun, candidate), "antecedent" if candidate == one.antecedent else "other")
        for i, one in enumerate(pronouns)
        for candidate in one.candidates
    )
    groups: dict[frozenset[str], int] = {}
    together = tuple(
        groups.setdefault(frozenset(one.words[place] for place in one.candidates), len(groups)) for one in pronouns
    )
    return ProbeTask("coreference", MEANING, tuple(one.words for one in pronouns), items, together, matched=True)


def name_tasks(sentences: Sequence[list[Words]]) -> list[ProbeTask]:
    """Tasks from columns of characters and name tags, as in Chinese data sets."""
    words, names = [columns[0] for columns in sentences], [columns[-1] for columns in sentences]
    return [
        length(words),
        segmentation(words),
        order(words),
        by_word("names", MEANING, words, lambda i, j: names[i][j][2:] or None),
    ]


def part_of_speech(sentences: Sequence[list[Words]]) -> ProbeTask:
    """Task from the columns word, part of speech."""
    return by_word("pos", SYNTAX, [columns[0] for columns in sentences], lambda i, j: sentences[i][1][j])


def column_tasks(sentences: Sequence[list[Words]]) -> list[ProbeTask]:
    """Tasks from any columns: one for each after the words. Their kind is unknown, and set to syntax."""
    words = [columns[0] for columns in sentences]

    def column(n: int) -> ProbeTask:
        return by_word(f"column {n + 1}", SYNTAX, words, lambda i, j: sentences[i][n][j])

    return [length(words), *map(column, range(1, len(sentences[0]))), order(words)]
