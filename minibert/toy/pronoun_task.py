"""A fine-tuning task of the toy world: which of the story's people each pronoun stands for. The labels do not say that
anna is a she, or who was mentioned last: the model knows that from pre-training or not at all."""

from __future__ import annotations

from minibert.tasks.data import TaskData
from minibert.tasks.tagging import TaggedExample
from minibert.toy import lexicon, world
from minibert.toy.world import Story

NAMES = frozenset(lexicon.GIRLS + lexicon.BOYS)
PRONOUNS = ("pronoun", "reflexive")  # kinds of determined words


def who_is_meant(n: int, seed: int, of: str = "small") -> TaskData:
    """`n` stories of the toy world `of`, each pronoun that stands for a person tagged with FIRST, SECOND or BOTH: the
    people in the order in which the story names them."""
    return TaskData([tagged(story) for story in world.stories(n, seed, of)], name=f"{of} toy world, {n} stories")


def tagged(story: Story) -> TaggedExample:
    words = story.words
    people = list(dict.fromkeys(word.text for word in words if word.text in NAMES))
    tags = []
    for word in words:
        meant = {people.index(words[i].text) for i in word.determined_by if words[i].text in NAMES}
        known = word.kind in PRONOUNS and meant and max(meant) < 2
        tags.append("O" if not known else "B-BOTH" if len(meant) == 2 else ("B-FIRST", "B-SECOND")[meant.pop()])
    return TaggedExample(tuple(word.text for word in words), tuple(tags))
