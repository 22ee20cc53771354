"""The task heads: one class each, a few lines each (Devlin et al. 2019, §4 and figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.model import Batch, Bert, Tap, initialize, no_tap

POOLINGS = ("cls", "mean")


@dataclass(frozen=True)
class ClassificationOutput:
    """logits: (B, classes) · loss: mean cross-entropy, None where the batch has no labels."""

    logits: Tensor
    loss: Tensor | None = None


class BertForSequenceClassification(nn.Module):
    """One new layer on top of BERT: softmax(W·C), C the pooled [CLS] (Devlin et al. 2019, §4.1).

    pooling "mean" reads the mean of the real tokens' last hidden states instead of the pooler's [CLS]: what little
    pre-training has taught [CLS] matters less then.
    """

    def __init__(self, config: BertConfig, labels: Sequence[str] = ("0", "1"), *, pooling: str = "cls", **parts):
        super().__init__()
        if len(labels) < 2:
            raise ValueError(f"classification needs two classes or more, not {list(labels)}")
        if pooling not in POOLINGS:
            raise ValueError(f"pooling must be one of {', '.join(POOLINGS)}, not {pooling!r}")
        self.config, self.labels, self.pooling = config, list(labels), pooling
        self.bert = Bert(config, **parts)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, len(self.labels))
        initialize(self.classifier, config.initializer_range)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> ClassificationOutput:
        x, pooled = self.bert(batch, tap)  # (B, T, H), (B, H)
        if self.pooling == "mean":
            pooled = mean_of_tokens(x, batch.padding)  # (B, H)
        logits = tap("classifier.logits", self.classifier(self.dropout(pooled)))  # (B, classes)
        loss = None if batch.labels is None else F.cross_entropy(logits.float(), batch.labels)
        return ClassificationOutput(logits, loss)

    def options_to_config(self) -> dict:
        """What config.json says of this head: the classes under the ecosystem's names, the pooling under ours."""
        return {
            "id2label": {str(i): label for i, label in enumerate(self.labels)},
            "label2id": {label: i for i, label in enumerate(self.labels)},
            "classifier_pooling": self.pooling,
        }

    @staticmethod
    def options_from_config(values: dict) -> dict:
        """The other way: config.json → keyword arguments of this class."""
        names = values.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}
        labels = [str(names[key]) for key in sorted(names, key=int)]
        return {"labels": labels, "pooling": values.get("classifier_pooling", "cls")}


def mean_of_tokens(x: Tensor, padding: Tensor | None) -> Tensor:
    """Mean over the real tokens. x: (B, T, H), padding: (B, T) True where real → (B, H)."""
    if padding is None:
        return x.mean(dim=1)
    weight = padding.unsqueeze(-1).to(x.dtype)  # (B, T, 1)
    return torch.sum(x * weight, dim=1) / weight.sum(dim=1)
