"""The same stories in batches of any size, with AdamW or LAMB (You et al. 2020, arXiv:1904.00962, §4): for the same
number of rows, large batches make fewer steps, and each must go further."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

from minibert.config import BertConfig
from minibert.model import BertForPreTraining
from minibert.objectives import MaskedLanguageModel, Masking, losses, measure
from minibert.text.batches import PretrainingBatches
from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.train import Event, Optimization, Preparing, TrainingState, optimizer_for
from minibert.training.lamb import trust_ratio, update
from minibert.training.precision import best_device
from minibert.training.train_and_evaluate import train_and_evaluate

BASE, LENGTH = 32, 32  # batch size for which the rates were searched; tokens per row
RATES = {"adamw": 4e-3, "lamb": 2e-2}  # the best at BASE of four each, a factor of 2 apart
WARMUP = 1 / 320  # share of the run, at BASE
OBJECTIVE = MaskedLanguageModel(second=None, masking=Masking(rate=0.25))
HELD_OUT, HELD_OUT_SEED = 256, 9_000_041  # rows for evaluation; seed of their stories


def scaled(rate: float, rows: int) -> float:
    """The paper's rule (§4.1, table 4): √2 times the rate for twice the rows."""
    return rate * math.sqrt(rows / BASE)


def warmup_of(rows: int) -> float:
    """The paper's other rule: as the batch doubles, so does the share of the run that is warm-up."""
    return min(0.5, WARMUP * rows / BASE)


@dataclass(frozen=True)
class BatchSettings:
    """optimizer: "adamw" or "lamb" · rows: per batch · rows_read: in the whole run, for all batch sizes · base_rate:
    the learning rate at BASE rows, RATES by default, scaled from there · rate: instead, the peak without scaling."""

    optimizer: str = "lamb"
    rows: int = 128
    rows_read: int = 65_536
    base_rate: float | None = None
    rate: float | None = None
    stories: int = 6_000
    measurements: int = 16
    hidden_size: int = 64
    layers: int = 2
    heads: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if self.optimizer not in RATES:
            raise ValueError(f"the optimizer must be one of {', '.join(RATES)}, not {self.optimizer!r}")
        if not 1 <= self.rows <= self.rows_read:
            raise ValueError(f"a batch has from 1 to all {self.rows_read} rows that are read, not {self.rows}")
        self.optimization  # noqa: B018, it raises ValueError for a rate that is none

    @property
    def steps(self) -> int:
        return self.rows_read // self.rows

    @property
    def evaluate_every(self) -> int:
        return max(1, self.steps // self.measurements)

    @property
    def optimization(self) -> Optimization:
        rate = self.rate or scaled(self.base_rate or RATES[self.optimizer], self.rows)
        return Optimization(rate, warmup=warmup_of(self.rows), beta2=0.98, optimizer=self.optimizer)

    def config(self, vocab_size: int) -> BertConfig:
        return BertConfig(
            vocab_size,
            self.hidden_size,
            self.layers,
            self.heads,
            4 * self.hidden_size,
            max_position_embeddings=LENGTH,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )


def rows_of(stories: int, tokenizer: Tokenizer, size: int, seed: int) -> PretrainingBatches:
    store = TokenStore.build(world.documents(stories, seed, "small"), tokenizer)
    return PretrainingBatches(
        store,
        tokenizer,
        batch_size=size,
        max_length=LENGTH,
        seed=seed,
        objective=OBJECTIVE,
        input_format="doc_sentences",
    )


def train_in_batches(settings: BatchSettings) -> Iterator[Event]:
    """Pre-train a BERT from random weights; yield events. Each `Eval` holds `loss` and `right` on masked words of
    stories never trained on, and in `details` the trust ratio ‖w‖/‖u‖ of every matrix."""
    yield Preparing("writing stories")
    tokenizer = Tokenizer(world.vocabulary())
    held_out = [next(iter(rows_of(120, tokenizer, HELD_OUT, HELD_OUT_SEED)))]
    batches = rows_of(settings.stories, tokenizer, settings.rows, settings.seed)
    torch.manual_seed(settings.seed)
    model = BertForPreTraining(settings.config(tokenizer.vocab_size)).to(best_device())
    state = TrainingState(optimizer_for(model, settings.optimization))

    def measured() -> tuple[dict[str, float], dict]:
        found = measure(OBJECTIVE, model, held_out)
        metrics = {"loss": found["mlm_loss"], "right": found["mlm_accuracy"]}
        return metrics, {"ratios": ratios(model, state.optimizer)}

    yield from train_and_evaluate(
        model,
        batches,
        settings,
        measured,
        report_every=settings.evaluate_every,
        state=state,
        losses_of=lambda output, part, whole: losses(OBJECTIVE, output, part, whole),
    )


@torch.no_grad()
def ratios(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, float]:
    """Matrix → ‖w‖/‖u‖ now; empty before the first step. AdamW does not use the ratio: it is only reported."""
    names = {weight: name for name, weight in model.named_parameters()}
    return {
        names[weight]: float(trust_ratio(weight, update(optimizer.state[weight], weight, group)))
        for group in optimizer.param_groups
        for weight in group["params"]
        if weight.dim() >= 2 and weight in optimizer.state
    }
