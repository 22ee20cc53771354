"""The settings of a fine-tuning run."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from minibert.config import check_positive
from minibert.finetune.augmentation import Augmentation
from minibert.finetune.distillation import Distillation
from minibert.finetune.prompt import PROMPTS
from minibert.tasks import Options
from minibert.train import Optimization


@dataclass(frozen=True, kw_only=True)
class FinetuneSettings(Options):
    """By default the paper's values for SQuAD (§4.2: 3 epochs, batches of 32, learning rate 5e-5), with its dropout of
    0.1; for all tasks the paper searches 2 to 4 epochs, batches of 16 or 32 and 2e-5 to 5e-5 (§A.3). Small models want
    a larger rate (Turc et al. 2019 search up to 3e-4).

    freeze: "none", "embeddings", a number n (embeddings and the first n blocks), or "all" (BERT as a feature extractor,
    §5.3; its dropout is off) · layer_decay: learning rate of a block divided by that of the block above (Howard and
    Ruder 2018) · bias_correction: False is Adam as in the original BERT code (Mosbach et al. 2021, Zhang et al. 2021) ·
    mlm_weight: of a masked-LM loss on the same texts · auxiliary: columns whose values are predicted in addition to the
    task, with the loss weight auxiliary_weight · averaging: predict, evaluate and save with the running mean of the
    weights with this share (1: all steps equally, less: later ones count more; see averaging.py); 0: the current
    weights · patience: end after so many epochs without a better score on the dev sample, and keep the best epoch's
    weights (0: train to the end, keep the last) · set_aside: share of the training set kept for tuning thresholds, if
    the task needs them; if the set is too small, thresholds stay 0.5 · dev_sample: most dev examples evaluated during
    training · group_by_length: batches of rows of similar length, with less padding · distillation: how to learn from a
    teacher, if there is one · prompt:
    train the [unused…] of a pattern as vectors, "direct" or through an "lstm" (with freeze "all", nothing else) ·
    vat_weight: of the smoothness loss on texts without labels, which are perturbed by vat_epsilon · beside_size: such
    texts per batch.
    """

    epochs: int = 3
    batch_size: int = 32
    dropout: float = 0.1
    optimization: Optimization = field(default_factory=lambda: Optimization(learning_rate=5e-5))
    seed: int = 0
    from_scratch: bool = False  # the checkpoint's sizes and vocabulary, but random weights
    evaluations_per_epoch: int = 2
    dev_sample: int = 1000
    max_seconds: float | None = None
    freeze: int | str = "none"
    layer_decay: float = 1.0
    bias_correction: bool = True
    mlm_weight: float = 0.0
    auxiliary: tuple[str, ...] = ()
    auxiliary_weight: float = 0.5
    averaging: float = 0.0
    patience: int = 0
    augmentation: Augmentation | None = None
    set_aside: float = 0.1
    group_by_length: bool = False
    distillation: Distillation | None = None
    prompt: str = "none"
    vat_weight: float = 0.0
    vat_epsilon: float = 1.0
    beside_size: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.focal_gamma <= 10:
            raise ValueError(f"the focal loss has an exponent from 0 to 10, not {self.focal_gamma}")
        check_positive(self, "epochs", "batch_size", "evaluations_per_epoch", "dev_sample", "beside_size")
        if self.freeze not in ("none", "embeddings", "all") and not (isinstance(self.freeze, int) and self.freeze >= 0):
            raise ValueError(f"freeze is {self.freeze!r}; it can be none, embeddings, all or a number of blocks")
        if self.optimization.optimizer != "adamw" and not self.bias_correction:
            name = {"muon": "Muon", "lamb": "LAMB"}[self.optimization.optimizer]
            raise ValueError(f"Adam without bias correction is for all weights: {name} does not go with it")
        if not 0 < self.layer_decay <= 1:
            raise ValueError(f"the layer decay is a factor above 0 and at most 1, not {self.layer_decay}")
        if self.prompt not in PROMPTS:
            raise ValueError(f"a prompt is one of {', '.join(PROMPTS)}, not {self.prompt!r}")
        if not (self.vat_weight >= 0 and self.vat_epsilon > 0):
            raise ValueError(
                f"smoothness has a weight from 0 and a push above 0, not {self.vat_weight} and {self.vat_epsilon}"
            )
        if self.mlm_weight < 0:
            raise ValueError(f"the weight of the MLM loss cannot be negative: {self.mlm_weight}")
        if self.auxiliary_weight < 0:
            raise ValueError(f"the weight of the auxiliary losses cannot be negative: {self.auxiliary_weight}")
        if known := set(self.auxiliary) & {*self.metadata, *self.texts_beside}:
            raise ValueError(f"the column {min(known)!r} is read, so there is nothing to learn about it")
        if self.patience < 0:
            raise ValueError(f"patience is a number of epochs, 0 for none, not {self.patience}")
        if not 0 <= self.averaging <= 1:
            raise ValueError(f"averaging is over a share of the steps between 0 and 1, not {self.averaging}")

    def options(self, **changes) -> Options:
        """The part of the settings that is saved with the model."""
        return Options(**{**{f.name: getattr(self, f.name) for f in fields(Options)}, **changes})
