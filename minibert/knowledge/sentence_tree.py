"""Facts in the input (K-BERT, Liu et al. 2020, arXiv:1909.07606): a *sentence tree* whose branches are facts attached
to the words that name their subjects, read by a BERT that was never trained for it. *Soft positions* continue from the
subject both in the branch and in the sentence (§3.3); a *visible matrix* hides a branch from all tokens but its own and
its subject's (§3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from minibert.model import Batch, Bert
from minibert.tokenizer import Encoding, Tokenizer

LONGEST_NAME = 8  # most words in the name of a subject


@dataclass(frozen=True)
class Fact:
    """What a branch says of its subject: relation and object."""

    subject: str
    relation: str
    object: str

    def __str__(self) -> str:
        return f"{self.subject} {self.relation} {self.object}"


class KnowledgeBase:
    """Facts by subject, ignoring case."""

    def __init__(self, facts: Iterable[Fact]):
        self.facts = tuple(facts)
        self._of: dict[str, list[Fact]] = {}
        for fact in self.facts:
            self._of.setdefault(fact.subject.lower(), []).append(fact)

    @classmethod
    def read(cls, file: str | Path) -> KnowledgeBase:
        """From lines `subject⇥relation⇥object`. Raises ValueError with file and line for any other line."""
        facts = []
        for number, line in enumerate(Path(file).read_text(encoding="utf-8").splitlines(), 1):
            parts = [part.strip() for part in line.split("\t")]
            if len(parts) != 3 or not all(parts):
                raise ValueError(f"{file}, line {number}: a fact is subject, relation and object, with tabs between")
            facts.append(Fact(*parts))
        return cls(facts)

    def of(self, subject: str) -> list[Fact]:
        return self._of.get(subject.lower(), [])


@dataclass(frozen=True)
class Mention:
    """A subject in the sentence: tokens first … last inclusive, counting [CLS]."""

    first: int
    last: int
    facts: tuple[Fact, ...]


def mentions(base: KnowledgeBase, encoding: Encoding, text: str, most: int = 2) -> list[Mention]:
    """The subjects in a text, the longest name first where several begin at one word, each with at most `most` facts
    (§3.2: the paper attaches two)."""
    spans, found, word = encoding.word_spans(), [], 0
    while word < len(spans):
        for last in range(min(word + LONGEST_NAME, len(spans)) - 1, word - 1, -1):
            facts = base.of(text[spans[word][0] : spans[last][1]])[:most]
            if facts:
                where = [at for at, one in enumerate(encoding.words) if one is not None and word <= one <= last]
                found.append(Mention(where[0], where[-1], tuple(facts)))
                word = last
                break
        word += 1
    return found


@dataclass(frozen=True)
class SentenceTree:
    """A sentence with its branches in one row: each branch follows its subject (§3.2).

    tokens, ids · positions: the soft ones, from 0 · branch: 0 in the sentence, else the number of the branch, from 1 ·
    hangs_on: number of a branch → indices of its subject's tokens · facts: of the branches, in their order.
    """

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    positions: tuple[int, ...]
    branch: tuple[int, ...]
    hangs_on: Mapping[int, tuple[int, ...]]
    facts: tuple[Fact, ...]

    @property
    def sentence(self) -> list[int]:
        """The indices of the sentence's own tokens, in their order."""
        return [at for at, branch in enumerate(self.branch) if branch == 0]

    def bare(self) -> SentenceTree:
        """The sentence without its branches."""
        tokens, ids = tuple(self.tokens[at] for at in self.sentence), tuple(self.ids[at] for at in self.sentence)
        return SentenceTree(tokens, ids, tuple(range(len(ids))), (0,) * len(ids), {}, ())

    def visible(self) -> Tensor:
        """(T, T) bool: the sentence sees itself, a branch itself, and a branch and its subject see each other."""
        branch = torch.tensor(self.branch)
        visible = branch[:, None] == branch[None, :]
        for number, subject in self.hangs_on.items():
            own = branch == number
            for place in subject:
                visible[place] |= own
                visible[:, place] |= own
        return visible

    def batch(self, *, soft: bool = True) -> Batch:
        """One row. soft: with soft positions; else with consecutive ones."""
        return Batch(torch.tensor([self.ids]), positions=torch.tensor([self.positions]) if soft else None)


def sentence_tree(tokenizer: Tokenizer, encoding: Encoding, mentions: Sequence[Mention]) -> SentenceTree:
    """The sentence with the facts of its mentions."""
    rows: list[tuple[str, int, int, int]] = []  # token, id, position, branch
    facts: list[Fact] = []
    hangs_on, place_of = {}, {}
    mention_at = {mention.last: mention for mention in mentions}
    for at, (token, number) in enumerate(zip(encoding.tokens, encoding.ids, strict=True)):
        place_of[at] = len(rows)
        rows.append((token, number, at, 0))
        if mention := mention_at.get(at):
            subject = tuple(place_of[one] for one in range(mention.first, mention.last + 1))
            for fact in mention.facts:
                facts.append(fact)
                hangs_on[len(facts)] = subject
                own = tokenizer.encode(f"{fact.relation} {fact.object}", add_special=False)
                rows += [(own.tokens[i], own.ids[i], at + 1 + i, len(facts)) for i in range(len(own))]
    tokens, ids, positions, branches = zip(*rows, strict=True)
    return SentenceTree(tokens, ids, positions, branches, hangs_on, tuple(facts))


@torch.no_grad()
def read(bert: Bert, tree: SentenceTree, *, matrix: bool = True, soft: bool = True) -> Tensor:
    """The last hidden states of the sentence's own tokens, (tokens, H). matrix: use the visible matrix; else attend to
    all · soft: use soft positions."""
    device = next(bert.parameters()).device
    mask = tree.visible()[None, None].to(device) if matrix else None
    hidden, _ = bert(tree.batch(soft=soft).to(device), mask=mask)  # (1, T, H)
    return hidden[0, tree.sentence]


def cosine_change(before: Tensor, after: Tensor) -> Tensor:
    """The change in direction of each vector: 1 − cosine. (…, H) twice → (…)"""
    return 1 - torch.nn.functional.cosine_similarity(before, after, dim=-1)
