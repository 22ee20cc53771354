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
from minibert.objectives import MaskedLanguageModel, Masking, Objective, PredictionStats, stats_of
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
        asked = batch.labels != IGNORE
        return ReplacedOutput(logits, F.binary_cross_entropy_with_logits(logits[asked], batch.labels[asked].float()))


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
        asked = torch.ones_like(batch.ids, dtype=torch.bool) if batch.labels is None else batch.labels != IGNORE
        copied = self.copy(x[asked]).float().sigmoid()  # (M, 1)
        new = (1 - copied) * self.mlm(x[asked]).float().softmax(-1)  # (M, V)
        logits = new.scatter_add(1, batch.ids[asked].unsqueeze(-1), copied).clamp_min(1e-9).log()
        if batch.labels is None:
            return PreTrainingOutput(logits.unflatten(0, batch.ids.shape), self.nsp(pooled))
        return PreTrainingOutput(logits, self.nsp(pooled), F.nll_loss(logits, batch.labels[asked]))


# variant → (class of the second network, whether it predicts at every token)
VARIANTS = {
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

    def __init__(self, generator: nn.Module, main: nn.Module, variant: str = "electra", temperature: float = 1.0):
        super().__init__()
        self.generator, self.main, self.variant, self.temperature = generator, main, variant, temperature
        ours, theirs = generator.bert.embeddings, main.bert.embeddings
        ours.token, ours.position = theirs.token, theirs.position
        generator.mlm.decoder.weight = theirs.token.weight

    def forward(self, batch: Batch) -> PairOutput:
        guessed = self.generator(replace(batch, next_labels=None))
        # Training uses torch's global generator, restored on resuming; evaluation must not advance it.
        rng = None if self.training else torch.Generator(batch.ids.device).manual_seed(0)
        read = filled_in(batch, sample(guessed.mlm_logits, self.temperature, rng))
        asked = replace(read, labels=self.labels(batch, read))
        return PairOutput(guessed, asked, self.main(asked))

    def labels(self, batch: Batch, read: Batch) -> Tensor:
        """The second network's targets: 1 for a replaced token, 0 for an original one, also if it was sampled; or, for
        a masked LM, the original tokens. (B, T)"""
        hidden = batch.labels != IGNORE
        original = torch.where(hidden, batch.labels, batch.ids)
        kind, everywhere = VARIANTS[self.variant]
        labels = (read.ids != original).long() if kind is Discriminator else original
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

    def __post_init__(self):
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

    def model(self, config: BertConfig, components: Components) -> NetworkPair:
        main = VARIANTS[self.variant][0](config, components)
        return NetworkPair(Generator(config.generator(), components), main, self.variant)

    def networks_to_save(self, model: NetworkPair) -> dict[str, nn.Module]:
        return {"": model.main, "generator": model.generator}

    def corrupt(self, batch, special, joined, vocabulary, rng):
        m = self.masking
        ids, labels = mask_tokens(batch.ids, special, vocabulary, rng, m.rate, self.split, m.whole_words, joined)
        return replace(batch, ids=ids, labels=labels, next_labels=None)

    def target_counts(self, batch):
        return {"mlm": batch.num_targets, self.second: batch.tokens if VARIANTS[self.variant][1] else batch.num_targets}

    def prediction_stats(self, output, batch):
        guessed, answer, asked = output.generator, output.main, output.inputs.labels != IGNORE
        labels = output.inputs.labels[asked]
        if self.second == "rtd":
            second = PredictionStats(len(labels), answer.loss, ((answer.logits[asked] > 0) == labels.bool()).sum())
        else:
            second = stats_of(answer.mlm_logits, labels, answer.mlm_loss)
        hidden = batch.labels[batch.labels != IGNORE]
        return {"mlm": stats_of(guessed.mlm_logits, hidden, guessed.mlm_loss), self.second: second}

    def weight(self, kind):
        return self.discriminator_weight if kind == "rtd" else 1.0
