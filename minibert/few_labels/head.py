"""No new layer: the pre-trained masked-LM head, applied at the blank, to the words of the classes only."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from minibert.config import BertConfig
from minibert.heads import HeadOutput, TaskHead, names_from_config, names_to_config
from minibert.model import BERT, Batch, Components, MlmHead, Tap, no_tap


class BertForCloze(TaskHead):
    """A label's score is the mean of the logits of its words at [MASK], followed by a softmax over the labels (Schick
    and Schütze 2021, §3.1). labels: C names · words: for each label the ids of its words · mask: the id of [MASK],
    which each row contains once."""

    one_vector = False

    def __init__(
        self,
        config: BertConfig,
        labels: Sequence[str] = ("0", "1"),
        *,
        words: Sequence[Sequence[int]] = ((0,), (1,)),
        mask: int = 0,
        components: Components = BERT,
    ):
        if len(labels) < 2 or len(words) != len(labels) or not all(words):
            raise ValueError(f"a cloze needs two classes or more, and words for each: {list(labels)}, {list(words)}")
        if not all(0 <= number < config.vocab_size for number in (mask, *(i for ids in words for i in ids))):
            raise ValueError(f"a word of the classes is none of the {config.vocab_size} entries of the vocabulary")
        super().__init__(config, components=components)
        self.labels, self.words, self.mask_id = list(labels), [list(ids) for ids in words], mask
        self.mlm = MlmHead(config, self.bert.embeddings.token)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> HeadOutput:
        logits = tap("classifier.logits", self.scores(self.at_blank(batch, tap)).float())  # (B, C)
        return HeadOutput(logits, None if batch.labels is None else F.cross_entropy(logits, batch.labels))

    def at_blank(self, batch: Batch, tap: Tap = no_tap) -> Tensor:
        """The logits over the whole vocabulary at each row's [MASK]: (B, V)."""
        x, _ = self.bert(batch, tap)  # (B, T, H)
        place = (batch.ids == self.mask_id).int().argmax(dim=1)  # (B,)
        blank = x.gather(1, place.view(-1, 1, 1).expand(-1, 1, x.size(2))).squeeze(1)  # (B, H)
        return tap("mlm.logits", self.mlm(blank))

    def scores(self, logits: Tensor) -> Tensor:
        """(B, V) → (B, C), the mean over each label's words."""
        return torch.stack([logits[:, ids].mean(dim=1) for ids in self.words], dim=1)

    def options_to_config(self) -> dict:
        return {**names_to_config(self.labels), "cloze_words": self.words, "cloze_mask": self.mask_id}

    @staticmethod
    def options_from_config(values: dict) -> dict:
        return {
            "labels": names_from_config(values),
            "words": values.get("cloze_words", []),
            "mask": values.get("cloze_mask", 0),
        }
