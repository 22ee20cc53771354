"""The toy world's annotations as ground truth: antecedents for attention heads, labels for probes."""

from __future__ import annotations

from collections.abc import Sequence

from minibert.inside.heads.kinds import Measured
from minibert.inside.probes.tasks import MEANING, SYNTAX, ProbeItem, ProbeTask, by_word, length, order
from minibert.tokenizer import Tokenizer
from minibert.toy.world import Story, links


def encoded_stories(tokenizer: Tokenizer, stories: Sequence[Story], max_length: int) -> list[Measured]:
    """Encoded stories with their true antecedents, from each piece of a determined word to each piece of the
    words that determine it."""
    measured: list[Measured] = []
    for story in stories:
        encoding = tokenizer.encode(story.text, max_length=max_length)
        pieces: dict[int, list[int]] = {}
        for position, word in enumerate(encoding.words):
            if word is not None:
                pieces.setdefault(word, []).append(position)
        pairs = [(i, j) for a, b in links(story) for i in pieces.get(a, ()) for j in pieces.get(b, ())]
        measured.append((encoding, pairs))
    return measured


def toy_probe_tasks(stories: Sequence[Story]) -> list[ProbeTask]:
    """Tasks from the toy world's annotations. Word tasks read whole stories, sentence tasks single sentences."""
    whole = [tuple(word.text for word in story.words) for story in stories]
    single = [tuple(word.text for word in sentence.words) for story in stories for sentence in story.sentences]

    def annotation(name: str) -> ProbeTask:
        return by_word(name, SYNTAX, whole, lambda i, j: getattr(stories[i].words[j], name))

    relations = tuple(
        ProbeItem(i, (j, word.head), word.relation)
        for i, story in enumerate(stories)
        for j, word in enumerate(story.words)
        if word.head is not None
    )
    kinds = tuple(
        ProbeItem(i, (j, by), "same person" if by == word.determined_by[0] else "other person")
        for i, story in enumerate(stories)
        for j, word in enumerate(story.words)
        if word.kind == "pronoun" and len(word.determined_by) == 1
        for by in people_before(story, j)
    )
    return [
        length(single),
        *map(annotation, ("pos", "chunk", "number", "tense")),
        ProbeTask("relation", SYNTAX, tuple(whole), relations),
        order(single),
        *([ProbeTask("coreference", MEANING, tuple(whole), kinds)] if kinds else []),
    ]


def people_before(story: Story, place: int) -> list[int]:
    """The antecedent of the pronoun at `place`, then the last mention before it of every other person."""
    (by,) = story.words[place].determined_by
    last = {word.text: j for j, word in enumerate(story.words[:place]) if word.pos == "PROPN"}
    own = story.words[by].text
    return [by, *(j for name, j in last.items() if name != own)] if own in last else []
