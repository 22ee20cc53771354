"""The model during training: a checkpoint (or random weights) with a new head, optionally with frozen modules, a prompt
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
from minibert.tasks import Options, Task
from minibert.tasks.metadata import metadata_token
from minibert.tasks.pattern import Pattern
from minibert.tokenizer import Tokenizer
from minibert.training.cross_entropy import cross_entropy
from minibert.training.skip_init import skip_init


class MlmLoss(nn.Module):
    """Cross-entropy of the masked tokens of the same texts."""

    name = "mlm_loss"

    def __init__(self, head: MlmHead, weight: float):
        super().__init__()
        self.head, self.weight = head, weight

    def forward(self, model: TaskHead, batch: TrainingBatch, output: HeadOutput) -> Tensor:
        x, _ = model.bert(batch.masked)  # (B, T, H)
        target_mask = batch.masked.labels != IGNORE  # (B, T); all False if every token is special
        return cross_entropy(self.head(x[target_mask]), batch.masked.labels[target_mask])


class Learner(nn.Module):
    """The model's own loss and further `losses`, (model, batch, output) → scalar, each with a name and a weight. Frozen
    modules stay in eval mode, so that dropout does not change their outputs."""

    model: TaskHead

    def __init__(
        self,
        model: TaskHead,
        frozen: Sequence[nn.Module] = (),
        losses: Sequence[nn.Module] = (),
        prompt: Prompt | None = None,
    ):
        super().__init__()
        self.model, self.losses, self.prompt, self.frozen = model, nn.ModuleList(losses), prompt, list(frozen)
        for module in self.frozen:
            module.requires_grad_(False)

    @classmethod
    def of(
        cls,
        source: Any,
        task: Task,
        labels: Any,
        options: Options,
        tokenizer: Tokenizer,
        settings: FinetuneSettings,
        auxiliary: Mapping[str, Sequence[str]] | None = None,
    ) -> Learner:
        """The model `source` with a new head; if `from_scratch`, one of the same sizes with random weights. auxiliary:
        the values of each auxiliary column."""
        config = source.config.change(
            hidden_dropout_prob=settings.dropout,
            attention_probs_dropout_prob=settings.dropout,
            vocab_size=max(source.config.vocab_size, tokenizer.vocab_size),  # some checkpoints pad the vocabulary
        )
        grown = config.vocab_size > source.config.vocab_size
        with nullcontext() if settings.from_scratch or grown else skip_init():
            model: Any = task.head(config, labels, options)
        cloze_head: MlmHead | None = getattr(model, "mlm", None)
        if cloze_head is not None and not settings.from_scratch and not isinstance(source, BertForPreTraining):
            raise ValueError("a cloze asks a masked language model, and this checkpoint has no head for hidden words")
        mlm = cloze_head
        if mlm is None and settings.mlm_weight:
            mlm = MlmHead(config, model.bert.embeddings.token)
        if not settings.from_scratch:
            copy_weights(source if isinstance(source, Bert) else source.bert, model.bert)
            if mlm is not None and isinstance(source, BertForPreTraining):
                copy_weights(source.mlm, mlm)
        losses: list[nn.Module] = []
        if auxiliary:
            losses.append(
                AuxiliaryLoss(model.read_width, auxiliary, config.initializer_range, settings.auxiliary_weight)
            )
        if mlm is not None and settings.mlm_weight:
            losses.append(MlmLoss(mlm, settings.mlm_weight))
        frozen = frozen_modules(model.bert, settings.freeze)
        if cloze_head is not None and settings.freeze == "all":
            frozen.append(cloze_head)
            if settings.prompt == "none":
                raise ValueError(
                    "with all of it frozen a cloze has nothing to learn but a prompt: choose one, or freeze less"
                )
        return cls(model, frozen, losses, build_prompt(model.bert, tokenizer, options, settings))

    def train(self, mode: bool = True) -> Learner:
        super().train(mode)
        for module in self.frozen:
            module.eval()
        return self

    def write_prompt(self) -> None:
        """Write the prompt's vectors into the token embeddings, before evaluating or saving."""
        if self.prompt is not None:
            embeddings: Any = self.model.bert.embeddings
            self.prompt.write(embeddings.token)

    def forward(self, batch: TrainingBatch) -> dict[str, Tensor]:
        tap = no_tap if self.prompt is None else partial(self.prompt.tap, batch.ids)
        output = self.model(batch, tap)
        losses: list[Any] = [*self.losses]
        terms = {loss.name: loss(self.model, batch, output) for loss in losses}
        total = sum((loss.weight * terms[loss.name] for loss in losses), start=output.loss)
        return {"loss": total, "task_loss": output.loss, **terms} if terms else {"loss": total}


def build_prompt(bert: Any, tokenizer: Tokenizer, options: Options, settings: FinetuneSettings) -> Prompt | None:
    """Trainable vectors for the [unused…] tokens of the pattern, or None. Raises ValueError if it has none."""
    if settings.prompt == "none":
        return None
    tokens = Pattern.of(options.pattern, 1 + ("{second}" in options.pattern)).prompt
    return Prompt(bert.embeddings.token, [tokenizer.ids[token] for token in tokens], settings.prompt)


@torch.no_grad()
def copy_weights(source: nn.Module, target: nn.Module) -> None:
    """Copy weights by name; further rows of the target (a larger vocabulary) keep their values."""
    weights = target.state_dict()
    for name, value in source.state_dict().items():
        weights[name][: len(value)].copy_(value)


def frozen_modules(bert: Bert, freeze: int | str) -> list[nn.Module]:
    """The modules to freeze: "none", "embeddings", n for the embeddings and the first n blocks, or "all" of BERT."""
    if freeze in ("none", "all"):
        return [bert] if freeze == "all" else []
    blocks = freeze if isinstance(freeze, int) else 0
    if blocks and shared_blocks(bert):
        raise ValueError("all layers share one block: freeze none, embeddings or all")
    if blocks > len(bert.blocks):
        raise ValueError(f"freeze {blocks} blocks, but the model has {len(bert.blocks)}")
    return [bert.embeddings, *bert.blocks[:blocks]]


def shared_blocks(bert: Bert) -> bool:
    """Whether layers share weights (ALBERT), so that none can be changed alone."""
    layers = [{id(weight) for weight in block.parameters()} for block in bert.blocks]
    return len(set().union(*layers)) < sum(map(len, layers))


def with_metadata_tokens(tokenizer: Tokenizer, options: Options) -> Tokenizer:
    """The tokenizer with a special token for each metadata value, if metadata are read as tokens. Raises ValueError if
    two values give the same token."""
    values: dict[str, str] = {}
    for name in options.metadata if options.metadata_as == "token" else ():
        for value in options.metadata_values[name]:
            token = metadata_token(name, value)
            if token in values:
                raise ValueError(
                    f"column {name!r}: the values {values[token]!r} and {value!r} would both be the token {token}; "
                    "write them alike, or read the column as an embedding"
                )
            values[token] = value
    return tokenizer.with_special_tokens(values)
