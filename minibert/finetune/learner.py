"""The model during training: a checkpoint (or random weights) with a new head, and optionally frozen parts, a prompt,
and further losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from minibert.finetune.auxiliary import AuxiliaryLoss
from minibert.finetune.batches import TrainingBatch
from minibert.finetune.prompt import Prompt
from minibert.finetune.settings import FinetuneSettings
from minibert.heads import HeadOutput, TaskHead
from minibert.model import IGNORE, Bert, BertForPreTraining, MlmHead, no_tap
from minibert.tasks import Options, Task, TaskData
from minibert.tasks.metadata import metadata_token, metadata_values
from minibert.tasks.pattern import Pattern
from minibert.tokenizer import Tokenizer
from minibert.training.skip_init import filled_later


class MlmLoss(nn.Module):
    """Cross-entropy of the masked tokens of the same texts."""

    name = "mlm_loss"

    def __init__(self, head: MlmHead, weight: float):
        super().__init__()
        self.head, self.weight = head, weight

    def forward(self, model: TaskHead, batch: TrainingBatch, output: HeadOutput) -> Tensor:
        x, _ = model.bert(batch.masked)  # (B, T, H)
        labels = batch.masked.labels
        return nn.functional.cross_entropy(self.head(x[labels != IGNORE]).float(), labels[labels != IGNORE])


class Learner(nn.Module):
    """The model during training: its own loss, and further `losses` added to it: modules with a name and a weight,
    (model, batch, output) → a number. Frozen parts stay in eval mode, without dropout, so that their outputs do not
    change."""

    def __init__(
        self,
        model: nn.Module,
        frozen: Sequence[nn.Module] = (),
        losses: Sequence[nn.Module] = (),
        prompt: Prompt | None = None,
    ):
        super().__init__()
        self.model, self.losses, self.prompt = model, nn.ModuleList(losses), prompt
        self.frozen = list(frozen)
        for part in self.frozen:
            part.requires_grad_(False)

    @classmethod
    def of(
        cls,
        source: nn.Module,
        task: Task,
        labels: Any,
        options: Options,
        tokenizer: Tokenizer,
        settings: FinetuneSettings,
        marks: Mapping[str, Sequence[str]] | None = None,
    ) -> Learner:
        """The checkpoint with a new head; if `from_scratch`, a model of the same sizes with random weights. marks: the
        values of each auxiliary column."""
        config = source.config.change(
            hidden_dropout_prob=settings.dropout,
            attention_probs_dropout_prob=settings.dropout,
            vocab_size=max(source.config.vocab_size, tokenizer.vocab_size),  # some checkpoints pad the vocabulary
        )
        grown = config.vocab_size > source.config.vocab_size
        with nullcontext() if settings.from_scratch or grown else filled_later():
            model = task.head(config, labels, options)
        own = getattr(model, "mlm", None)  # a cloze uses the MLM head of pre-training
        if own is not None and not settings.from_scratch and not isinstance(source, BertForPreTraining):
            raise ValueError("a cloze asks a masked language model, and this checkpoint has no head for hidden words")
        mlm = (own or MlmHead(config, model.bert.embeddings.token)) if settings.mlm_weight else own
        if not settings.from_scratch:
            copy_rows(source if isinstance(source, Bert) else source.bert, model.bert)
            if mlm is not None and isinstance(source, BertForPreTraining):
                copy_rows(source.mlm, mlm)
        losses: list[nn.Module] = []
        if marks:
            losses.append(AuxiliaryLoss(model.read_width, marks, config.initializer_range, settings.auxiliary_weight))
        if settings.mlm_weight:
            losses.append(MlmLoss(mlm, settings.mlm_weight))
        frozen = frozen_parts(model.bert, settings.freeze)
        frozen += [own] if own is not None and settings.freeze == "all" else []
        if own is not None and settings.freeze == "all" and settings.prompt == "none":
            raise ValueError(
                "with all of it frozen a cloze has nothing to learn but a prompt: choose one, or freeze less"
            )
        return cls(model, frozen, losses, prompt_of(model.bert, tokenizer, options, settings))

    def train(self, mode: bool = True) -> Learner:
        super().train(mode)
        for part in self.frozen:
            part.eval()
        return self

    def settle(self) -> None:
        """Write the current prompt vectors into the token embeddings, for evaluating and saving."""
        if self.prompt is not None:
            self.prompt.write(self.model.bert.embeddings.token)

    def forward(self, batch: TrainingBatch) -> dict[str, Tensor]:
        tap = no_tap if self.prompt is None else partial(self.prompt.tap, batch.ids)
        output = self.model(batch, tap)
        terms = {loss.name: loss(self.model, batch, output) for loss in self.losses}
        whole = sum((loss.weight * terms[loss.name] for loss in self.losses), start=output.loss)
        return {"loss": whole, "task_loss": output.loss, **terms} if terms else {"loss": whole}


def learned_options(settings: FinetuneSettings, task: Task, labels: Any, data: TaskData, places: int) -> Options:
    """The options to save: from the settings, and from the training data. places: positions of the model."""
    return settings.options(
        max_length=min(settings.max_length, places),
        metadata_values=metadata_values(data, settings.metadata),
        loss_weights=task.loss_weights(data, labels) if settings.loss == "class_weights" else (),
    )


def prompt_of(bert: Bert, tokenizer: Tokenizer, options: Options, settings: FinetuneSettings) -> Prompt | None:
    """Trainable vectors for the [unused…] of a pattern, None without. ValueError if the pattern has no [unused…]."""
    if settings.prompt == "none":
        return None
    tokens = Pattern.of(options.pattern, 1 + ("{second}" in options.pattern)).prompt
    return Prompt(bert.embeddings.token, [tokenizer.ids[token] for token in tokens], settings.prompt)


@torch.no_grad()
def copy_rows(source: nn.Module, target: nn.Module) -> None:
    """Copy weights by name; additional rows of the target (a grown vocabulary) keep their values."""
    weights = target.state_dict()
    for name, value in source.state_dict().items():
        weights[name][: len(value)].copy_(value)


def frozen_parts(bert: Bert, freeze: int | str) -> list[nn.Module]:
    """The modules to freeze: "none", "embeddings", n for the embeddings and the first n blocks, or "all" of BERT."""
    if freeze == "none":
        return []
    if freeze == "all":
        return [bert]
    blocks = 0 if freeze == "embeddings" else freeze
    if blocks and shared_blocks(bert):
        raise ValueError("all layers share one block: freeze none, embeddings or all")
    if blocks > len(bert.blocks):
        raise ValueError(f"freeze {blocks} blocks, but the model has {len(bert.blocks)}")
    return [bert.embeddings, *bert.blocks[:blocks]]


def shared_blocks(bert: Bert) -> bool:
    """Whether layers share weights (ALBERT), so that no layer can be changed alone."""
    layers = [{id(weight) for weight in block.parameters()} for block in bert.blocks]
    return len(set().union(*layers)) < sum(map(len, layers))


def with_metadata_tokens(tokenizer: Tokenizer, options: Options) -> Tokenizer:
    """The tokenizer with a special token for each metadata value, if metadata are read as tokens. Raises ValueError if
    two values give the same token."""
    if options.metadata_as != "token" or not options.metadata:
        return tokenizer
    new: dict[str, str] = {}
    for name in options.metadata:
        for value in options.metadata_values[name]:
            token = metadata_token(name, value)
            if token in new:
                raise ValueError(
                    f"column {name!r}: the values {new[token]!r} and {value!r} would both be the token {token}; write "
                    "them alike, or read the column as an embedding"
                )
            new[token] = value
    return tokenizer.with_special_tokens(new)


def reader_of(tokenizer: Tokenizer, task: Task, options: Options) -> Tokenizer:
    """The tokenizer with all tokens that the options and the task need."""
    tokenizer = with_metadata_tokens(tokenizer, options)
    more = task.more_tokens(tokenizer, options)
    return tokenizer.with_special_tokens(more) if more else tokenizer
