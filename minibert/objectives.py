"""Pre-training objectives: the rows of a batch, what is hidden in them, the losses and the metrics.

Batches, pre-training, evaluation, the experiments and the live page share one `Objective`. A relative of BERT with
another objective defines its own (see `relatives`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from minibert.corruption import MaskVocabulary, mask_tokens
from minibert.model import IGNORE, Batch, BertForPreTraining, PreTrainingOutput
from minibert.relatives.parts.masked_lm import MaskedLm
from minibert.text.segment_pairs import PairMaker, ordered_pairs, segment_pairs, single_sentence_pairs

if TYPE_CHECKING:
    from minibert.text.store import TokenStore
    from minibert.tokenizer import Tokenizer


@dataclass(frozen=True)
class Masking:
    """How tokens are masked; the paper's values by default. static: masks drawn once for all epochs, as in the paper's
    code; otherwise anew each time (Liu et al. 2019, §4.1)."""

    rate: float = 0.15
    split: tuple[float, float, float] = (0.8, 0.1, 0.1)
    whole_words: bool = False
    static: bool = False


def targets_of(labels: Tensor | None) -> tuple[Tensor, Tensor]:
    """(where there is a label, in the shape of `labels`; these labels in reading order, (M,))."""
    if labels is None:
        raise ValueError("the batch has no labels")
    return (mask := labels != IGNORE), labels[mask]


def mean_or_zero(loss: Callable[..., Tensor], logits: Tensor, targets: Tensor) -> Tensor:
    """The mean loss; 0 without any target, where a mean would be NaN. logits: (M, …), targets: (M,)."""
    return loss(logits.float(), targets, reduction="mean" if len(targets) else "sum")


@dataclass(frozen=True)
class PredictionStats:
    """The predictions of one kind in a batch: their number, mean loss in nats, and how many are correct."""

    count: int
    loss: Tensor
    correct: Tensor


class Objective(ABC):
    """What a model is pre-trained on.

    model: (config, components) → the network to train, with random weights · single_format: input format used instead
    of one with pairs if `pairs` is empty.
    """

    model: ClassVar[Callable[..., nn.Module]] = BertForPreTraining
    single_format: ClassVar[str] = "full_sentences"

    @property
    @abstractmethod
    def name(self) -> str:
        """As in config.json."""

    @property
    @abstractmethod
    def counts(self) -> Mapping[str, str]:
        """Kind of prediction → name of their number among the metrics."""

    @property
    @abstractmethod
    def pairs(self) -> Mapping[str, PairMaker]:
        """Input format → function that makes pairs of segments from documents; other formats have one segment a row."""

    @property
    def static(self) -> bool:
        """Whether targets are the same in every epoch."""
        return False

    @property
    def uses_other_documents(self) -> bool:
        """Whether a second segment may come from another document."""
        return True

    def vocabulary(self, store: TokenStore, tokenizer: Tokenizer) -> MaskVocabulary:
        """What masking needs to know of the vocabulary and the text."""
        return MaskVocabulary.of(tokenizer)

    def after(self, batches: int) -> Objective:
        """The objective from this number of batches on."""
        return self

    def networks_to_save(self, model: nn.Module) -> dict[str, nn.Module]:
        """The networks of a trained `model`: folder in the run's directory → network; "" is the main one."""
        return {"": model}

    @abstractmethod
    def corrupt(
        self, batch: Batch, special: Tensor, joined: Tensor, vocabulary: MaskVocabulary, rng: torch.Generator
    ) -> Batch:
        """The batch with corrupted inputs, and labels. special, joined: (B, T) bool, see `mask_tokens`."""

    @abstractmethod
    def target_counts(self, batch: Batch) -> dict[str, int]:
        """Kind of prediction → number of its targets in the batch; kinds without labels are left out."""

    @abstractmethod
    def prediction_stats(self, output: PreTrainingOutput, batch: Batch) -> dict[str, PredictionStats]:
        """The same kinds → their losses and how many are correct."""

    def loss_weight(self, kind: str) -> float:
        """Weight of a kind's loss in the sum."""
        return 1.0

    def at_blanks(self, batch: Batch) -> Batch:
        """A batch with a label at each [MASK] → one for which the model's logits predict these positions."""
        return batch


def losses(objective: Objective, output: PreTrainingOutput, part: Batch, whole: Batch) -> dict[str, Tensor]:
    """The total "loss", and each kind's loss and accuracy, weighted by the share of `whole`'s targets that are in
    `part`: over the parts of a batch they add up to those of the whole (Devlin et al. 2019, §A.2: a plain sum)."""
    counts = objective.target_counts(whole)
    terms: dict[str, Tensor] = {"loss": torch.zeros((), device=part.ids.device)}
    for kind, stats in objective.prediction_stats(output, part).items():
        share = 1.0 if part is whole else stats.count / max(counts[kind], 1)
        terms["loss"] = terms["loss"] + objective.loss_weight(kind) * stats.loss * share
        terms[f"{kind}_loss"] = stats.loss * share
        terms[f"{kind}_accuracy"] = stats.correct / max(stats.count, 1) * share
    return terms


@torch.no_grad()
def measure(objective: Objective, model: nn.Module, batches: Iterable[Batch]) -> dict[str, float]:
    """Each kind's mean loss, accuracy and number over all the batches; the model's mode (train or eval) is restored.

    Raises ValueError if there are no targets, of one kind or at all.
    """
    device = next(model.parameters()).device
    training = model.training
    model.eval()
    sums: dict[str, list[float]] = {}
    for batch in batches:
        batch = batch.to(device)
        output = model(batch)
        for kind, stats in objective.prediction_stats(output, batch).items():
            total = sums.setdefault(kind, [0.0, 0, 0])
            total[0] += stats.loss.item() * stats.count
            total[1] += int(stats.correct)
            total[2] += stats.count
    model.train(training)
    if not sums or not all(count for _, _, count in sums.values()):
        raise ValueError("there is nothing to evaluate on")
    metrics: dict[str, float] = {}
    for kind, (loss, correct, count) in sums.items():
        metrics |= {f"{kind}_loss": loss / count, f"{kind}_accuracy": correct / count, objective.counts[kind]: count}
    return metrics


def stats_of(logits: Tensor, targets: Tensor, loss: Tensor | None) -> PredictionStats:
    """logits: (N, classes), targets: (N,), perhaps on another device · loss: their mean cross-entropy."""
    if loss is None:
        raise ValueError("the network got no labels, so there is no loss")
    return PredictionStats(len(targets), loss, (logits.argmax(-1) == targets.to(logits.device)).sum())


def binary_stats(logits: Tensor, targets: Tensor, loss: Tensor) -> PredictionStats:
    """logits: (N,), above 0 for 1 · targets: (N,) of 0 and 1."""
    return PredictionStats(len(targets), loss, ((logits > 0) == targets.to(logits.device).bool()).sum())


@dataclass(frozen=True)
class MaskedLanguageModel(Objective):
    """BERT's: masked tokens, and a prediction about two segments (Devlin et al. 2019, §3.1).

    second: "nsp", does segment B follow A, or is it from elsewhere? "sop", do the two stand in their order, or swapped
    (Lan et al. 2020, §3.1)? None: the same pairs, without a prediction · second_weight: of its loss; the
    paper's 1 comes from 256 pairs a batch.
    """

    masking: Masking = field(default_factory=Masking)
    second: str | None = "nsp"
    second_weight: float = 1.0

    counts: ClassVar = {"mlm": "masked_tokens", "nsp": "pairs", "sop": "pairs"}

    def __post_init__(self) -> None:
        if self.second not in ("nsp", "sop", None):
            raise ValueError(f'what is asked of a pair is "nsp", "sop" or None, not {self.second!r}')
        if self.second_weight < 0:
            raise ValueError(f"the weight of a loss must not be negative, but is {self.second_weight}")

    @property
    def name(self) -> str:
        return "mlm" if self.second is None else f"mlm+{self.second}"

    @property
    def static(self) -> bool:
        return self.masking.static

    @property
    def uses_other_documents(self) -> bool:
        return self.second != "sop"

    @property
    def pairs(self) -> Mapping[str, PairMaker]:
        if self.second == "sop":
            return {"segment_pair": ordered_pairs}
        return {"segment_pair": segment_pairs, "sentence_pair": single_sentence_pairs}

    def hide(
        self, ids: Tensor, special: Tensor, joined: Tensor, vocabulary: MaskVocabulary, rng: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """→ (ids, labels), both (B, T)"""
        m = self.masking
        return mask_tokens(ids, special, vocabulary, rng, m.rate, m.split, m.whole_words, joined)

    def corrupt(self, batch, special, joined, vocabulary, rng) -> Batch:
        ids, labels = self.hide(batch.ids, special, joined, vocabulary, rng)
        return replace(batch, ids=ids, labels=labels, next_labels=batch.next_labels if self.second else None)

    def target_counts(self, batch) -> dict[str, int]:
        pairs = {self.second: len(batch.next_labels)} if self.second and batch.next_labels is not None else {}
        return {"mlm": batch.num_targets, **pairs}

    def prediction_stats(self, output, batch) -> dict[str, PredictionStats]:
        stats = {"mlm": stats_of(output.mlm_logits, targets_of(batch.labels)[1], output.mlm_loss)}
        if self.second and batch.next_labels is not None:
            stats[self.second] = stats_of(output.nsp_logits, batch.next_labels, output.nsp_loss)
        return stats

    def loss_weight(self, kind: str) -> float:
        return 1.0 if kind == "mlm" else self.second_weight


@dataclass(frozen=True)
class WithoutPairs(MaskedLanguageModel):
    """Masked tokens, drawn anew in every epoch, in rows of one segment, without pairs (Liu et al. 2019, §4.1, §4.2)."""

    second: str | None = None

    model: ClassVar = MaskedLm
    pairs: ClassVar = {}
    static: ClassVar = False
    uses_other_documents: ClassVar = False


def next_tokens(ids: Tensor, padding: Tensor | None = None) -> Tensor:
    """Labels for next-token prediction; −100 at the end of a row. ids: (B, T), padding: (B, T) bool, True
    for real tokens, or None → labels (B, T)."""
    labels = torch.full_like(ids, IGNORE)
    labels[:, :-1] = ids[:, 1:]
    if padding is not None:
        labels[:, :-1][~padding[:, 1:]] = IGNORE
    return labels


@dataclass(frozen=True)
class NextToken(Objective):
    """The token that follows, at every position: the left-to-right model of Devlin et al. 2019, §5.1."""

    name: ClassVar = "next-token"
    counts: ClassVar = {"next_token": "tokens"}
    pairs: ClassVar = MaskedLanguageModel().pairs  # the same rows as BERT's, without a prediction about the pair

    def corrupt(self, batch, special, joined, vocabulary, rng) -> Batch:
        return replace(batch, labels=next_tokens(batch.ids, batch.padding), next_labels=None)

    def target_counts(self, batch) -> dict[str, int]:
        return {"next_token": batch.num_targets}

    def prediction_stats(self, output, batch) -> dict[str, PredictionStats]:
        return {"next_token": stats_of(output.mlm_logits, targets_of(batch.labels)[1], output.mlm_loss)}

    def at_blanks(self, batch) -> Batch:
        """A left-to-right model predicts a [MASK] at the position before it."""
        labels = torch.full_like(batch.labels, IGNORE)
        labels[:, :-1] = batch.labels[:, 1:]
        return replace(batch, labels=labels)
