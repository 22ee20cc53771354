"""Classification without training: what a masked language model predicts at the blank of a pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from minibert.finetune.predictor import Predictor
from minibert.model import Batch, BertForPreTraining
from minibert.tasks import Options, task_named
from minibert.tasks.pattern import SECOND, PatternError
from minibert.tokenizer import Tokenizer
from minibert.training.skip_init import sizes_only


def zero_shot_predictor(
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    pattern: str,
    words: Mapping[str, Sequence[str]],
    max_length: int = 128,
) -> Predictor:
    """A predictor with the model's own weights, neither copied nor changed; of pairs, if the pattern has {second}.
    Raises PatternError (ValueError) for a pattern or a word that cannot be used."""
    cloze, labels = task_named("cloze-pair" if SECOND in pattern else "cloze"), list(words)
    if len(labels) < 2:
        raise PatternError("there must be two labels or more, with a word for each")
    options = Options(
        pattern=pattern,
        words={label: list(names) for label, names in words.items()},
        max_length=min(max_length, model.config.longest),
    )
    cloze.check_reading(options)
    if cloze.more_tokens(tokenizer, options):
        raise PatternError("the model has no vectors for [unused…]: they must be learned first")
    options = cloze.fitted(options, tokenizer, labels)
    with sizes_only():
        head: Any = cloze.head(model.config, labels, options)
    head.bert, head.mlm = model.bert, model.mlm
    return Predictor(head.eval(), tokenizer, cloze, options)


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
def predict_blank(predictor: Predictor, value: Any, top: int = 8) -> BlankPrediction:
    """Predictions at the blank of one input, and the label probabilities that follow from them."""
    example, model, vocab = predictor.task.example(value), predictor.model, predictor.tokenizer.vocab
    (features,) = predictor.features([example])
    (row,) = predictor.task.rows(predictor.tokenizer, example, predictor.labels, predictor.options)
    batch = Batch(torch.tensor([features.ids]), torch.tensor([features.segments]))
    logits = model.at_blank(batch).float()  # (1, V)
    probs, label_probs = logits.softmax(-1)[0], model.scores(logits).softmax(-1)[0]
    best = probs.topk(top)
    words = zip(model.labels, model.words, strict=True)
    return BlankPrediction(
        [vocab[i] for i in features.ids],
        features.ids.index(predictor.tokenizer.mask_id),
        dict(zip(model.labels, label_probs.tolist(), strict=True)),
        {label: [(vocab[i], float(probs[i])) for i in ids] for label, ids in words},
        [(vocab[i], p) for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)],
        sum(row.cut),
    )
