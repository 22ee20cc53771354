"""Pre-training an arm: model, objective, batches, and loss on held-out text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import torch

from minibert.experiments.catalogue import Pretraining, Scale
from minibert.experiments.corpus import Corpus
from minibert.model import Batch, BertForPreTraining
from minibert.objectives import Masking, Objective, losses, measure
from minibert.pretrain import PretrainSettings, initial_model
from minibert.relatives import objective_for, relative_named
from minibert.text.batches import PretrainingBatches
from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer
from minibert.train import Optimization, Step, train
from minibert.training.precision import best_device

SAMPLE = 64  # batches from which an arm's mean row length is estimated


def pretraining_settings(pretraining: Pretraining, scale: Scale, seed: int) -> PretrainSettings:
    """Settings of an arm at this scale. No dropout, because hardly any text is read twice."""
    return PretrainSettings(
        relative=pretraining.model_type,
        sizes={
            "hidden_size": pretraining.hidden,
            "num_hidden_layers": pretraining.layers,
            "num_attention_heads": pretraining.heads,
            "intermediate_size": 4 * pretraining.hidden,
            "max_position_embeddings": scale.max_length,
        },
        steps=scale.steps,
        batch_size=scale.batch_size,
        max_length=scale.max_length,
        input_format=pretraining.input_format,
        dropout=0.0,
        start="random",
        masking=Masking(scale.masking_rate, pretraining.split),
        optimization=Optimization(
            optimizer=scale.optimizer, learning_rate=scale.learning_rate, warmup=0.05, beta2=0.98
        ),
        seed=seed,
        report_every=scale.report_every,
    )


def objective_of(pretraining: Pretraining, rate: float = Masking.rate) -> Objective:
    """The objective of the arm's pre-training."""
    config = relative_named(pretraining.model_type).config()
    return objective_for(config, masking=Masking(rate, pretraining.split), **pretraining.objective_options)


def token_question(pretraining: Pretraining) -> str:
    """The name of the arm's loss on tokens: "mlm" or "next_token", first in `counts`, before losses on pairs."""
    return next(iter(objective_of(pretraining).counts))


def start(pretraining: Pretraining, corpus: Corpus, scale: Scale, seed: int) -> BertForPreTraining:
    """The model before its first step."""
    torch.manual_seed(seed)
    model: Any = initial_model(pretraining_settings(pretraining, scale, seed), corpus.store, corpus.tokenizer)
    return model.to(best_device())


def pretrain(
    model: BertForPreTraining, pretraining: Pretraining, corpus: Corpus, scale: Scale, seed: int
) -> Iterator[Step]:
    """Train `model` in place on the objective of the arm."""
    settings = pretraining_settings(pretraining, scale, seed)
    for event in train(
        model,
        batches_of(pretraining, corpus.store, corpus.tokenizer, scale, seed),
        settings.optimization,
        steps=settings.steps,
        report_every=settings.report_every,
        losses_of=partial(losses, objective_of(pretraining, scale.masking_rate)),
    ):
        if isinstance(event, Step):
            yield event


def batches_of(
    pretraining: Pretraining,
    store: TokenStore,
    tokenizer: Tokenizer,
    scale: Scale,
    seed: int,
    rate: float | None = None,
) -> Iterator[Batch]:
    """The arm's batches. If its rows are shorter than the base's, a batch holds more of them, so that all arms read
    about as many tokens per step (Liu et al. 2019, §4.2). rate: of masking, by default the scale's."""
    rate = scale.masking_rate if rate is None else rate
    make = partial(
        PretrainingBatches,
        store,
        tokenizer,
        max_length=scale.max_length,
        seed=seed,
        objective=objective_of(pretraining, rate),
        input_format=pretraining.input_format,
    )
    rows = scale.batch_size
    if pretraining.input_format != scale.input_format:
        sample = list(islice(make(batch_size=rows), SAMPLE))
        length = sum(batch.tokens for batch in sample) / sum(batch.ids.size(0) for batch in sample)
        rows = max(1, round(rows * scale.filled * scale.max_length / length))
    yield from make(batch_size=rows)


def heldout_loss(model: BertForPreTraining, pretraining: Pretraining, corpus: Corpus, scale: Scale) -> float:
    """Nats per predicted token on the first tokens of the held-out text: the same rows and the same masks for all arms
    with the same objective, whatever they were trained on."""
    same_masks = Pretraining(objective=pretraining.objective)
    measured = measure(objective_of(same_masks), model, heldout_batches(pretraining.objective, corpus, scale))
    return measured[f"{token_question(same_masks)}_loss"]


def heldout_batches(objective: str, corpus: Corpus, scale: Scale) -> Iterator[Batch]:
    """The first batches of the held-out text, masked at the default rate."""
    same_rows = Pretraining(objective=objective, input_format=scale.input_format)
    batches = batches_of(same_rows, corpus.heldout, corpus.tokenizer, scale, seed=0, rate=Masking.rate)
    return first_tokens(batches, scale.heldout_tokens)


def first_tokens(batches: Iterable[Batch], tokens: int) -> Iterator[Batch]:
    """The first batches that together hold at least `tokens` tokens."""
    read = 0
    for batch in batches:
        yield batch
        read += batch.tokens
        if read >= tokens:
            return
