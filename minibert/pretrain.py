"""Pre-training: masked words and next sentences, from text files to a checkpoint (Devlin et al. 2019, §3.1)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.cooccurrence import start_output_bias, start_position_embeddings, start_token_embeddings
from minibert.data import Masking, TokenStore, pretraining_batches, read_documents
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.tokenizer import Tokenizer
from minibert.train import Done, Eval, Event, Optimization, Saved, Step, autocast, best_device, train
from minibert.vocab import learn_fast

STARTS = ("random", "counts")


@dataclass(frozen=True)
class PretrainSettings:
    """One pre-training run. Budget: `steps` or `minutes`. The paper's optimizer values suit a base model; the defaults
    here suit small ones on small data, where a higher rate and β₂ 0.98 learn faster (see checkpoints/mini-en)."""

    preset: str = "mini"
    vocab_size: int = 8192
    steps: int | None = None
    minutes: float | None = None
    batch_size: int = 32
    max_length: int = 128
    dropout: float = 0.0
    nsp_weight: float = 1.0  # as in the paper, which has 256 pairs a batch; from few pairs NSP is noise to MLM
    start: str = "counts"  # what is known before the first step: nothing ("random"), or what "counts" of the text tell
    masking: Masking = field(default_factory=Masking)
    optimization: Optimization = field(
        default_factory=lambda: Optimization(learning_rate=1e-3, warmup=0.05, beta2=0.98)
    )
    seed: int = 0
    report_every: int = 10
    save_minutes: float = 5.0

    def __post_init__(self):
        if (self.steps is None) == (self.minutes is None):
            raise ValueError("give either steps or minutes")
        if self.start not in STARTS:
            raise ValueError(f"start must be one of {', '.join(STARTS)}, not {self.start!r}")
        if self.nsp_weight < 0:
            raise ValueError(f"nsp_weight must not be negative, but is {self.nsp_weight}")
        if self.max_length < 5:
            raise ValueError(f"max_length must leave room for [CLS] a [SEP] b [SEP]: at least 5, not {self.max_length}")


def pretrain(
    settings: PretrainSettings, data: Sequence[str | Path], out: str | Path, vocabulary: str | Path | None = None
) -> Iterator[Event]:
    """Learn a vocabulary (unless one is given), tokenize, train, save to `out`; the same directory grows better as it
    goes: every `save_minutes` the model so far replaces the last. `training.jsonl` there keeps the events."""
    torch.manual_seed(settings.seed)
    tokenizer = Tokenizer.from_file(vocabulary) if vocabulary else learn_tokenizer(data, settings.vocab_size)
    store = TokenStore.build(read_documents(data), tokenizer)
    model = start_model(settings, store, tokenizer).to(best_device())
    batches = pretraining_batches(
        store,
        tokenizer,
        batch_size=settings.batch_size,
        max_length=settings.max_length,
        seed=settings.seed,
        masking=settings.masking,
    )
    events: list[Event] = []
    saved_at = 0.0
    seconds = settings.minutes * 60 if settings.minutes else None
    for event in train(
        model,
        batches,
        settings.optimization,
        steps=settings.steps,
        seconds=seconds,
        report_every=settings.report_every,
        loss_of=lambda output: output.mlm_loss + settings.nsp_weight * output.nsp_loss,
    ):
        events.append(event)
        yield event
        due = isinstance(event, Step) and event.seconds - saved_at >= settings.save_minutes * 60
        if due or isinstance(event, Done):
            saved_at = event.seconds
            yield save(out, model, tokenizer, events)


def learn_tokenizer(data: Sequence[str | Path], size: int) -> Tokenizer:
    lines = (line for document in read_documents(data) for line in document)
    return Tokenizer(learn_fast(lines, size))


def start_model(settings: PretrainSettings, store: TokenStore, tokenizer: Tokenizer) -> BertForPreTraining:
    """A model before its first step: random, or with token embeddings from co-occurrence counts, positions from the
    sinusoid table and the output bias from frequencies."""
    config = BertConfig.preset(
        settings.preset,
        vocab_size=tokenizer.vocab_size,
        hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
        pad_token_id=tokenizer.pad_id,
    )
    model = BertForPreTraining(config)
    if settings.start == "counts":
        start_token_embeddings(model.bert, store, settings.seed)
        start_position_embeddings(model.bert)
        start_output_bias(model.mlm, store)
    return model


def save(out: str | Path, model: BertForPreTraining, tokenizer: Tokenizer, events: Sequence[Event]) -> Saved:
    """The model so far in half precision, and the log of its training beside it."""
    checkpoint.save(out, model, tokenizer, dtype=torch.float16)
    with checkpoint.writing(out) as folder:
        lines = "".join(json.dumps(event.as_dict()) + "\n" for event in events)
        (folder / "training.jsonl").write_text(lines, encoding="utf-8")
    step = max((event.step for event in events), default=0)
    return Saved(step, str(out))


@torch.no_grad()
def evaluate(model: BertForPreTraining, batches: Iterator[Batch]) -> Eval:
    """MLM loss (nats a masked token), MLM and NSP accuracy over `batches`; the model is left as it was found."""
    device = next(model.parameters()).device
    training = model.training
    model.eval()
    sums = {"mlm_loss": 0.0, "mlm_right": 0, "masked": 0, "nsp_right": 0, "pairs": 0}
    for batch in batches:
        batch = batch.to(device)
        with autocast(device):
            output = model(batch)
        answers = batch.labels[batch.labels != IGNORE]
        sums["mlm_loss"] += output.mlm_loss.item() * len(answers)
        sums["mlm_right"] += (output.mlm_logits.argmax(-1) == answers).sum().item()
        sums["masked"] += len(answers)
        sums["nsp_right"] += (output.nsp_logits.argmax(-1) == batch.next_labels).sum().item()
        sums["pairs"] += len(batch.next_labels)
    model.train(training)
    if not sums["masked"]:
        raise ValueError("there is nothing to evaluate on")
    return Eval(
        step=0,
        metrics={
            "mlm_loss": sums["mlm_loss"] / sums["masked"],
            "mlm_accuracy": sums["mlm_right"] / sums["masked"],
            "nsp_accuracy": sums["nsp_right"] / sums["pairs"],
            "masked_tokens": sums["masked"],
            "pairs": sums["pairs"],
        },
    )


@torch.no_grad()
def fill(model: BertForPreTraining, tokenizer: Tokenizer, text: str, top: int = 5) -> list[list[tuple[str, float]]]:
    """For every [MASK] in `text`, the `top` likeliest pieces with probabilities. Raises ValueError without one."""
    encoding = tokenizer.encode(text, max_length=model.config.max_position_embeddings, truncation="head")
    ids = torch.tensor([encoding.ids])  # (1, T)
    labels = torch.where(ids == tokenizer.mask_id, ids, IGNORE)
    if not (labels != IGNORE).any():
        raise ValueError("there is no [MASK] in the text to fill")
    probs = model(Batch(ids, labels=labels)).mlm_logits.float().softmax(-1)  # (M, V)
    best = probs.topk(min(top, probs.size(-1)), dim=-1)
    return [
        [(tokenizer.vocab[i], p) for i, p in zip(row_ids, row_probs, strict=True)]
        for row_ids, row_probs in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
