"""A fine-tuning task of the toy world: whom or what does a gap in a sentence stand for?

Made from the world's annotations: a sentence is taken out of a story in which a word is determined by one word outside
the sentence, so that the answer needs the rest of the story. The form is SQuAD's: the answer is a span of a passage.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass

from minibert.tasks import TaskData
from minibert.tasks.spans import Answer, SpanExample
from minibert.toy.world import Story, generate, pick

KINDS = ("colour", "possession", "pronoun", "thing")  # those that people could answer too; who goes home is arbitrary


@dataclass(frozen=True)
class SentenceGap:
    """A sentence without one of its words. rest: the words of the other sentences · source: the place in `rest` of the
    word that determines it."""

    sentence: tuple[str, ...]
    rest: tuple[str, ...]
    source: int


def meant(n: int, seed: int, world: str = "small") -> TaskData:
    """Question: a sentence with a gap in place of a determined word · passage: its story without it · answer: the word
    that determines it. For "soon … found it under the sofa" that is the name of whoever lost it. One per story, its
    kind drawn uniformly from those of the story."""
    rng = random.Random(seed)
    examples: list[SpanExample] = []
    while len(examples) < n:
        gaps = gaps_of(generate(rng, world=world))
        if gaps:
            gap = pick(gaps[pick(sorted(gaps), rng)], rng)
            start = sum(len(word) + 1 for word in gap.rest[: gap.source])
            answer = Answer(gap.rest[gap.source], start)
            examples.append(SpanExample(str(len(examples)), " ".join(gap.sentence), " ".join(gap.rest), (answer,)))
    return TaskData(examples, name="who or what is meant")


def always_the_first(data: TaskData) -> float:
    """Accuracy of always answering with the first word of the story that is an answer to any example."""
    known = {example.answers[0].text for example in data.examples}
    first = [next(word for word in e.context.split() if word in known) == e.answers[0].text for e in data.examples]
    return sum(first) / len(first)


def gaps_of(story: Story) -> dict[str, list[SentenceGap]]:
    """Kind of determination → the gaps that one word outside the sentence determines."""
    texts, found, start = [word.text for word in story.words], defaultdict(list), 0
    for sentence in story.sentences:
        end = start + len(sentence.words)
        for place, word in enumerate(sentence.words, start):
            if word.kind in KINDS and len(word.determined_by) == 1 and not start <= word.determined_by[0] < end:
                (source,) = word.determined_by
                around = (*texts[start:place], *texts[place + 1 : end])
                rest = (*texts[:start], *texts[end:])
                found[word.kind].append(SentenceGap(around, rest, source if source < start else source - (end - start)))
        start = end
    return found
