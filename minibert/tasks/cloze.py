"""Classification of one text or two as a cloze: a masked language model fills the blank of a pattern, and the words it
prefers there stand for the classes (PET, Schick and Schütze 2021: arXiv:2001.07676)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from minibert.tasks.classification import Classification
from minibert.tasks.features import Features
from minibert.tasks.guess import Sureness
from minibert.tasks.input_rows import InputRow, row_of, with_cut
from minibert.tasks.options import Options
from minibert.tasks.pairs import Pairs
from minibert.tasks.pattern import ClozeRow, Pattern, cloze, with_prompt_tokens, word_ids
from minibert.tasks.sequences import ClassTask

if TYPE_CHECKING:
    from torch import nn


class ByPattern(ClassTask):
    """Shared by both tasks: the input is [CLS] the pattern with its text [SEP]; there is no new layer.

    options: `pattern`, with {text}, for pairs also {second}, and [MASK]; `words`: label → its word or words.
    """

    architecture = "BertForCloze"
    by_pattern = True
    pooled = False
    reads_texts = False
    losses: ClassVar[tuple[str, ...]] = ()

    def recognises(self, form) -> Sureness:
        return Sureness.NO

    def check_reading(self, options, *data) -> None:
        super().check_reading(options, *data)
        if options.metadata or options.bilstm:
            raise ValueError(f"the task {self.name} reads its pattern alone: no metadata, no BiLSTM")
        Pattern.of(options.pattern, len(self.given_texts))

    def more_tokens(self, tokenizer, options) -> list[str]:
        return with_prompt_tokens(tokenizer, options.pattern)

    def fitted(self, options, tokenizer, labels) -> Options:
        pieces = Pattern.of(options.pattern, len(self.given_texts)).pieces(tokenizer)
        cloze(tokenizer, pieces, [()] * len(self.given_texts), options.max_length)  # raises if there is no room
        return replace(options, word_ids=word_ids(tokenizer, options.words, labels), mask_id=tokenizer.mask_id)

    def features(self, tokenizer, examples, labels, options) -> list[Features]:
        return [
            Features(i, made.ids, [0] * len(made.ids), self.target(example, labels))
            for i, (example, made) in enumerate(zip(examples, self.clozes(tokenizer, examples, options), strict=True))
        ]

    def clozes(self, tokenizer, examples, options) -> Iterator[ClozeRow]:
        pieces = Pattern.of(options.pattern, len(self.given_texts)).pieces(tokenizer)
        texts = [self.inputs(example) for example in examples]
        bulk = iter(tokenizer.encode_bulk([text for row in texts for text in row]))
        for row in texts:
            ids = [next(bulk) for _ in row]
            yield cloze(tokenizer, pieces, ids, options.max_length, options.truncation, options.budgets)

    def rows(self, tokenizer, example, labels, options) -> list[InputRow]:
        (made,) = self.clozes(tokenizer, [example], options)
        targets = ["" if place != made.blank else self.target_word(example) for place in range(len(made.ids))]
        row = row_of(tokenizer, made.ids, [0] * len(made.ids), targets)
        for place, lost in reversed(made.lost):
            row = with_cut(tokenizer, row, place, lost, 0)
        return [row]

    def head(self, config, labels, options) -> nn.Module:
        from minibert.heads import BertForCloze
        from minibert.relatives import build

        words = [options.word_ids[label] for label in labels]
        return build(config, BertForCloze, labels=labels, words=words, mask=options.mask_id)


class Cloze(ByPattern, Classification):
    name = "cloze"
    order = 15


class ClozePair(ByPattern, Pairs):
    name = "cloze-pair"
    order = 25
