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
import torch.nn.functional as F
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
    """How tokens are hidden; the paper's values by default. static: masks drawn once and repeated in every epoch, as
    in the paper's code; otherwise drawn anew each time (Liu et al. 2019, §4.1)."""

    rate: float = 0.15
    split: tuple[float, float, float] = (0.8, 0.1, 0.1)
    whole_words: bool = False
    static: bool = False


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean over the labels other than −100; 0 if there are none. logits: (N, classes), labels: (N,)."""
    return F.cross_entropy(logits, labels, ignore_index=IGNORE, reduction="sum") / (labels != IGNORE).sum().clamp(min=1)


@dataclass(frozen=True)
class Questions:
    """The predictions of one kind in a batch: how many, their mean loss in nats, and how many are right."""

    count: int
    loss: Tensor
    right: Tensor


class Objective(ABC):
    """What a model is pre-trained on.

    name: as in config.json · counts: kind of prediction → name of their number among the metrics · static: the same
    targets in every epoch · pairs: input format → function that makes pairs of segments from documents; in other
    formats rows have one segment · model: (config, components) → the network to train, with random weights.
    """

    name: str
    counts: ClassVar[Mapping[str, str]]
    model: ClassVar[Callable[..., nn.Module]] = BertForPreTraining
    static: bool = False
    reads_elsewhere: bool = True  # whether a second segment may come from another document
    pairs: Mapping[str, PairMaker]
    packed: str = "full_sentences"  # used instead of a format of pairs if `pairs` is empty

    def vocabulary(self, store: TokenStore, tokenizer: Tokenizer) -> MaskVocabulary:
        """What masking needs to know of the vocabulary and the text."""
        return MaskVocabulary.of(tokenizer)

    def after(self, batches: int) -> Objective:
        """The objective to use after so many batches."""
        return self

    def kept(self, model: nn.Module) -> dict[str, nn.Module]:
        """The networks of a trained `model`: folder in the run's directory → network; "" is the main one."""
        return {"": model}

    @abstractmethod
    def corrupt(
        self, batch: Batch, special: Tensor, joined: Tensor, vocabulary: MaskVocabulary, rng: torch.Generator
    ) -> Batch:
        """The batch with inputs hidden and labels set. special, joined: (B, T) bool, see `mask_tokens`."""

    @abstractmethod
    def number_asked(self, batch: Batch) -> dict[str, int]:
        """Kind of prediction → number of its targets in the batch, without kinds that have no labels there."""

    @abstractmethod
    def questions(self, output: PreTrainingOutput, batch: Batch) -> dict[str, Questions]:
        """The same kinds → their losses and how many are right."""

    def weight(self, kind: str) -> float:
        """Weight of a kind's loss in the sum."""
        return 1.0

    def at_blanks(self, batch: Batch) -> Batch:
        """A batch with a label at each [MASK] → one for which the model's logits predict these positions."""
        return batch


def losses(objective: Objective, output: PreTrainingOutput, part: Batch, whole: Batch) -> dict[str, Tensor]:
    """The total "loss", and each kind's loss and accuracy, weighted by the share of `whole`'s targets that are in
    `part`: over the parts of a batch they add up to those of the whole (Devlin et al. 2019, §A.2: a plain sum)."""
    asked = objective.number_asked(whole)
    terms: dict[str, Tensor] = {"loss": torch.zeros((), device=part.ids.device)}
    for kind, questions in objective.questions(output, part).items():
        share = 1.0 if part is whole else questions.count / max(asked[kind], 1)
        terms["loss"] = terms["loss"] + objective.weight(kind) * questions.loss * share
        terms[f"{kind}_loss"] = questions.loss * share
        terms[f"{kind}_accuracy"] = questions.right / max(questions.count, 1) * share
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
        for kind, asked in objective.questions(output, batch).items():
            total = sums.setdefault(kind, [0.0, 0, 0])
            total[0] += asked.loss.item() * asked.count
            total[1] += int(asked.right)
            total[2] += asked.count
    model.train(training)
    if not sums or not all(count for _, _, count in sums.values()):
        raise ValueError("there is nothing to evaluate on")
    return {
        name: value
        for kind, (loss, right, count) in sums.items()
        for name, value in (
            (f"{kind}_loss", loss / count),
            (f"{kind}_accuracy", right / count),
            (objective.counts[kind], count),
        )
    }


def answered(logits: Tensor, answers: Tensor, loss: Tensor) -> Questions:
    """logits: (N, classes), answers: (N,), perhaps on another device · loss: their mean cross-entropy."""
    return Questions(len(answers), loss, (logits.argmax(-1) == answers.to(logits.device)).sum())


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

    def __post_init__(self):
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
    def reads_elsewhere(self) -> bool:
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

    def corrupt(self, batch, special, joined, vocabulary, rng):
        ids, labels = self.hide(batch.ids, special, joined, vocabulary, rng)
        return replace(batch, ids=ids, labels=labels, next_labels=batch.next_labels if self.second else None)

    def number_asked(self, batch):
        pairs = {} if batch.next_labels is None else {self.second: len(batch.next_labels)}
        return {"mlm": batch.asked, **pairs}

    def questions(self, output, batch):
        found = {"mlm": answered(output.mlm_logits, batch.labels[batch.labels != IGNORE], output.mlm_loss)}
        if batch.next_labels is not None:
            found[self.second] = answered(output.nsp_logits, batch.next_labels, output.nsp_loss)
        return found

    def weight(self, kind):
        return 1.0 if kind == "mlm" else self.second_weight


@dataclass(frozen=True)
class WithoutPairs(MaskedLanguageModel):
    """Masked tokens, drawn anew in every epoch, in rows of one segment, without a prediction about pairs (Liu et al.
    2019, §4.1 and §4.2)."""

    second: str | None = None

    model: ClassVar = MaskedLm
    pairs: ClassVar = {}
    static: ClassVar = False
    reads_elsewhere: ClassVar = False


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

    def corrupt(self, batch, special, joined, vocabulary, rng):
        return replace(batch, labels=next_tokens(batch.ids, batch.padding), next_labels=None)

    def number_asked(self, batch):
        return {"next_token": batch.asked}

    def questions(self, output, batch):
        return {"next_token": answered(output.mlm_logits, batch.labels[batch.labels != IGNORE], output.mlm_loss)}

    def at_blanks(self, batch):
        """A left-to-right model predicts a [MASK] at the position before it."""
        labels = torch.full_like(batch.labels, IGNORE)
        labels[:, :-1] = batch.labels[:, 1:]
        return replace(batch, labels=labels)
