"""A task's model: its input rows, head, predictions and metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from minibert.tasks.data import TaskData
from minibert.tasks.features import Features, padded, target_tensor
from minibert.tasks.input_rows import InputRow
from minibert.tasks.metadata import check_texts
from minibert.tasks.options import Options

if TYPE_CHECKING:
    from torch import nn

    from minibert.config import BertConfig
    from minibert.heads import TaskBatch
    from minibert.tokenizer import Tokenizer


class TaskModel(ABC):
    """Examples → the model's input; its output → predictions, and what they score.

    architecture: class name of the head in heads.py · problem: the head's problem_type in transformers · pooled: the
    new layer reads one vector of the whole input · two_texts: a row holds two texts that share its tokens ·
    reads_texts: rows may hold further texts, from other columns · too_long: what happens to long inputs: "truncation"
    (as the options say), "windows" (nothing is dropped), or "own" (a rule of the task) · tune_on: the data that `tune`
    uses: "split" (a part of the training set), "dev", or None · losses: alternatives to cross-entropy, see
    finetune/classifiers.py · by_pattern: a cloze task; the user must give a pattern · metric: key of the headline
    metric in `score` · closed: a label that occurs only in the dev set is an error · bulky: fields of the predictions
    that a run's events leave out.
    """

    name: ClassVar[str]
    architecture: ClassVar[str]
    problem: ClassVar[str] = ""
    pooled: ClassVar[bool] = False
    two_texts: ClassVar[bool] = False
    reads_texts: ClassVar[bool] = False
    too_long: ClassVar[str] = "truncation"
    tune_on: ClassVar[str | None] = None
    losses: ClassVar[tuple[str, ...]] = ()
    by_pattern: ClassVar[bool] = False
    metric: ClassVar[str]
    closed: ClassVar[bool] = False
    bulky: ClassVar[tuple[str, ...]] = ()

    # examples → input

    def check_reading(self, options: Options, *data: TaskData) -> None:
        """Raise ValueError for options that the task does not support: a loss not in `losses`, or further texts where
        it reads none or the data have no such column."""
        if options.loss != "cross_entropy" and options.loss not in self.losses:
            why = (
                f"it can by {', '.join(('cross_entropy', *self.losses))}" if self.losses else "it can by its own alone"
            )
            raise ValueError(f"the task {self.name} does not learn by the loss {options.loss!r}; {why}")
        if options.texts_beside and not self.reads_texts:
            raise ValueError(f"the task {self.name} reads no further texts: its rows have a form of their own")
        for one in data:
            check_texts(one, options.texts_beside)

    def labels(self, data: TaskData) -> Any:
        """Names of the head's outputs: a list, or a dict of lists for two outputs."""
        return data.labels

    def more_tokens(self, tokenizer: Tokenizer, options: Options) -> list[str]:
        """Special tokens that the options need and the vocabulary lacks."""
        return []

    def fitted(self, options: Options, tokenizer: Tokenizer, labels: Any) -> Options:
        """The options completed with ids from the vocabulary. Raises ValueError where the two do not fit together."""
        return options

    def loss_weights(self, data: TaskData, labels: Any) -> tuple[float, ...]:
        """The weight of each label for the loss "class_weights"."""
        raise NotImplementedError

    @abstractmethod
    def features(self, tokenizer: Tokenizer, examples: Sequence, labels: Any, options: Options) -> list[Features]:
        """The model's input rows; an example may make several."""

    @abstractmethod
    def rows(self, tokenizer: Tokenizer, example: Any, labels: Any, options: Options) -> list[InputRow]:
        """The rows of `features` for display."""

    def input_rows(self, tokenizer: Tokenizer, example: Any, labels: Any, options: Options) -> list[InputRow]:
        """The input rows of an example for display; several for windows and choices, padded to the longest."""
        rows = self.rows(tokenizer, example, labels, options)
        longest = max(row.length for row in rows)
        return [replace(row, padding=longest - row.length) for row in rows]

    def batch(self, features: Sequence[Features], pad_id: int) -> TaskBatch:
        """Rows → a batch as wide as the longest."""
        from minibert.heads import TaskBatch

        return TaskBatch(**padded(features, pad_id), **self.targets(features))

    def targets(self, features: Sequence[Features]) -> dict[str, Any]:
        """The targets of the rows as fields of a `TaskBatch`; labels are None where no row has a target."""
        return {"labels": target_tensor([row.target for row in features])}

    def head(self, config: BertConfig, labels: Any, options: Options) -> nn.Module:
        """The model: BERT and one new layer."""
        from minibert import heads
        from minibert.relatives import build

        problem = {"problem": self.problem} if self.problem else {}
        return build(config, getattr(heads, self.architecture), labels=labels, **problem, **heads.head_options(options))

    # output → answers

    @abstractmethod
    def decode(
        self, outputs: Sequence[dict], features: Sequence[Features], examples: Sequence, labels: Any, options: Options
    ) -> list[dict]:
        """One JSON-able prediction per example, in their order. outputs: for each row the arrays of the head's output
        by name, as float32 numpy arrays."""

    def answerable(self, labels: Any) -> list[str] | None:
        """The `marks` that a model with these labels can predict; None where it does not predict marks."""
        return None

    def tune(self, predictions: Sequence[dict], examples: Sequence, labels: Any) -> dict[str, Any]:
        """Options, such as thresholds, that score best on these examples."""
        return {}

    # answers → figures

    @abstractmethod
    def score(self, predictions: Sequence[dict], examples: Sequence) -> dict[str, float]:
        """The task's metrics."""

    @abstractmethod
    def grade(self, prediction: dict, example: Any) -> float:
        """How right one prediction is, from 0 (wrong) to 1; lists of mistakes are sorted by it."""

    def details(self, predictions: Sequence[dict], examples: Sequence, labels: Any) -> dict:
        """What a page shows beside the predictions, such as a confusion matrix."""
        return {}

    def trivial(self, examples: Sequence[Mapping[str, Any]]) -> float | None:
        """The headline metric of a baseline that ignores the input: always the commonest class or label, a choice at
        random (on average), or no answer. None where that scores nothing, or without examples.

        examples: as in the details of a run's `Started` event.
        """
        return None
