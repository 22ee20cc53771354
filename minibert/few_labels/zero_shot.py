"""Classification without training: what a masked language model predicts at the blank of a pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from minibert.finetune.predictor import Predictor
from minibert.model import Batch, BertForPreTraining
from minibert.tasks import Options, task_named
from minibert.tasks.pattern import PatternError
from minibert.tokenizer import Tokenizer
from minibert.training.skip_init import filled_later


def zero_shot_predictor(
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    pattern: str,
    words: Mapping[str, Sequence[str]],
    *,
    task: str = "cloze",
    max_length: int = 128,
) -> Predictor:
    """A predictor with the model's own weights, neither copied nor changed. Raises PatternError (ValueError) for a
    pattern or a word that cannot be used."""
    chosen, labels = task_named(task), list(words)
    if len(labels) < 2:
        raise PatternError("there must be two labels or more, with a word for each")
    options = Options(
        pattern=pattern,
        words={label: list(some) for label, some in words.items()},
        max_length=min(max_length, model.config.longest),
    )
    chosen.check_reading(options)
    if chosen.more_tokens(tokenizer, options):
        raise PatternError("the model has no vectors for [unused…]: they must be learned first")
    options = chosen.fitted(options, tokenizer, labels)
    with filled_later():
        head = chosen.head(model.config, labels, options)
    head.bert, head.mlm = model.bert, model.mlm
    return Predictor(head.eval(), tokenizer, chosen, options)


@dataclass(frozen=True)
class BlankPrediction:
    """tokens: of the row, with the blank at index `blank` · probabilities: per label, comparing only the labels' words
    · shares: label → (word, its probability over the whole vocabulary) · likeliest: (token, probability) over the whole
    vocabulary, best first · cut: tokens truncated from the text."""

    tokens: list[str]
    blank: int
    probabilities: dict[str, float]
    shares: dict[str, list[tuple[str, float]]]
    likeliest: list[tuple[str, float]]
    cut: int


@torch.no_grad()
def predict_blank(predictor: Predictor, given, most: int = 8) -> BlankPrediction:
    """Predictions at the blank of one input, and the label probabilities that follow from them."""
    example = predictor.task.example(given)
    (features,) = predictor.features([example])
    (row,) = predictor.task.rows(predictor.tokenizer, example, predictor.labels, predictor.options)
    model, names = predictor.model, predictor.tokenizer.vocab
    batch = Batch(torch.tensor([features.ids]), torch.tensor([features.segments]))
    logits = model.at_blank(batch).float()  # (1, V)
    probs, answers = F.softmax(logits, -1)[0], F.softmax(model.scores(logits), -1)[0]
    top = probs.topk(most)
    return BlankPrediction(
        [names[i] for i in features.ids],
        features.ids.index(predictor.tokenizer.mask_id),
        dict(zip(model.labels, answers.tolist(), strict=True)),
        {
            label: [(names[i], float(probs[i])) for i in ids]
            for label, ids in zip(model.labels, model.words, strict=True)
        },
        [(names[i], p) for p, i in zip(top.values.tolist(), top.indices.tolist(), strict=True)],
        sum(row.cut),
    )
