"""Grammatical relations between words, derived from part-of-speech tags and chunks alone, with few mistakes.

The columns are those of CoNLL-2000 and -2003 (Tjong Kim Sang and Buchholz 2000): Penn Treebank tags, and chunks that
do not overlap or nest. The relations carry the names, and run between the words, of the Stanford dependencies (de
Marneffe and Manning 2008), on which Clark et al. 2019 measured attention heads. This is no parser: where chunks allow
two readings (coordination, two objects, a clause after *before*), no relation is returned. So precision is high and
recall is not, and the relations found span shorter distances than those of a treebank.

Checked by hand on 50 of each in the sentences of lessons/data/entities (all, if there are fewer): one wrong determiner
("the piano Wanda"), nothing else. On CoNLL-2003's own news, which a tagger labelled and which has tables and headlines:
3 of 50 subjects, 4 of 50 objects and 5 of 50 particles are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from minibert.tasks.tagging import entities, to_iob2

DETERMINER, ADJECTIVE, POSSESSIVE, AUXILIARY, PASSIVE, SUBJECT, OBJECT, PREPOSITION, PARTICLE = RELATIONS = (
    "det",
    "amod",
    "poss",
    "aux",
    "auxpass",
    "nsubj",
    "dobj",
    "pobj",
    "prt",
)

NOUNS = {"NN", "NNS", "NNP", "NNPS"}
VERBS = {"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"}
FINITE = {"VBD", "VBP", "VBZ", "MD"}
BE = {"be", "am", "is", "are", "was", "were", "been", "being", "'m", "'re", "'s"}
HAVE = {"have", "has", "had", "having", "'ve", "'d", "'s"}
DO = {"do", "does", "did"}
NOMINATIVE = {"i", "he", "she", "we", "they"}  # pronouns that can be nothing but a subject
# Prepositions that may also begin a clause.
CLAUSE_TOO = {"after", "as", "because", "before", "for", "like", "since", "than", "till", "until", "while"}
# Verbs after which a bare noun phrase is no object: it is a predicate, or a subject after its verb.
NO_OBJECT = BE | {
    form
    for forms in (
        "become becomes became becoming seem seems seemed remain remains remained remaining appear appears",
        "appeared come comes came coming go goes went gone going arrive arrives arrived stand stands stood",
        "standing sit sits sat sitting lie lies lay lain lying live lives lived living stay stays stayed fall",
        "falls fell fallen rise rises rose risen sleep sleeps slept die dies died wait waits waited waiting happen",
        "happens happened say says said reply replies replied answer answers answered last lasts lasted weigh",
        "weighs weighed cost costs measure measures measured look looks looked feel feels felt begin begins began",
    )
    for form in forms.split()
}
# Nouns of time and distance: they say when or how far, and are no objects.
ADVERBIAL = {
    word
    for words in (
        "day days night nights morning mornings evening evenings afternoon noon midnight today yesterday tomorrow",
        "tonight hour hours minute minutes second seconds moment week weeks weekend month months year years time",
        "times century monday tuesday wednesday thursday friday saturday sunday january february march april may",
        "june july august september october november december spring summer autumn winter mile miles metre metres",
        "meter meters kilometre kilometres km home way percent",
    )
    for word in words.split()
}


@dataclass(frozen=True)
class Relation:
    """name: one of RELATIONS · dependent, head: places of the two words in their sentence."""

    name: str
    dependent: int
    head: int


@dataclass(frozen=True)
class Chunk:
    """Words start … end − 1. kind: "NP", "VP", … or "O" for a word in no chunk."""

    kind: str
    start: int
    end: int


def relations(words: Sequence[str], pos: Sequence[str], chunks: Sequence[str]) -> list[Relation]:
    """The relations of a sentence, in the order of their dependents. pos: Penn Treebank · chunks: IOB1 or IOB2."""
    return sorted(_Sentence(words, pos, chunks).all(), key=lambda found: (found.dependent, RELATIONS.index(found.name)))


class _Sentence:
    def __init__(self, words: Sequence[str], pos: Sequence[str], tags: Sequence[str]):
        self.words, self.pos = [word.lower() for word in words], pos
        inside = {start: Chunk(kind, start, end) for start, end, kind in entities(to_iob2(tags))}
        self.chunks: list[Chunk] = []
        place = 0
        while place < len(words):
            self.chunks.append(inside.get(place) or Chunk("O", place, place + 1))
            place = self.chunks[-1].end

    def all(self) -> Iterator[Relation]:
        for number, chunk in enumerate(self.chunks):
            if chunk.kind == "NP":
                yield from self.in_noun_chunk(number)
                yield from self.subject(number)
            elif chunk.kind == "VP":
                yield from self.auxiliaries(chunk)
                yield from self.object(number)
            elif chunk.kind == "PP":
                yield from self.object_of_preposition(number)
            elif chunk.kind == "PRT":
                yield from self.particle(number)

    # --- noun chunks --------------------------------------------------------------------------------------------------

    def kind(self, number: int) -> str:
        """The kind of chunk `number`; "" before the first and after the last."""
        return self.chunks[number].kind if 0 <= number < len(self.chunks) else ""

    def noun(self, number: int) -> int | None:
        """The head of a noun chunk: its last noun. None for a pronoun or a number alone, or with a conjunction."""
        chunk = self.chunks[number]
        if any(self.pos[i] in ("CC", ",") for i in range(chunk.start, chunk.end)):
            return None
        nouns = [i for i in range(chunk.start, chunk.end) if self.pos[i] in NOUNS]
        return nouns[-1] if nouns and nouns[-1] == chunk.end - 1 else None

    def noun_or_pronoun(self, number: int) -> int | None:
        chunk = self.chunks[number]
        if chunk.end - chunk.start == 1 and self.pos[chunk.start] in ("PRP", "WP", "WDT"):
            return chunk.start
        return self.noun(number)

    def owned(self, number: int) -> bool:
        """Whether this chunk is something owned, as "'s crown"."""
        return self.kind(number) == "NP" and self.pos[self.chunks[number].start] == "POS"

    def whole(self, number: int) -> int:
        """The last chunk of a noun phrase that begins with its owners: for "the king" "'s crown" the second."""
        while self.owned(number + 1):
            number += 1
        return number

    def in_noun_chunk(self, number: int) -> Iterator[Relation]:
        chunk, head = self.chunks[number], self.noun(number)
        if head is None:
            return
        for i in range(chunk.start, head):
            between = {self.pos[j] for j in range(i + 1, head)}
            if self.pos[i] == "DT" and not between & {"DT", "PRP$"}:
                yield Relation(DETERMINER, i, head)
            elif self.pos[i] in ("JJ", "JJR", "JJS") and "IN" not in between:  # "more than three people"
                yield Relation(ADJECTIVE, i, head)
            elif self.pos[i] == "PRP$":
                yield Relation(POSSESSIVE, i, head)
        if self.owned(number) and self.kind(number - 1) == "NP" and (owner := self.noun(number - 1)) is not None:
            yield Relation(POSSESSIVE, owner, head)

    # --- verb chunks --------------------------------------------------------------------------------------------------

    def helps(self, place: int, end: int) -> int | None:
        """The next verb of the chunk if the word at `place` is an auxiliary of its group: "has" of "has not been"."""
        following = place + 1
        while following < end and self.pos[following].startswith("RB"):
            following += 1
        if following == end or self.pos[following] not in VERBS:
            return None
        word, tag, after = self.words[place], self.pos[place], self.pos[following]
        fits = (
            (tag in ("MD", "TO") and after == "VB")
            or (tag in VERBS and word in DO and after == "VB")
            or (tag in VERBS and word in HAVE and after in ("VBN", "VBD"))
            or (tag in VERBS and word in BE and after in ("VBG", "VBN"))
        )
        return following if fits else None

    def group(self, place: int, end: int) -> list[int]:
        """The verbs of a group from `place` on: its auxiliaries, then the main verb."""
        found = [place]
        while (following := self.helps(found[-1], end)) is not None:
            found.append(following)
        return found

    def is_passive(self, group: Sequence[int]) -> bool:
        return len(group) > 1 and self.words[group[-2]] in BE and self.pos[group[-1]] == "VBN"

    def groups(self, chunk: Chunk) -> list[list[int]]:
        """The groups of verbs in a chunk: "wanted" and "to use" of "wanted to use"."""
        found, place = [], chunk.start
        while place < chunk.end:
            if self.pos[place] in VERBS or self.pos[place] in ("MD", "TO"):
                found.append(self.group(place, chunk.end))
                place = found[-1][-1]
            place += 1
        return found

    def auxiliaries(self, chunk: Chunk) -> Iterator[Relation]:
        if any(self.pos[i] == "CC" for i in range(chunk.start, chunk.end)):
            return
        for group in self.groups(chunk):
            passive = self.is_passive(group)
            for i in group[:-1]:
                yield Relation(PASSIVE if passive and i == group[-2] else AUXILIARY, i, group[-1])

    def subject(self, number: int) -> Iterator[Relation]:
        """The noun phrase directly before a finite, active verb; or the first of the sentence, where only prepositions
        and their objects stand between."""
        verb_chunk = number + 1
        while self.kind(verb_chunk) == "ADVP":
            verb_chunk += 1
        group = self.finite_group(verb_chunk)
        head = self.noun_or_pronoun(number)
        if group is None or head is None:
            return
        before = number
        while self.owned(before):
            before -= 1
        kind = self.kind(before - 1)
        if kind == "PP":
            head = self.first_phrase(before - 1)
        elif not self.can_be_subject(head, before):
            head = None
        if head is not None:
            yield Relation(SUBJECT, head, group[-1])

    def finite_group(self, number: int) -> list[int] | None:
        """The first group of verbs of a chunk, if it is finite, active, and its main verb no form of *be*."""
        if self.kind(number) != "VP" or not (groups := self.groups(self.chunks[number])):
            return None
        group = groups[0]
        main = group[-1]
        if self.pos[group[0]] not in FINITE or self.pos[main] not in VERBS or self.words[main] in BE:
            return None
        return None if self.is_passive(group) else group

    def first_phrase(self, number: int) -> int | None:
        """The head of the sentence's first noun phrase, if only prepositions and their objects follow it up to chunk
        `number`, this one included."""
        while number > 0 and self.kind(number) == "PP" and self.kind(number - 1) == "NP":
            first = number - 1
            while self.owned(first):
                first -= 1
            if first == 0:
                head = self.noun_or_pronoun(number - 1)
                return None if head is None or self.words[head] in ADVERBIAL else head
            number = first - 1
        return None

    def can_be_subject(self, head: int, number: int) -> bool:
        """Decided by the chunk before the noun phrase, which begins at chunk `number`."""
        if self.words[head] in NOMINATIVE or self.pos[head] in ("WP", "WDT"):
            return self.kind(number - 1) != "PP"
        before = self.chunks[number - 1] if number else None
        if before is None or before.kind in ("SBAR", "ADVP"):
            return True
        if before.kind == "O":
            return self.pos[before.start] != "CC" or number == 1 or self.words[before.start - 1] == ","
        return before.kind == "NP" and self.words[head] not in ADVERBIAL

    def object(self, number: int) -> Iterator[Relation]:
        """The noun phrase directly after an active verb, unless another one, a verb or an adjective follows."""
        groups = self.groups(self.chunks[number])
        if not groups:
            return
        group, first = groups[-1], number + 1
        verb = group[-1]
        if self.kind(first) == "PRT":
            first += 1
        if self.kind(first) != "NP" or verb != self.chunks[number].end - 1 or self.pos[verb] not in VERBS:
            return
        perfect = len(group) > 1 and self.words[group[-2]] in HAVE
        if (self.pos[verb] == "VBN" and not perfect) or self.words[verb] in NO_OBJECT:
            return
        last = self.whole(first)
        head, after = self.noun_or_pronoun(last), last + 1
        if head is None or self.words[head] in ADVERBIAL or self.pos[head] in ("WP", "WDT"):
            return
        if self.kind(after) in ("VP", "ADJP") or (self.kind(after) == "NP" and not self.is_adverbial(after)):
            return
        if self.words[head] not in NOMINATIVE:
            yield Relation(OBJECT, head, verb)

    def is_adverbial(self, number: int) -> bool:
        """Whether the chunk says when or how far, or begins a relative clause."""
        chunk = self.chunks[number]
        return self.words[chunk.end - 1] in ADVERBIAL or self.pos[chunk.start] in ("WP", "WDT", "WP$")

    def object_of_preposition(self, number: int) -> Iterator[Relation]:
        place = self.chunks[number].end - 1
        if self.pos[place] not in ("IN", "TO") or self.kind(number + 1) != "NP":
            return
        last = self.whole(number + 1)
        head = self.noun_or_pronoun(last)
        if head is None or (self.words[place] in CLAUSE_TOO and self.kind(last + 1) in ("VP", "ADVP")):
            return
        yield Relation(PREPOSITION, head, place)

    def particle(self, number: int) -> Iterator[Relation]:
        """*up* of "picked up" and of "picked it up"."""
        place, before = self.chunks[number].start, number - 1
        if self.kind(before) == "NP" and self.chunks[before].end - self.chunks[before].start <= 3:
            before -= 1
        if self.kind(before) == "VP" and self.pos[place] == "RP":
            verb = self.chunks[before].end - 1
            if self.pos[verb] in VERBS:
                yield Relation(PARTICLE, place, verb)
