"""A live run of SimBERT: finding and writing are evaluated during training, and the user's questions answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch

from minibert import checkpoint
from minibert.inside.geometry.vectors import nearest
from minibert.model import BertForPreTraining
from minibert.sentence_vectors.simbert import (
    ParaphraseBatches,
    SimBert,
    SimBertSettings,
    cls_vectors,
    nats_per_token,
    paraphrases,
    retrieval_accuracy,
    to_unilm,
)
from minibert.tokenizer import Tokenizer
from minibert.train import Event
from minibert.training.precision import best_device
from minibert.training.train_and_evaluate import train_and_evaluate


def train_simbert(
    settings: SimBertSettings,
    model: str | Path,
    groups: Sequence[Sequence[str]],
    *,
    held_out: Sequence[tuple[str, str]] = (),
    desk: Sequence[tuple[str, str]] = (),
    pairs: Sequence[tuple[str, str]] = (),
    learned: Sequence[tuple[str, str]] = (),
    out: str | Path | None = None,
    probe_inputs: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Train a UniLM from the checkpoint `model`, a BERT with an MLM head; yields the events, saves the UniLM to `out`.

    groups: of questions with the same meaning · desk, held_out: (question, meaning); each `Eval` holds `found`, the
    share of `held_out` whose nearest question of `desk` has the same meaning · pairs: for `nats`, how well the second
    question is written; learned: training pairs, for `nats_learned`. `Sample`: for each text of `probe_inputs` the
    nearest of `desk`, and questions written; a list of texts from `mailbox` replaces `probe_inputs`. Raises ValueError
    for unusable input.
    """
    torch.manual_seed(settings.seed)
    tokenizer, before = checkpoint.load_tokenizer(model), checkpoint.load(model)
    if not isinstance(before, BertForPreTraining) or before.config.model_type != "bert":
        raise ValueError("SimBERT begins with a BERT that was asked for hidden tokens")
    learner = SimBert(to_unilm(before), settings).to(best_device())
    candidates = [question for question, _ in desk]

    def say(texts: Sequence[str]) -> list[dict]:
        table, queries = (cls_vectors(learner.model.bert, tokenizer, some) for some in (candidates, texts))
        return [
            {
                "text": str(text),
                "nearest": [[candidates[i], round(cosine, 4)] for i, cosine in nearest(table, query, 3)],
                "written": [
                    [one, round(cosine, 4)] for one, cosine in paraphrases(learner.model, tokenizer, str(text))
                ],
            }
            for text, query in zip(texts, queries, strict=True)
        ]

    yield from train_and_evaluate(
        learner,
        ParaphraseBatches(groups, tokenizer, settings),
        settings,
        lambda: measured(learner.model, tokenizer, held_out, desk, pairs, learned),
        say,
        probe_inputs=probe_inputs,
        mailbox=mailbox,
        report_every=5,
        losses_of=lambda losses, part, whole: losses,
        save=lambda folder: checkpoint.save(folder, learner.model.cpu(), tokenizer, dtype=torch.float16),
        out=out,
    )


def measured(
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    held_out: Sequence[tuple[str, str]] = (),
    desk: Sequence[tuple[str, str]] = (),
    pairs: Sequence[tuple[str, str]] = (),
    learned: Sequence[tuple[str, str]] = (),
) -> dict[str, float]:
    """The metrics of an `Eval` of `train_simbert`; those without data are left out."""
    metrics = {}
    if held_out and desk:
        metrics["found"] = retrieval_accuracy(model.bert, tokenizer, held_out, desk)
    if pairs:
        metrics["nats"] = nats_per_token(model, tokenizer, pairs)
    if learned:
        metrics["nats_learned"] = nats_per_token(model, tokenizer, learned)
    return metrics
