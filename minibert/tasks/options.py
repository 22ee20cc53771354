"""The options that determine a fine-tuned model's input, head and predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from minibert.config import check_positive
from minibert.text.json_values import check_kinds, short
from minibert.text.truncation import TRUNCATIONS

METADATA_AS = ("embedding", "concatenated", "token")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What determines the input, the head and the predictions of a fine-tuned model: saved with it in config.json.

    max_length: tokens a row · truncation, budgets: see `truncation.keep` · texts_beside: columns read as further texts
    after the task's own, each closed by [SEP] · doc_stride: tokens from the start of one window to the next (tagging,
    spans) · max_question, max_answer: tokens · n_best: answers listed.
    pooling, layers: what the new layer reads, see finetune/layer_choice.py · dropout_samples: dropout masks averaged
    (Inoue 2019) · bilstm: between BERT and the new layer, as in the paper over frozen features (§5.3); randomly
    initialised · classifier_depth, classifier_activation, classifier_norm: of the new layers, if there are several ·
    loss, focal_gamma: see finetune/classifiers.py · loss_weights: of the classes, counted in training · metadata:
    columns read beside the text · metadata_as: "embedding" (a learned vector per value, added to what the new layer
    reads), "concatenated" (a short vector beside it) or "token" (`[COLUMN=VALUE]` in front) · metadata_values: those in
    the training data.
    pattern, words: of a cloze, see pattern.py · word_ids, mask_id: their ids in the vocabulary.
    null_threshold: predict "no answer" if its score exceeds the best span's by more · thresholds: one per label.
    """

    max_length: int = 128
    truncation: str = "longest_first"
    budgets: tuple[int, ...] | None = None
    texts_beside: tuple[str, ...] = ()
    doc_stride: int = 64
    max_question: int = 64
    max_answer: int = 30
    n_best: int = 5
    pooling: str = "cls"
    layers: str = "last"
    dropout_samples: int = 1
    bilstm: bool = False
    classifier_depth: int = 1
    classifier_activation: str = "tanh"
    classifier_norm: str = "none"
    loss: str = "cross_entropy"
    loss_weights: tuple[float, ...] = ()
    focal_gamma: float = 2.0
    metadata: tuple[str, ...] = ()
    metadata_as: str = "embedding"
    metadata_values: dict[str, list[str]] = field(default_factory=dict)
    pattern: str = ""
    words: dict[str, list[str]] = field(default_factory=dict)
    word_ids: dict[str, list[int]] = field(default_factory=dict)
    mask_id: int = 0
    null_threshold: float = 0.0
    thresholds: tuple[float, ...] | None = None

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Options:
        """Read a config.json; unknown keys are ignored. ValueError for a wrong type or missing metadata values."""
        kinds = get_type_hints(cls)
        known = {name: value for name, value in values.items() if name in kinds}
        check_kinds(known, kinds)
        fields: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in known.items()}
        options = cls(**fields)
        if missing := [column for column in options.metadata if column not in options.metadata_values]:
            raise ValueError(f"the values of the metadata column {short(missing[0])} are missing")
        return options

    def __post_init__(self) -> None:
        check_positive(self, "max_length", "doc_stride", "max_question", "max_answer", "n_best", "dropout_samples")
        if self.truncation not in TRUNCATIONS:
            raise ValueError(f"truncation is {self.truncation!r}; it can be {', '.join(TRUNCATIONS)}")
        if self.metadata_as not in METADATA_AS:
            raise ValueError(f"metadata_as is {self.metadata_as!r}; it can be {', '.join(METADATA_AS)}")
        if twice := set(self.metadata) & set(self.texts_beside):
            raise ValueError(f"the column {min(twice)!r} is read as a value or as a text, not as both")
