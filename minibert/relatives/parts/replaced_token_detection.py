"""Replaced tokens (Clark et al. 2020, arXiv:2003.10555, §2): a small generator fills masked positions with samples, and
a second network reads the result. Its task is ELECTRA's or that of one of the paper's ablations (§3.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.corruption import mask_tokens
from minibert.model import ACTIVATIONS, IGNORE, Batch, Bert, Components, PreTrainingOutput, Tap, initialize, no_tap
from minibert.objectives import (
    MaskedLanguageModel,
    Masking,
    Objective,
    PredictionStats,
    binary_stats,
    mean_or_zero,
    stats_of,
    targets_of,
)
from minibert.relatives.parts.masked_lm import MaskedLm


@dataclass(frozen=True)
class ReplacedOutput:
    """logits: (B, T), above 0 for a token predicted to be replaced · loss: None without labels."""

    logits: Tensor
    loss: Tensor | None = None


@dataclass(frozen=True)
class PairOutput:
    """generator: the generator's output · inputs: the second network's input, with its labels · main: the second
    network's output."""

    generator: PreTrainingOutput
    inputs: Batch
    main: ReplacedOutput | PreTrainingOutput


class Discriminator(nn.Module):
    """Was this token replaced? dense → GELU → one logit per token (§2)."""

    objective_name = "rtd"

    def __init__(self, config: BertConfig, components: Components):
        super().__init__()
        self.config, self.bert = config, Bert(config, components)
        width = config.hidden_size
        self.rtd = nn.ModuleDict({"dense": nn.Linear(width, width), "decoder": nn.Linear(width, 1)})
        initialize(self.rtd, config.initializer_range)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> ReplacedOutput:
        x, _ = self.bert(batch, tap)  # (B, T, H)
        hidden = ACTIVATIONS[self.config.hidden_act](self.rtd["dense"](x))  # (B, T, H)
        logits = tap("rtd.logits", self.rtd["decoder"](hidden).squeeze(-1))  # (B, T)
        if batch.labels is None:
            return ReplacedOutput(logits)
        mask, targets = targets_of(batch.labels)
        return ReplacedOutput(logits, mean_or_zero(F.binary_cross_entropy_with_logits, logits[mask], targets.float()))


class Generator(MaskedLm):
    """ELECTRA's small network (§2), and the large one of an ablation."""


class CopyingGenerator(Generator):
    """A masked LM that predicts every token: D · (the token it read) + (1 − D) · softmax, with D = σ(w·x) at each
    place (§3.4). Logits are the logarithms of this mixture."""

    objective_name = "all_tokens_mlm"

    def __init__(self, config: BertConfig, components: Components):
        super().__init__(config, components)
        self.copy = nn.Linear(config.hidden_size, 1)
        initialize(self.copy, config.initializer_range)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> PreTrainingOutput:
        x, pooled = self.bert(batch, tap)  # (B, T, H)
        mask, targets = targets_of(batch.ids if batch.labels is None else batch.labels)  # (B, T), (M,)
        copied = self.copy(x[mask]).float().sigmoid()  # (M, 1)
        new = (1 - copied) * self.mlm(x[mask]).float().softmax(-1)  # (M, V)
        logits = new.scatter_add(1, batch.ids[mask].unsqueeze(-1), copied).clamp_min(1e-9).log()
        if batch.labels is None:
            return PreTrainingOutput(logits.unflatten(0, batch.ids.shape), self.nsp(pooled))
        return PreTrainingOutput(logits, self.nsp(pooled), mean_or_zero(F.nll_loss, logits, targets))


# variant → (class of the second network, whether it predicts at every token)
VARIANTS: dict[str, tuple[type[Discriminator] | type[Generator], bool]] = {
    "electra": (Discriminator, True),
    "electra_15": (Discriminator, False),
    "replace_mlm": (Generator, False),
    "all_tokens_mlm": (CopyingGenerator, True),
}


@torch.no_grad()
def sample(logits: Tensor, temperature: float = 1.0, rng: torch.Generator | None = None) -> Tensor:
    """A token from each row of softmax(logits / temperature); at 0 the likeliest. logits: (N, V) → (N,)"""
    if temperature == 0 or not len(logits):
        return logits.argmax(-1)
    return torch.multinomial((logits.float() / temperature).softmax(-1), 1, generator=rng).squeeze(-1)


def filled_in(batch: Batch, tokens: Tensor) -> Batch:
    """The batch with `tokens` at its labelled positions, in reading order, and without labels."""
    ids = batch.ids.clone()
    ids[batch.labels != IGNORE] = tokens
    return replace(batch, ids=ids, labels=None, next_labels=None)


class NetworkPair(nn.Module):
    """Both networks during training. They share the token and position embeddings (§3.2); sampling passes no gradient
    from the second network on to the generator's logits (§2)."""

    def __init__(
        self, generator: Generator, main: Discriminator | Generator, variant: str = "electra", temperature: float = 1.0
    ):
        super().__init__()
        self.generator, self.main, self.variant, self.temperature = generator, main, variant, temperature
        ours, theirs = generator.bert.embeddings, main.bert.embeddings
        ours.token, ours.position = theirs.token, theirs.position
        generator.mlm.decoder.weight = theirs.token.weight

    def forward(self, batch: Batch) -> PairOutput:
        generated = self.generator(replace(batch, next_labels=None))
        # Training uses torch's global generator, restored on resuming; evaluation must not advance it.
        rng = None if self.training else torch.Generator(batch.ids.device).manual_seed(0)
        filled = filled_in(batch, sample(generated.mlm_logits, self.temperature, rng))
        inputs = replace(filled, labels=self.labels(batch, filled.ids))
        return PairOutput(generated, inputs, self.main(inputs))

    def labels(self, batch: Batch, filled: Tensor) -> Tensor:
        """The second network's targets: 1 for a replaced token, 0 for an original one, also if it was sampled; or, for
        a masked LM, the original tokens. filled: (B, T) ids → (B, T)"""
        hidden, targets = targets_of(batch.labels)
        original = batch.ids.masked_scatter(hidden, targets)
        kind, everywhere = VARIANTS[self.variant]
        labels = (filled != original).long() if kind is Discriminator else original
        if everywhere:
            return labels if batch.padding is None else labels.masked_fill(~batch.padding, IGNORE)
        return labels.masked_fill(~hidden, IGNORE)


@dataclass(frozen=True)
class ReplacedTokens(Objective):
    """loss = masked LM of the generator + 50 · the discriminator's binary cross-entropy (§2 and table 6).

    variant: "electra", or of the ablations "electra_15", only at masked positions, "replace_mlm", a masked LM that
    reads samples instead of [MASK], "all_tokens_mlm", one that predicts every token and may copy it · split: every
    hidden token becomes [MASK], as the paper says (§2); its authors' code leaves 15 % of them as they are ·
    second_weight: unused, nothing is predicted about pairs.
    """

    masking: Masking = field(default_factory=Masking)
    second_weight: float = 1.0
    variant: str = "electra"
    discriminator_weight: float = 50.0
    split: tuple[float, float, float] = (1.0, 0.0, 0.0)

    pairs: ClassVar = MaskedLanguageModel().pairs  # the same rows as BERT's

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise ValueError(f"the variant must be one of {', '.join(VARIANTS)}, not {self.variant!r}")

    @property
    def name(self) -> str:
        return VARIANTS[self.variant][0].objective_name

    @property
    def second(self) -> str:
        """Name of the second network's kind of prediction."""
        return "rtd" if VARIANTS[self.variant][0] is Discriminator else "token"

    @property
    def counts(self) -> Mapping[str, str]:
        return {"mlm": "masked_tokens", self.second: "tokens"}

    @property
    def static(self) -> bool:
        return self.masking.static

    def model(self, config, components: Components) -> NetworkPair:  # type: ignore[override]  # depends on the variant
        main = VARIANTS[self.variant][0](config, components)
        return NetworkPair(Generator(config.generator(), components), main, self.variant)

    def networks_to_save(self, model) -> dict[str, nn.Module]:
        return {"": model.main, "generator": model.generator}

    def corrupt(self, batch, special, joined, vocabulary, rng) -> Batch:
        m = self.masking
        ids, labels = mask_tokens(batch.ids, special, vocabulary, rng, m.rate, self.split, m.whole_words, joined)
        return replace(batch, ids=ids, labels=labels, next_labels=None)

    def target_counts(self, batch) -> dict[str, int]:
        return {"mlm": batch.num_targets, self.second: batch.tokens if VARIANTS[self.variant][1] else batch.num_targets}

    def prediction_stats(self, output, batch) -> dict[str, PredictionStats]:
        main, (mask, targets) = output.main, targets_of(output.inputs.labels)
        if self.second == "rtd":
            second = binary_stats(main.logits[mask], targets, main.loss)
        else:
            second = stats_of(main.mlm_logits, targets, main.mlm_loss)
        generated = output.generator
        mlm = stats_of(generated.mlm_logits, targets_of(batch.labels)[1], generated.mlm_loss)
        return {"mlm": mlm, self.second: second}

    def loss_weight(self, kind: str) -> float:
        return self.discriminator_weight if kind == "rtd" else 1.0
