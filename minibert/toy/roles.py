"""Semantic roles in sentences of the toy world: what a role labeller gives SemBERT (Zhang et al. 2020, §3.1). The
world's words have one part of speech each and its sentences few forms, so its own grammar can parse them, also those
that a user writes. Names of roles as in PropBank, without the letters ARG and AM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from minibert.tasks.tagging import WORD
from minibert.toy import lexicon, world

ROLES = ("none", "V", "A0", "A1", "A2", "TMP", "LOC", "DIR", "ADV", "NEG")
MOST = 2  # predicates per sentence
CLAUSES = ("advcl", "conj", "parataxis")
BY_PREPOSITION = {
    **dict.fromkeys(("at", "in", "near", "under"), "LOC"),
    **dict.fromkeys(("to", "from"), "DIR"),
    **dict.fromkeys(("after", "before"), "TMP"),
}
BY_ADVERB = {"home": "DIR", "there": "LOC", "not": "NEG", **dict.fromkeys(("alone", "still", "together"), "ADV")}
GIVING = ("gave",)  # their "to" marks the receiver, elsewhere a direction
TIMES = frozenset(lexicon.WORDS["day"][1].split())


@dataclass(frozen=True)
class Parsed:
    """A sentence's words with their parts of speech, the word that each depends on, and how."""

    words: tuple[str, ...]
    pos: tuple[str, ...]
    heads: tuple[int | None, ...]
    relations: tuple[str, ...]


@cache
def parts_of_speech() -> dict[str, str]:
    """Word → part of speech, for every word of the world."""
    return {word.text: word.pos for story in world.stories(1_000, 1) for word in story.words}


def words_in(text: str) -> list[str]:
    """The words of a user's text, in lower case; a punctuation mark is a word."""
    return [text[at.start() : at.end()].lower() for at in WORD.finditer(text)]


def sentences_of(words: Sequence[str]) -> list[list[str]]:
    """Split after each full stop."""
    found: list[list[str]] = [[]]
    for word in words:
        found[-1].append(word)
        if word == ".":
            found.append([])
    return [sentence for sentence in found if sentence]


def parse(words: Sequence[str]) -> Parsed:
    """Parse a sentence of the world. Raises ValueError for a word that the world does not have, and for a sentence that
    is not built like its own."""
    known = parts_of_speech()
    if strange := [word for word in words if word not in known]:
        raise ValueError(f"the toy world has no word {strange[0]!r}")
    pos = [known[word] for word in words]
    if not any(kind in ("VERB", "AUX") for kind in pos):
        raise ValueError(f"{' '.join(words)!r} has no verb")
    possessive = [word in ("his", "her") and _before_noun(pos, at) for at, word in enumerate(words)]
    noun_of, nominal = world.nouns(pos, possessive)
    try:
        heads, relations = world.dependencies(pos, noun_of, nominal, _clauses(words, pos))
    except (StopIteration, KeyError, IndexError):
        raise ValueError(f"{' '.join(words)!r} is not built as the sentences of the toy world are") from None
    return Parsed(tuple(words), tuple(pos), tuple(heads), tuple(relations))


def _before_noun(pos: Sequence[str], at: int) -> bool:
    behind = next((kind for kind in pos[at + 1 :] if kind not in ("ADJ", "NUM")), "")
    return behind == "NOUN"


def _clauses(words: Sequence[str], pos: Sequence[str]) -> list[list[int]]:
    """A clause begins behind a comma, or at an "and", where there is a verb on either side."""
    verbal = [kind in ("VERB", "AUX") for kind in pos]
    clauses: list[list[int]] = [[]]
    for at, word in enumerate(words):
        new = words[at - 1] == "," if at else False
        end = next((n for n in range(at + 1, len(words)) if words[n] in (",", "and")), len(words))
        if (new or word == "and") and any(verbal[n] for n in clauses[-1]) and any(verbal[at:end]):
            clauses.append([])
        clauses[-1].append(at)
    return clauses


def predicates(sentence: Parsed) -> list[list[str]]:
    """For each verb the roles (ROLES) of all words of the sentence. A verb without a subject takes that of the main."""
    root = sentence.relations.index("root")
    heads = [root, *(i for i, how in enumerate(sentence.relations) if how in CLAUSES and sentence.heads[i] == root)]
    subject = [i for i, how in enumerate(sentence.relations) if how == "nsubj" and sentence.heads[i] == root]
    found = []
    for predicate in sorted(heads):
        parts = [i for i, head in enumerate(sentence.heads) if head == predicate and i not in heads]
        copula = next((i for i in parts if sentence.relations[i] == "cop"), None)
        verb = predicate if copula is None else copula
        roles = ["none"] * len(sentence.words)
        if not any(sentence.relations[i] == "nsubj" for i in parts):
            parts += subject
        if copula is not None:
            own = [predicate, *(i for i in parts if sentence.relations[i] in ("det", "amod", "nummod"))]
            for place in own:
                roles[place] = "A2"
        for part in parts:
            if role := _role(sentence, part, copula is not None, sentence.words[verb]):
                for place in _below(sentence, part):
                    roles[place] = role
        roles[verb] = "V"
        found.append(roles)
    return found


def _role(sentence: Parsed, part: int, copula: bool, verb: str) -> str | None:
    how, word = sentence.relations[part], sentence.words[part]
    if how == "nsubj":
        return "A1" if copula else "A0"
    if how in ("obj", "iobj"):
        return {"obj": "A1", "iobj": "A2"}[how]
    if how == "advmod":
        return BY_ADVERB.get(word, "TMP")
    if how != "obl":
        return None
    case = next((sentence.words[i] for i in _below(sentence, part) if sentence.relations[i] == "case"), None)
    if case is None or word in TIMES:
        return "TMP"
    return "A2" if case == "to" and verb in GIVING else BY_PREPOSITION.get(case, "ADV")


def _below(sentence: Parsed, top: int) -> list[int]:
    """A word and all its descendants, in reading order."""
    found = [top]
    for word in found:
        found += [i for i, head in enumerate(sentence.heads) if head == word]
    return sorted(found)


def role_rows(words: Sequence[str]) -> list[list[str]]:
    """MOST rows of roles over a text: the first holds those of each sentence's first predicate, and so on; "none" where
    a sentence has fewer. Raises ValueError as `parse` does."""
    rows: list[list[str]] = [[] for _ in range(MOST)]
    for sentence in sentences_of(words):
        found = predicates(parse(sentence))
        for number, row in enumerate(rows):
            row += found[number] if number < len(found) else ["none"] * len(sentence)
    return rows
