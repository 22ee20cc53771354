"""Words of the toy world that go together, like *New* and *York*: a free word, and the words that it alone determines.
With all of them masked, each could be many words, but not in every combination."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from minibert.tokenizer import Tokenizer
from minibert.toy.world import Story

KINDS = ("effect", "article")  # what follows from a cause, and the article of a word


@dataclass(frozen=True)
class Together:
    """ids: [CLS], a sentence, [SEP] · places: of its words that go together, in reading order · kind: of the words that
    are determined."""

    ids: tuple[int, ...]
    places: tuple[int, ...]
    kind: str

    @property
    def words(self) -> tuple[int, ...]:
        return tuple(self.ids[place] for place in self.places)


def together(stories: Sequence[Story], tokenizer: Tokenizer) -> list[Together]:
    """For every free word of every sentence: itself and all that it determines there, directly or through another."""
    found = []
    for story in stories:
        start = 0  # of the sentence in the story
        for sentence in story.sentences:
            words = sentence.words
            ids = (tokenizer.cls_id, *(tokenizer.ids[word.text] for word in words), tokenizer.sep_id)
            for place, word in enumerate(words):
                group, kinds = {place}, set()
                for _ in range(2 * word.free):  # a state follows from an event, and an act from the state
                    for other, decided in enumerate(words):
                        causes = [cause - start for cause in decided.determined_by]
                        if decided.kind in KINDS and len(causes) == 1 and causes[0] in group:
                            group.add(other)
                            kinds.add(decided.kind)
                if len(kinds) == 1:
                    found.append(Together(ids, tuple(i + 1 for i in sorted(group)), min(kinds)))
            start += len(words)
    return found


def combinations(groups: Sequence[Together]) -> set[tuple[int, ...]]:
    """The words of all groups, in reading order."""
    return {group.words for group in groups}
