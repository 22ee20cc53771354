"""BERT as a corrector of spelling: for each token, which one should be there (Zhang et al. 2020, arXiv:2005.07421).

The plain variant is BERT with its masked-LM head applied to every token. In Soft-Masked BERT a detector first estimates
how likely each token is wrong, and mixes that share of [MASK]'s embedding into the token's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from minibert import checkpoint
from minibert.model import Batch, BertForPreTraining, initialize
from minibert.objectives import mean_or_zero, targets_of
from minibert.tokenizer import Tokenizer
from minibert.training.cross_entropy import cross_entropy

DETECTOR = "detector.safetensors"  # beside the weights of the BERT that corrects


@dataclass(frozen=True)
class CorrectorOutput:
    """logits: (B, T, V) · suspicion: (B, T), logits that a token is wrong; None without a detector ·
    loss, correction_loss, detection_loss: None without labels."""

    logits: Tensor
    suspicion: Tensor | None = None
    loss: Tensor | None = None
    correction_loss: Tensor | None = None
    detection_loss: Tensor | None = None


class Detector(nn.Module):
    """Bidirectional GRU over the embeddings, then one logit per token: is it wrong? (§2.3)"""

    def __init__(self, hidden: int, std: float):
        super().__init__()
        self.gru = nn.GRU(hidden, max(1, hidden // 2), batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * max(1, hidden // 2), 1)
        initialize(self.out, std)

    def forward(self, e: Tensor, padding: Tensor | None) -> Tensor:
        """e: (B, T, H) → logits (B, T); the GRU skips padding."""
        lengths = torch.full((e.size(0),), e.size(1)) if padding is None else padding.sum(1).cpu()
        with torch.autocast(e.device.type, enabled=False):  # a GRU in bfloat16 is slower on a CPU
            packed = pack_padded_sequence(e.float(), lengths, batch_first=True, enforce_sorted=False)
            read = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=e.size(1))[0]
            return self.out(read)[..., 0]


def soft_masked(e: Tensor, mask: Tensor, p: Tensor) -> Tensor:
    """p·m + (1 − p)·e: mixes in [MASK] by the probability of an error (equation 3). e, mask: (B, T, H), p: (B, T)"""
    return p[..., None] * mask + (1 - p[..., None]) * e


class Corrector(nn.Module):
    """A pre-trained BERT that corrects; with a `detector` it is Soft-Masked BERT.

    e is what enters the first block. The corrector reads p·m + (1 − p)·e in its place, and e is added to what comes out
    of the last block (§2.4). The paper's last layer is one matrix; here it is the pre-trained MLM head.
    """

    def __init__(self, model: BertForPreTraining, mask_id: int, detector: bool = True, share: float = 0.8):
        super().__init__()
        self.model, self.mask_id, self.share = model, mask_id, share
        config = model.config
        self.detector = Detector(config.hidden_size, config.initializer_range) if detector else None

    def forward(self, batch: Batch) -> CorrectorOutput:
        """batch.labels: the right token at each position, −100 at positions to ignore."""
        activations: dict[str, Tensor] = {}

        def mix(name: str, x: Tensor) -> Tensor:
            activations[name] = x
            if self.detector is None or name != "embeddings.out":
                return x
            embeddings = self.model.bert.embeddings
            others = activations["embeddings.sum"] - activations["embeddings.token"]  # (B, T, H): segment and position
            hidden = others + embeddings.token.weight[self.mask_id]
            mask = embeddings.dropout(embeddings.norm(hidden))  # (B, T, H): [MASK] at the same position
            activations["suspicion"] = self.detector(x, batch.padding)
            return soft_masked(x, mask, activations["suspicion"].sigmoid().to(x.dtype))

        x, _ = self.model.bert(batch, mix)  # (B, T, H)
        if self.detector is not None:
            x = x + activations["embeddings.out"]
        logits, suspicion = self.model.mlm(x), activations.get("suspicion")  # (B, T, V), (B, T)
        if batch.labels is None:
            return CorrectorOutput(logits, suspicion)
        mask, targets = targets_of(batch.labels)
        correction = cross_entropy(logits[mask], targets)
        if suspicion is None:
            return CorrectorOutput(logits, None, correction, correction)
        wrong = (targets != batch.ids[mask]).float()
        detection = mean_or_zero(F.binary_cross_entropy_with_logits, suspicion[mask], wrong)
        loss = self.share * correction + (1 - self.share) * detection  # λ = 0.8 (§3.3)
        return CorrectorOutput(logits, suspicion, loss, correction, detection)

    def save(self, folder: str | Path, tokenizer: Tokenizer) -> None:
        checkpoint.save(folder, self.model, tokenizer, dtype=torch.float16)
        if self.detector is not None:
            weights = {name: weight.half().contiguous() for name, weight in self.detector.state_dict().items()}
            with checkpoint.writing(Path(folder)) as ready:
                save_file(weights, ready / DETECTOR)

    @classmethod
    def load(cls, folder: str | Path) -> tuple[Corrector, Tokenizer]:
        """In eval mode. Raises CheckpointError."""
        model: Any = checkpoint.load(folder)
        tokenizer, path = checkpoint.load_tokenizer(folder), Path(folder) / DETECTOR
        made = cls(model, tokenizer.mask_id, detector=path.is_file())
        if made.detector is not None:
            made.detector.load_state_dict({name: weight.float() for name, weight in load_file(path).items()})
        return made.eval(), tokenizer
