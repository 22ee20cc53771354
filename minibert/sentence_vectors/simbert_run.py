"""A live run of SimBERT: what it finds and writes is measured as it learns, and it answers the reader's questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch

from minibert import checkpoint
from minibert.inside.vectors import nearest
from minibert.model import BertForPreTraining
from minibert.sentence_vectors.simbert import (
    Pairs,
    SimBert,
    SimBertSettings,
    alike,
    cls_vectors,
    found_share,
    nats,
    unilm_of,
)
from minibert.tokenizer import Tokenizer
from minibert.toy.watched import watched
from minibert.train import Event, Saved
from minibert.training.precision import best_device


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
    watch: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Go on from the checkpoint `model`, a BERT with a head for hidden tokens; the events, and the UniLM in `out`.

    groups: of questions that ask the same · desk, held_out: (question, what it asks); each `Eval` holds `found`, the
    share of `held_out` whose nearest of `desk` asks the same · pairs: of which `nats` says how well the second is
    written; learned: the same of pairs that are learned from, `nats_learned`. `Sample`: the nearest of `desk` to each
    text of `watch`, and what is written; a list of texts from `mailbox` replaces them. Raises ValueError for what
    cannot be used.
    """
    torch.manual_seed(settings.seed)
    tokenizer, before = checkpoint.load_tokenizer(model), checkpoint.load(model)
    if not isinstance(before, BertForPreTraining) or before.config.model_type != "bert":
        raise ValueError("SimBERT begins with a BERT that was asked for hidden tokens")
    learner = SimBert(unilm_of(before), settings).to(best_device())
    known = [question for question, _ in desk]

    def measure() -> dict[str, float]:
        return measured(learner.model, tokenizer, held_out, desk, pairs, learned)

    def say(texts: Sequence[str]) -> list[dict]:
        table = cls_vectors(learner.model.bert, tokenizer, known)
        asked = cls_vectors(learner.model.bert, tokenizer, texts)
        return [
            {
                "text": str(text),
                "nearest": [[known[i], round(cosine, 4)] for i, cosine in nearest(table, query, 3)],
                "written": [[one, round(cosine, 4)] for one, cosine in alike(learner.model, tokenizer, str(text))],
            }
            for text, query in zip(texts, asked, strict=True)
        ]

    done = yield from watched(
        learner, Pairs(groups, tokenizer, settings), settings, measure, say,
        watch=watch, mailbox=mailbox, report_every=5, losses_of=lambda losses, part, whole: losses,
    )  # fmt: skip
    if out is not None:
        checkpoint.save(out, learner.model.cpu(), tokenizer, dtype=torch.float16)
        yield Saved(done.step, str(out))
    yield done


def measured(
    model: BertForPreTraining, tokenizer: Tokenizer, held_out: Sequence[tuple[str, str]] = (),
    desk: Sequence[tuple[str, str]] = (), pairs: Sequence[tuple[str, str]] = (),
    learned: Sequence[tuple[str, str]] = (),
) -> dict[str, float]:  # fmt: skip
    """What each `Eval` of `train_simbert` holds, as far as there is something to ask."""
    metrics = {}
    if held_out and desk:
        metrics["found"] = found_share(model.bert, tokenizer, held_out, desk)
    for name, some in (("nats", pairs), ("nats_learned", learned)):
        if some:
            metrics[name] = nats(model, tokenizer, some)
    return metrics
