"""Which word a head finds: accuracy of single attention heads on grammatical relations and pronouns (Clark et al. 2019,
arXiv:1906.04341, §4).

Attention between tokens becomes attention between words: *to* a word it is the sum over its pieces, *from* a word the
mean over its pieces; [CLS] and [SEP] are left out, and so is the word itself. A head is right about a word if the word
with the largest weight is a target. Each relation is measured in both directions: does the dependent attend to its
head, does the head attend to its dependent? (For the second, the paper's code asks instead which word attends most to
the dependent.) For a pronoun only its candidates are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from minibert.inside.geometry.vectors import encoder_of, joined
from minibert.inside.heads.grammatical_relations import RELATIONS, Relation
from minibert.inside.heads.pronouns import Pronoun
from minibert.model import Batch, Tap
from minibert.tokenizer import Encoding, Tokenizer

COREFERENCE = "coref"
FROM_DEPENDENT, FROM_HEAD = DIRECTIONS = ("from_dependent", "from_head")
TEXTS = 32  # per batch


@dataclass(frozen=True)
class HeadQuestion:
    """Which word should the word at `looking` attend to? looking: its place · wanted: the right places · among: the
    places to choose from; None for all other words of the text."""

    relation: str
    direction: str
    text: int
    looking: int
    wanted: frozenset[int]
    among: tuple[int, ...] | None = None


@dataclass(frozen=True)
class HeadQuestions:
    """Texts, each as its words, and the questions about them."""

    texts: tuple[tuple[str, ...], ...]
    questions: tuple[HeadQuestion, ...]


@dataclass(frozen=True)
class RelationAccuracy:
    """How all heads do on one relation in one direction. right: (N, L, A) bool, for each of the N questions · baseline,
    rule: accuracy of the best rule without a model, and its name, see `best_rule`."""

    relation: str
    direction: str
    questions: tuple[HeadQuestion, ...]
    right: Tensor
    baseline: float
    rule: str

    @property
    def accuracy(self) -> Tensor:
        """(L, A)"""
        return self.right.float().mean(0)

    @property
    def best(self) -> tuple[int, int]:
        """Layer and head that are right most often, from 0; the first of equals."""
        return divmod(int(self.accuracy.argmax()), self.right.size(2))

    @property
    def held_out(self) -> float:
        """Accuracy of the best head, chosen on one half of the texts and measured on the other, both ways: on the
        texts it was chosen by, the best of many heads looks good by chance. NaN if a half has no question."""
        half = torch.tensor([question.text // 2 % 2 == 0 for question in self.questions])
        right = self.right.flatten(1)
        if half.all() or not half.any():
            return float("nan")
        total = 0.0
        for chosen_on in (half, ~half):
            total += right[~chosen_on, right[chosen_on].float().mean(0).argmax()].sum().item()
        return total / len(right)


def about_relations(sentences: Sequence[Sequence[str]], relations: Sequence[Sequence[Relation]]) -> HeadQuestions:
    """Questions for both directions of each relation: one for each word that has it, with all its right answers."""
    questions = []
    for text, found in enumerate(relations):
        wanted: dict[tuple[str, str, int], set[int]] = {}
        for one in found:
            wanted.setdefault((one.name, FROM_DEPENDENT, one.dependent), set()).add(one.head)
            wanted.setdefault((one.name, FROM_HEAD, one.head), set()).add(one.dependent)
        questions += [HeadQuestion(name, way, text, at, frozenset(goal)) for (name, way, at), goal in wanted.items()]
    return HeadQuestions(tuple(map(tuple, sentences)), tuple(questions))


def about_pronouns(pronouns: Sequence[Pronoun]) -> HeadQuestions:
    """One question for each pronoun: to which candidate does it attend most?"""
    questions = (
        HeadQuestion(COREFERENCE, FROM_DEPENDENT, text, one.pronoun, frozenset({one.antecedent}), one.candidates)
        for text, one in enumerate(pronouns)
    )
    return HeadQuestions(tuple(one.words for one in pronouns), tuple(questions))


# --- attention between words ------------------------------------------------------------------------------------------


def tokens_of_words(encoding: Encoding, words: Sequence[str]) -> list[list[int]]:
    """The places of each word's tokens in the encoding of the words with spaces between them; empty for words that were
    cut off or dropped."""
    spans = joined(words)[1]
    places: list[list[int]] = [[] for _ in words]
    word = 0
    for token, ((start, _end), special) in enumerate(zip(encoding.offsets, encoding.special, strict=True)):
        if special:
            continue
        while spans[word][1] <= start:
            word += 1
        places[word].append(token)
    return places


def between_words(probs: Tensor, tokens: Sequence[Sequence[int]]) -> Tensor:
    """(…, T, T) → (…, W, W): to a word the sum over its tokens, from a word their mean. tokens: of each word."""
    member = torch.zeros(len(tokens), probs.size(-1), dtype=probs.dtype)  # (W, T)
    for word, places in enumerate(tokens):
        member[word, list(places)] = 1
    mean = member / member.sum(-1, keepdim=True).clamp(min=1)
    return mean @ probs @ member.T


def looks_at(weights: Tensor) -> Tensor:
    """The word that each word attends to most, itself left out: (…, W, W) → (…, W), the first of equals."""
    return weights.masked_fill(torch.eye(weights.size(-1), dtype=torch.bool), -1).argmax(-1)


def is_right(weights: Tensor, chosen: Tensor, question: HeadQuestion) -> Tensor:
    """weights: (L, A, W, W) · chosen: `looks_at(weights)` → (L, A) bool"""
    if question.among is None:
        choice = chosen[..., question.looking]
    else:
        places = torch.tensor(question.among)
        choice = places[weights[..., question.looking, places].argmax(-1)]
    wanted = torch.zeros(weights.size(-1), dtype=torch.bool)
    wanted[list(question.wanted)] = True
    return wanted[choice]


@torch.inference_mode()
def word_attentions(model: nn.Module, tokenizer: Tokenizer, texts: Sequence[Sequence[str]]) -> Iterator[tuple]:
    """(number of the text, (L, A, W, W) float32, tokens of its words) of every text, the short ones first."""
    bert = encoder_of(model)
    device = next(bert.parameters()).device
    room = bert.config.longest
    encodings = [tokenizer.encode(joined(words)[0], max_length=room, truncation="head") for words in texts]
    order = sorted(range(len(texts)), key=lambda i: len(encodings[i]))
    for start in range(0, len(order), TEXTS):
        group = order[start : start + TEXTS]
        longest = len(encodings[group[-1]])
        ids = torch.tensor([encodings[i].ids + [tokenizer.pad_id] * (longest - len(encodings[i])) for i in group])
        padding = torch.arange(longest) < torch.tensor([len(encodings[i]) for i in group])[:, None]
        activations: list[Tensor] = []

        def record(name: str, x: Tensor, activations: list[Tensor] = activations) -> Tensor:
            if name.endswith(".attn.probs"):
                activations.append(x.float().cpu())  # (B, A, T, T)
            return x

        tap: Tap = record
        bert(Batch(ids, torch.zeros_like(ids), padding).to(device), tap)
        for row, number in enumerate(group):
            size = len(encodings[number])
            tokens = tokens_of_words(encodings[number], texts[number])
            yield number, between_words(torch.stack([x[row, :, :size, :size] for x in activations]), tokens), tokens


# --- what the heads find ----------------------------------------------------------------------------------------------


def measure_heads(model: nn.Module, tokenizer: Tokenizer, asked: HeadQuestions) -> list[RelationAccuracy]:
    """All heads on all questions, by relation and direction, in the order of RELATIONS. Questions about words that were
    cut off are left out. Raises ValueError if none is left."""
    by_text: dict[int, list[HeadQuestion]] = {}
    for question in asked.questions:
        by_text.setdefault(question.text, []).append(question)
    read: dict[HeadQuestion, Tensor] = {}
    for number, weights, tokens in word_attentions(model, tokenizer, asked.texts):
        chosen = looks_at(weights)
        for question in by_text.get(number, ()):
            needed = {question.looking, *question.wanted, *(question.among or ())}
            if all(tokens[place] for place in needed):
                read[question] = is_right(weights, chosen, question)
    found = []
    for relation in (*RELATIONS, COREFERENCE):
        for direction in DIRECTIONS:
            questions = tuple(
                q for q in asked.questions if (q.relation, q.direction) == (relation, direction) and q in read
            )
            if questions:
                right = torch.stack([read[question] for question in questions])
                found.append(RelationAccuracy(relation, direction, questions, right, *best_rule(questions)))
    if not found:
        raise ValueError("there is no relation to measure the heads on")
    return found


def best_rule(questions: Sequence[HeadQuestion]) -> tuple[float, str]:
    """Accuracy and name of the best rule that needs no model: for relations, the word a fixed number of places to the
    right or left, such as "+1"; for pronouns, the "nearest" or "first" candidate."""
    rules: Counter[str] = Counter()
    for question in questions:
        if question.among is None:
            rules.update(f"{place - question.looking:+d}" for place in question.wanted)
        else:
            rules["nearest"] += max(question.among) in question.wanted
            rules["first"] += min(question.among) in question.wanted
    name, count = rules.most_common(1)[0]
    return count / len(questions), name


def better_direction(found: Sequence[RelationAccuracy]) -> list[RelationAccuracy]:
    """For each relation, the direction in which its best head is more accurate, as in Table 1 of the paper."""
    best: dict[str, RelationAccuracy] = {}
    for one in found:
        if one.relation not in best or one.accuracy.max() > best[one.relation].accuracy.max():
            best[one.relation] = one
    return list(best.values())
