"""What the arms train: a left-to-right language model, and the layers put on an encoder to fine-tune it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.attention_masks import causal_mask
from minibert.config import BertConfig
from minibert.heads import BiLstm, HeadOutput, mean_of_tokens
from minibert.model import IGNORE, Batch, Bert, BertForPreTraining, Tap, initialize, no_tap


@dataclass(frozen=True)
class NextTokenOutput:
    """logits: (M, V) at the M positions asked · loss: mean cross-entropy, nats a token."""

    logits: Tensor
    loss: Tensor


class LeftToRight(BertForPreTraining):
    """The same encoder under a causal mask, asked for the next token (LTR of Devlin et al. 2019, §5.1).

    Padding stands at the end of a row, where no real token looks anyway: the causal mask is the only one needed.
    """

    def forward(self, batch: Batch, tap: Tap = no_tap) -> NextTokenOutput:
        """batch.labels: (B, T), the token after each position, as `next_tokens` makes them."""
        x, _ = self.bert(batch, tap, mask=causal_mask(batch.ids.size(1), batch.ids.device))  # (B, T, H)
        asked = batch.labels != IGNORE  # (B, T)
        logits = tap("mlm.logits", self.mlm(x[asked]))  # (M, V)
        return NextTokenOutput(logits, F.cross_entropy(logits.float(), batch.labels[asked]))


def next_tokens(batch: Batch) -> Batch:
    """The batch with the token that follows as the label of each position; nothing is asked at the end of a row."""
    labels = torch.full_like(batch.ids, IGNORE)
    labels[:, :-1] = batch.ids[:, 1:]
    if batch.padding is not None:
        labels[:, :-1][~batch.padding[:, 1:]] = IGNORE
    return Batch(batch.ids, batch.segments, batch.padding, labels)


class OnTop(nn.Module):
    """A pre-trained encoder and one new linear layer: for a class of every token, or of the whole sequence, which is
    read as the mean of its tokens (so that [CLS], which sees nothing from left to right, is no handicap).

    left_to_right: the encoder keeps its causal mask · bilstm: a randomly initialised BiLSTM stands between the two, as
    in Devlin et al. 2019, §5.1 · frozen: the encoder is only read (§5.3), not trained.
    """

    def __init__(
        self,
        config: BertConfig,
        classes: int,
        *,
        per_token: bool = False,
        left_to_right: bool = False,
        bilstm: bool = False,
        frozen: bool = False,
    ):
        super().__init__()
        self.per_token, self.left_to_right, self.frozen = per_token, left_to_right, frozen
        self.bert = Bert(config).requires_grad_(not frozen)
        self.bilstm = BiLstm(config.hidden_size) if bilstm else None
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, classes)
        initialize(self.classifier, config.initializer_range)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> HeadOutput:
        """→ logits (B, classes), or (B, T, classes) if per_token; the loss leaves out what is labelled −100."""
        mask = causal_mask(batch.ids.size(1), batch.ids.device) if self.left_to_right else None
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            x, _ = self.bert(batch, tap, mask=mask)  # (B, T, H)
        if self.bilstm is not None:
            x = self.bilstm(x, batch.padding)  # (B, T, H)
        if not self.per_token:
            x = mean_of_tokens(x, batch.padding)  # (B, H)
        logits = tap("classifier.logits", self.classifier(self.dropout(x)))
        loss = None
        if batch.labels is not None:
            loss = F.cross_entropy(logits.float().flatten(0, -2), batch.labels.flatten(), ignore_index=IGNORE)
        return HeadOutput(logits, loss)
