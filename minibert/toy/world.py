"""A toy world: little English stories that record for every word whether the rest of the story determines it, and how.

A word is *determined* when no other word of the vocabulary could stand in its place, given all the other words of the
story, and when that is so because of another word rather than because of the grammar: "anna" decides "she", the keys
near the box decide "were", "four … lost one" decides "three". A word is *free* when the world leaves a choice, and
neither when it is a fixed part of its sentence. Without the rest of the story the determined words can only be
guessed, so they measure what a model has learned to read; and its attention can be compared with the words that
determine them.

Lists and plots are in `minibert/toy/lexicon.py`. The same seed gives the same stories under every Python version.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TypeVar

from minibert.toy import lexicon

KINDS = lexicon.KINDS
WORLDS = {"small": lexicon.SMALL_WORLD, "whole": tuple(lexicon.SCENES)}
Item = TypeVar("Item")
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True, slots=True)
class Word:
    """A token with its annotations. `head` and `determined_by` are positions in `Story.words`."""

    text: str
    pos: str  # universal part of speech
    chunk: str  # B-NP, I-NP, B-VP … O, as in CoNLL-2000
    head: int | None  # the word it depends on; None for the root of a sentence
    relation: str  # Universal Dependencies' name of that dependency
    number: str | None  # "sing" or "plur"
    tense: str | None  # "past" or "pres", of finite verbs
    kind: str | None  # a key of KINDS; None where no other word determines this one
    determined_by: tuple[int, ...]  # the nearest words that together determine it; () where none does
    free: bool  # the world leaves a choice here


@dataclass(frozen=True)
class Sentence:
    words: tuple[Word, ...]

    @cached_property
    def text(self) -> str:
        """Plain lower-case English; a BERT tokenizer with `vocabulary()` makes exactly one token of each word."""
        return " ".join(word.text for word in self.words).replace(" ,", ",").replace(" .", ".")


@dataclass(frozen=True)
class Story:
    sentences: tuple[Sentence, ...]

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return tuple(word for sentence in self.sentences for word in sentence.words)

    @cached_property
    def text(self) -> str:
        """One sentence per line."""
        return "\n".join(sentence.text for sentence in self.sentences)


def generate(seed: int | random.Random, scenes: int | None = None, world: str = "whole") -> Story:
    """One story: an opening, 2 or 3 scenes (or as many as `scenes` says), what they lead to later, a closing.

    Several stories can be drawn from one `random.Random`, given as `seed`. world: a key of WORLDS, which scenes there
    are. Raises ValueError if there are not as many different scenes.
    """
    rng = seed if isinstance(seed, random.Random) else random.Random(seed)
    count = 2 + int(rng.random() * 2) if scenes is None else scenes
    if world not in WORLDS:
        raise ValueError(f"world must be one of {', '.join(WORLDS)}, not {world!r}")
    for_all = [_SCENES[name] for name in WORLDS[world] if not any(plot.two_genders for plot in _SCENES[name])]
    if not 1 <= count <= len(for_all):
        raise ValueError(f"a story has between 1 and {len(for_all)} scenes, not {count}")
    used: set[str | None] = set()
    people = {"A": _draw("A", rng, used), "B": _draw("B", rng, used), "AB": _ROWS["AB"][0]}
    one_gender = people["A"].forms["he"] == people["B"].forms["he"]
    possible = for_all if one_gender else [_SCENES[name] for name in WORLDS[world]]
    drawn = [possible.pop(int(rng.random() * len(possible))) for _ in range(count)]
    told, late = [], []
    for number, group in enumerate([_OPENINGS, *drawn, _CLOSINGS]):
        plot = pick(group, rng)
        rows = people | {variable: _draw(domain, rng, used) for variable, domain in plot.variables}
        told += [(sentence, number, rows) for sentence in plot.told]
        late += [(sentence, number, rows) for sentence in plot.late]
    return _annotate(told + late)


def stories(n: int, seed: int, world: str = "whole") -> list[Story]:
    """`n` stories, one after the other from one seeded generator; `world` as in `generate`."""
    rng = random.Random(seed)
    return [generate(rng, world=world) for _ in range(n)]


def documents(n: int, seed: int, world: str = "whole") -> list[list[str]]:
    """The texts of `stories`, one document per story, one string per sentence: input of `minibert/text/batches.py`."""
    return [[sentence.text for sentence in story.sentences] for story in stories(n, seed, world)]


def vocabulary() -> list[str]:
    """The special tokens, then every word the world can produce, in alphabetical order."""
    slots = [
        slot
        for group in [_OPENINGS, *_SCENES.values(), _CLOSINGS]
        for plot in group
        for sentence in plot.told + plot.late
        for slot in sentence
    ]
    words = {text for slot in slots for text in slot.text.split("/")}  # "a/an" is two words, "" none
    words |= {row.forms[slot.form][0] for slot in slots if slot.variable for row in _ROWS[_domain(slot.variable)]}
    return [*SPECIAL_TOKENS, *sorted(words - {""})]


def determined(story: Story) -> list[bool]:
    """For each word of `story.words`: does the rest of the story determine it?"""
    return [word.kind is not None for word in story.words]


def links(story: Story, *kinds: str) -> list[tuple[int, int]]:
    """Pairs (determined word, word that determines it), positions in `story.words`; of the given kinds, or of all.

    To compare an attention head with: does position i attend to position j?
    """
    return [(i, j) for i, word in enumerate(story.words) for j in word.determined_by if not kinds or word.kind in kinds]


def guessable_without_context(
    stories: Sequence[Story], neighbours: int = 0, asked: Callable[[int, Word], bool] = lambda place, word: True
) -> float:
    """Share of the determined words, or of those that are `asked` for, that are right when guessed by frequency alone.

    `neighbours` says how far the guess may look: 0 always says the most frequent word, 1 the word most often seen after
    the left neighbour, 2 the one most often seen between the left and the right neighbour (where that pair was never
    seen: what 1 says, then 0). Counted on every second story, scored on the others: at least two are needed.
    """
    seen: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    right = total = 0
    for score in (False, True):
        for story in stories[score::2]:
            texts = ["", *(word.text for word in story.words), ""]
            for i, word in enumerate(story.words, 1):
                contexts = [(), (texts[i - 1],), (texts[i - 1], texts[i + 1])][: neighbours + 1]
                if not score:
                    for context in contexts:
                        seen[context][word.text] += 1
                elif word.kind is not None and asked(i - 1, word):
                    context = next(context for context in reversed(contexts) if context in seen)
                    right += seen[context].most_common(1)[0][0] == word.text
                    total += 1
    return right / total


# --- How a story is put together --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """One thing that can fill the slots of a domain: each form's text and number. No story uses a key twice."""

    key: str | None
    forms: dict[str, tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class _Slot:
    """A position of a plot: a fixed text or a form of a variable, and all that does not depend on what fills it."""

    text: str
    variable: str
    form: str
    pos: str
    number: str | None
    tense: str | None
    kind: str | None
    sources: tuple[tuple[str, str], ...]  # (variable, form) of the words that determine it
    head: int | None = None  # position in the sentence
    relation: str = ""
    chunk: str = "O"
    has_number: bool = True  # a noun, a pronoun, or a verb that agrees with one


@dataclass(frozen=True, slots=True)
class _Plot:
    told: tuple[tuple[_Slot, ...], ...]
    late: tuple[tuple[_Slot, ...], ...]
    variables: tuple[tuple[str, str], ...]  # (name, domain), without the people
    two_genders: bool  # both are called he or she


def pick(items: Sequence[Item], rng: random.Random) -> Item:
    """A random item, the same under every Python version: random() is the one method promised never to change."""
    return items[int(rng.random() * len(items))]


def _draw(domain: str, rng: random.Random, used: set[str | None]) -> _Row:
    while True:
        row = pick(_ROWS[domain], rng)
        if row.key is None or row.key not in used:
            used.add(row.key)
            return row


def _annotate(sentences: list[tuple[tuple[_Slot, ...], int, dict[str, _Row]]]) -> Story:
    """(slots, scene number, row of each variable) per sentence → the story, each word with what determines it."""
    filled: list[tuple[_Slot, str, str | None]] = []  # with text and number
    scene_of: list[int] = []
    mentions: dict[tuple, list[int]] = defaultdict(list)  # by scene (None for people), variable, form
    for slots, scene, rows in sentences:
        for slot in slots:
            variable = slot.variable
            if variable:
                mentions[None if variable in _PEOPLE else scene, variable, slot.form].append(len(filled))
                filled.append((slot, *rows[variable].forms[slot.form]))
            else:
                filled.append((slot, slot.text, slot.number))
            scene_of.append(scene)

    def source(i: int, variable: str, form: str) -> int | None:
        """The mention that determines word i: the last before it, if possible in its own scene; else the next one."""
        scene, best = scene_of[i], None
        for j in mentions[None if variable in _PEOPLE else scene, variable, form]:
            if j < i and (best is None or scene_of[j] == scene or scene_of[best] != scene):
                best = j
            elif j > i and best is None:
                return j
        return best

    words = []
    start = 0
    for i, (slot, text, number) in enumerate(filled):
        if slot.kind == "article":
            text, sources = "an" if filled[i + 1][1][0] in "aeiou" else "a", [i + 1]
        else:
            sources = [j for mention in slot.sources if (j := source(i, *mention)) is not None]
            if len(sources) < len(slot.sources):
                sources = []
        words.append(
            Word(
                text,
                slot.pos,
                slot.chunk,
                None if slot.head is None else start + slot.head,
                slot.relation,
                number if slot.has_number else None,
                slot.tense,
                slot.kind if sources else None,
                tuple(sources),
                slot.variable != "" and not sources,
            )
        )
        if text == ".":
            start = i + 1
    position = iter(words)
    return Story(tuple(Sentence(tuple(islice(position, len(slots)))) for slots, _, _ in sentences))


# --- The lexicon, made ready once -------------------------------------------------------------------------------------

_PEOPLE = ("A", "B", "AB")
_SLOT = re.compile(r"\{(?P<variable>\w+)(?:\.(?P<form>\w+))?(?:!(?P<kind>\w+))?\}")
_DECIDED = re.compile(r"(?P<text>\w+)(?P<sources>(?:@\w+)+)!(?P<kind>\w+)")


def _domain(variable: str) -> str:
    return variable.rstrip("0123456789")


def _rows() -> dict[str, list[_Row]]:
    """Everything that can fill the slots of each domain."""

    def noun(word: str, plural: str, key: str = "", **more: tuple[str, str]) -> list[_Row]:
        """The noun alone and in numbers, with the words that agree with it; `more`: form → (singular, plural)."""
        forms = {"word": (word, plural), "they": ("it", "they"), "them": ("it", "them"), "was": ("was", "were"), **more}
        return [
            _Row(key or word, {form: (texts[i], number) for form, texts in forms.items()})
            for i, number in enumerate(("sing", "plur"))
        ]

    def plain(key: str | None, number: str | None = None, **forms: str) -> _Row:
        return _Row(key, {form: (text, number) for form, text in forms.items()})

    def person(name: str, **forms: str) -> _Row:
        return plain(name, "sing", name=name, **{"is": "is"}, **forms)

    she = {"he": "she", "him": "her", "his": "her", "himself": "herself", "girl": "girl", "sister": "sister"}
    he = {form: form for form in ("he", "him", "his", "himself")} | {"girl": "boy", "sister": "brother"}
    people = [person(name, **she) for name in lexicon.GIRLS] + [person(name, **he) for name in lexicon.BOYS]
    numbers = lexicon.NUMBERS
    rows = {
        "A": people,
        "B": people,
        "AB": [plain(None, "plur", he="they", him="them", himself="themselves", **{"is": "are"})],
        "weather": [plain(w, "sing", word=w, thing=t) for t, words in lexicon.WEATHER.items() for w in words.split()],
        "event": [
            plain(w, "sing", word=w, state=state, act=act)
            for (state, act), words in lexicon.EVENTS.items()
            for w in words.split()
        ],
        "need": [plain(w, "sing", word=w, gift=gift) for gift, words in lexicon.NEEDS.items() for w in words.split()],
        "fall": [row for e, nouns in lexicon.FALLS.items() for n in nouns.items() for row in noun(*n, effect=(e, e))],
        "tool": [row for u, nouns in lexicon.TOOLS.items() for n in nouns.items() for row in noun(*n, use=(u, u))],
        "animal": [
            row
            for (many, one), nouns in lexicon.SOUNDS.items()
            for n in nouns.items()
            for row in noun(*n, one, sound=(one, many))  # no two in a story make the same sound
        ],
        "count": [
            plain(None, n=numbers[n - 1], verb=verb, m=numbers[n - 1 + step])
            for n in range(2, 7)
            for step, verbs in ((1, lexicon.GAINS), (-1, lexicon.LOSSES))
            for verb in verbs
        ],
        "sum": [
            plain(None, n=numbers[n - 1], m=numbers[m - 1], s=numbers[n + m - 1])
            for n in range(1, 6)
            for m in range(1, 6)
        ],
    }
    for domain, nouns in lexicon.NOUNS.items():
        rows[domain] = [row for pair in nouns.items() for row in noun(*pair)]
    for domain, (pos, words) in lexicon.WORDS.items():
        number = {"NOUN": "plur" if domain == "goods" else "sing"}.get(pos)
        rows[domain] = [plain(w if pos in ("NOUN", "ADJ") else None, number, word=w) for w in words.split()]
    return rows


def _compile(plot: str) -> _Plot:
    """A line of the lexicon → slots, each with its part of speech, its place in the syntax and what determines it."""
    told, late = (
        tuple(_sentence(sentence.split()) for sentence in re.findall(r"\S.*? \.(?= |$)", part))
        for part in plot.partition("//")[::2]
    )
    slots = [slot for sentence in told + late for slot in sentence]
    variables = dict.fromkeys(slot.variable for slot in slots if slot.variable and slot.variable not in _PEOPLE)
    called_he = {slot.variable for slot in slots if slot.form == "he"}
    return _Plot(told, late, tuple((v, _domain(v)) for v in variables), {"A", "B"} <= called_he)


def _slot(token: str) -> _Slot:
    if token == "a/an":
        return _Slot(token, "", "", "DET", None, None, "article", ())
    if decided := _DECIDED.fullmatch(token):
        owners = decided["sources"][1:].split("@")
        sources = tuple((owner, "name" if owner in _PEOPLE else "word") for owner in owners)
        return _Slot(decided["text"], "", "", *lexicon.FIXED[decided["text"]], decided["kind"], sources)
    if not (slot := _SLOT.fullmatch(token)):
        return _Slot(token, "", "", *lexicon.FIXED[token], None, ())
    variable, form = slot["variable"], slot["form"] or ("name" if slot["variable"] in _PEOPLE else "word")
    domain = _domain(variable)
    pos, tense, kind, origins = lexicon.FORMS.get(f"{domain}.{form}") or lexicon.FORMS[form]
    if form == "word" and domain in lexicon.WORDS:
        pos = lexicon.WORDS[domain][0]
        tense = "past" if pos == "VERB" else None
    pairs = [source.rpartition(".") for source in origins]
    sources = tuple((owner or variable, source) for owner, _dot, source in pairs)
    has_number = pos in ("NOUN", "PROPN", "PRON", "AUX") or tense == "pres"
    return _Slot("", variable, form, pos, None, tense, slot["kind"] or kind, sources, has_number=has_number)


def _sentence(tokens: list[str]) -> tuple[_Slot, ...]:
    """The tokens of a sentence, `|` between its clauses → its slots, with heads, relations and chunks."""
    slots: list[_Slot] = []
    clauses: list[list[int]] = [[]]
    for token in tokens:
        if token == "|":
            clauses.append([])
        else:
            clauses[-1].append(len(slots))
            slots.append(_slot(token))
    pos = [slot.pos for slot in slots]
    noun_of, nominal = nouns(pos, [slot.form == "his" for slot in slots])
    heads, relations = dependencies(pos, noun_of, nominal, clauses)

    verbal = ("AUX", "PART", "VERB")
    chunks = {"PUNCT": "O", "CCONJ": "O", "SCONJ": "B-SBAR", "ADP": "B-PP", "ADV": "B-ADVP", "ADJ": "B-ADJP"}
    done = []
    for i, slot in enumerate(slots):
        if nominal[i] or noun_of[i] is not None:
            inside = i > 0 and (noun_of[i - 1] in (i, noun_of[i]) and noun_of[i - 1] is not None)
            chunk = "I-NP" if inside or relations[i] == "appos" else "B-NP"
        elif pos[i] in verbal:
            chunk = "I-VP" if i > 0 and pos[i - 1] in verbal else "B-VP"
        else:
            chunk = chunks[pos[i]]
        done.append(replace(slot, head=heads[i], relation=relations[i], chunk=chunk))
    return tuple(done)


def nouns(pos: Sequence[str], possessive: Sequence[bool]) -> tuple[list[int | None], list[bool]]:
    """For each word: the noun that it stands before as a determiner, possessive, adjective or number; whether it is the
    head of a noun phrase."""
    noun_of: list[int | None] = []
    for i, kind in enumerate(pos):
        end = next(j for j in range(i + 1, len(pos) + 1) if j == len(pos) or pos[j] not in ("ADJ", "NUM"))
        before_noun = end < len(pos) and pos[end] == "NOUN"
        attributive = kind in ("DET", "ADJ", "NUM") or possessive[i]
        noun_of.append(end if attributive and before_noun else None)
    return noun_of, [kind in ("NOUN", "PROPN", "PRON", "NUM") and noun_of[i] is None for i, kind in enumerate(pos)]


def dependencies(pos, noun_of, nominal, clauses) -> tuple[list[int | None], list[str]]:
    """Universal Dependencies of a sentence: (heads, relations). `clauses`: the positions of each clause."""
    heads: list[int | None] = [None] * len(pos)
    relations = [""] * len(pos)
    predicates = []
    for clause in clauses:
        verbs = [i for i in clause if pos[i] == "VERB"]
        copula = next((i for i in clause if pos[i] == "AUX"), -1)
        complements = (i for i in clause if i > copula and (nominal[i] or (pos[i] == "ADJ" and noun_of[i] is None)))
        predicates.append(verbs[0] if verbs else next(complements))
    main = next(k for k, clause in enumerate(clauses) if pos[clause[0]] != "SCONJ")
    root = predicates[main]

    def attach(i: int, head: int, relation: str) -> None:
        heads[i], relations[i] = head, relation

    for k, (clause, predicate) in enumerate(zip(clauses, predicates, strict=True)):
        if k != main:
            attach(predicate, root, {"SCONJ": "advcl", "CCONJ": "conj"}.get(pos[clause[0]], "parataxis"))
        left: list[int] = []
        right: list[int] = []  # noun phrases without a preposition, before and after the predicate
        for i in clause:
            if noun_of[i] is not None:
                attach(i, noun_of[i], {"DET": "det", "ADJ": "amod", "NUM": "nummod", "PRON": "nmod:poss"}[pos[i]])
            elif pos[i] == "PUNCT":
                attach(i, root, "punct")
            elif pos[i] == "ADP":
                attach(i, next(j for j in clause if j > i and nominal[j]), "case")
            elif nominal[i] and i != predicate:
                start = min((j for j in clause if noun_of[j] == i), default=i)
                earlier = [j for j in clause if j < start and nominal[j]]
                opener = pos[start - 1] if start > clause[0] else None
                if pos[i] == "PROPN" and any(
                    noun_of[j] == i - 1 and pos[j] == "PRON" for j in clause
                ):  # his sister mary
                    attach(i, i - 1, "appos")
                elif opener == "CCONJ" and earlier:
                    attach(i, earlier[-1], "conj")
                    attach(start - 1, i, "cc")
                elif opener == "ADP" and i < predicate and earlier:
                    attach(i, earlier[-1], "nmod")
                elif opener == "ADP":
                    attach(i, predicate, "obl")
                else:
                    (left if i < predicate else right).append(i)
            elif i != predicate and not relations[i]:
                verbal = "aux" if pos[predicate] == "VERB" else "cop"
                names = {"ADV": "advmod", "PART": "advmod", "AUX": verbal, "CCONJ": "cc", "SCONJ": "mark"}
                attach(i, predicate, names[pos[i]])
        for phrases, last, others in ((left, "nsubj", "obl"), (right, "obj", "iobj")):
            for i in phrases:
                attach(i, predicate, last if i == phrases[-1] else others)
    relations[root] = "root"
    return heads, relations


_OPENINGS, _CLOSINGS = ([_compile(plot) for plot in group] for group in (lexicon.OPENINGS, lexicon.CLOSINGS))
_SCENES = {name: [_compile(plot) for plot in group] for name, group in lexicon.SCENES.items()}
_ROWS = _rows()
