"""What a task is: readers of its files, its input, its head, its answers and its metrics."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from minibert.tasks.data import TaskData, TaskDataError
from minibert.tasks.options import Options
from minibert.tasks.tables import Reader, Source, check_size, decoded

if TYPE_CHECKING:
    from torch import nn

    from minibert.config import BertConfig
    from minibert.heads import TaskBatch
    from minibert.tokenizer import Tokenizer


@dataclass(frozen=True)
class Features:
    """One row of the model's input, made from example number `example`.

    target: what is asked of it, None where nothing can be · metadata: the number of each metadata column's value.
    """

    example: int
    ids: list[int]
    segments: list[int]
    target: Any = None
    metadata: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        return len(self.ids)


class Task(ABC):
    """One way to use BERT: readers of its files, its input, its head, its answers and its metrics.

    readers: by format name, the first the usual one · columns: of a table, the fields with the names that a header may
    have for them ("header" among the readers) · metric: the headline number of `score` · closed: a label that
    only the dev set has is an error · tune_on: where `tune` looks: "split" (a part of the training set), "dev", or
    None · bulky: what a run's events leave out of the predictions.
    """

    name: ClassVar[str]
    metric: ClassVar[str]
    readers: ClassVar[dict[str, Reader]]
    columns: ClassVar[dict[str, Sequence[str]]] = {}
    closed: ClassVar[bool] = False
    tune_on: ClassVar[str | None] = None
    bulky: ClassVar[tuple[str, ...]] = ()

    # files → examples

    def read(
        self,
        path: str | Path,
        format: str | None = None,
        strict: bool = False,
        labels: Sequence[str] | None = None,
        columns: Mapping[str, str | int] | None = None,
    ) -> TaskData:
        """The examples of a file; a labels.txt or an .ans file beside it is read where the format asks for it.

        format: one of `readers`, guessed without · strict: the first problem is raised instead of named in `problems`
        · labels: the label set; an example with another one is a problem · columns: field (a key of `columns`) → its
        column's name in the header, or its number from 1, where the header's names are not the usual ones or there is
        none. Raises TaskDataError for an unusable file.
        """
        path = Path(path)
        if not path.is_file():
            raise TaskDataError(f"{path} does not exist or is not a file")
        check_size(path.name, path.stat().st_size)
        beside = {name: (path.parent / name).read_bytes() for name in beside_names(path.name, path.parent)}
        return self.parse(path.read_bytes(), path.name, format, strict, labels, beside, columns)

    def parse(
        self,
        content: bytes,
        name: str,
        format: str | None = None,
        strict: bool = False,
        labels: Sequence[str] | None = None,
        beside: Mapping[str, bytes] | None = None,
        columns: Mapping[str, str | int] | None = None,
    ) -> TaskData:
        """The same from bytes, for uploads. `name` stands in the messages; beside: further files by their names."""
        if columns:
            if unknown := [what for what in columns if what not in self.columns]:
                has = f"it can be {', '.join(self.columns)}" if self.columns else "its files have no columns to choose"
                raise TaskDataError(f"no column {unknown[0]!r} for {self.name}; {has}")
            if format not in (None, "header"):
                raise TaskDataError(f"the format {format!r} has its columns: choose columns or the format, not both")
            format = "header"
        declared = None if labels is None else tuple(labels)
        source = Source(decoded(content, name), name, strict, declared, beside or {}, columns or {})
        format = format or self.guess_format(source.text, name) or next(iter(self.readers))
        if format not in self.readers:
            raise TaskDataError(f"{name}: no format {format!r} for {self.name}; it can be {', '.join(self.readers)}")
        examples = self.readers[format](source)
        if not examples:
            why = f"; {source.problems[0]}" if source.problems else ""
            raise TaskDataError(f"{name} has no usable line{why}")
        return TaskData(examples, source.problems, name, source.declared)

    def guess_format(self, text: str, name: str) -> str | None:
        """The format the text seems to be in; None where it is none of this task's."""
        return None

    def answerable(self, labels: Any) -> list[str] | None:
        """The marks of examples that a model with these labels can answer; None where marks are not its answers."""
        return None

    def check(self, data: TaskData) -> None:  # noqa: B027, most tasks have nothing to check
        """Raise TaskDataError where nothing could be learned from the data; to measure on, they may do."""

    @abstractmethod
    def example(self, given: Any) -> Any:
        """An example without its answer from what a user gives: text, or a JSON object. ValueError if unusable."""

    # examples → input

    def labels(self, data: TaskData) -> Any:
        """What the head's outputs are called: a list of names."""
        return data.labels

    @abstractmethod
    def features(self, tokenizer: Tokenizer, examples: Sequence, labels: Any, options: Options) -> list[Features]:
        """The model's input rows; an example may make several."""

    @abstractmethod
    def batch(self, features: Sequence[Features], pad_id: int) -> TaskBatch:
        """Rows → a batch as wide as the longest; its labels are None where no row has a target."""

    @abstractmethod
    def head(self, config: BertConfig, labels: Any, options: Options) -> nn.Module:
        """The model: BERT and one new layer."""

    # output → answers

    @abstractmethod
    def decode(
        self, outputs: Sequence[dict], features: Sequence[Features], examples: Sequence, labels: Any, options: Options
    ) -> list[dict]:
        """What the model answers: a JSON-able dict an example, in their order. outputs: of each row the arrays of the
        head's output, by name, as float32 numpy arrays."""

    @abstractmethod
    def score(self, predictions: Sequence[dict], examples: Sequence) -> dict[str, float]:
        """The task's metrics."""

    @abstractmethod
    def grade(self, prediction: dict, example: Any) -> float:
        """How right one answer is, 0 (wrong) to 1: what a list of mistakes is sorted by."""

    def details(self, predictions: Sequence[dict], examples: Sequence, labels: Any) -> dict:
        """What a page draws beside the predictions."""
        return {}

    def tune(self, predictions: Sequence[dict], examples: Sequence, labels: Any) -> dict[str, Any]:
        """Options that answer best on these examples."""
        return {}

    # augmentation

    def texts(self, example: Any) -> list[str | tuple[str, ...]]:
        """The texts of an example that `augmentation` may change: strings, or words that have a tag each."""
        raise ValueError(f"examples of the task {self.name} cannot be augmented: their answers are places in the text")

    def with_texts(self, example: Any, texts: Sequence, origins: Sequence[Sequence[int]]) -> Any:
        """The example with other texts. origins: of each text's words, which word of the old text each is."""
        raise NotImplementedError


def beside_names(name: str, folder: Path) -> list[str]:
    """labels.txt, and the answers of an MCTest file, as far as they lie in the folder."""
    stem = name.removesuffix(".tsv").removesuffix(".statements")
    return [other for other in ("labels.txt", f"{stem}.ans") if other != name and (folder / other).is_file()]


def padded(features: Sequence[Features], pad_id: int) -> dict:
    """ids, segments, padding, metadata of a batch as wide as its longest row, as tensors; padding None if all real."""
    import torch

    from minibert.text.batches import padded as table

    ids, segments = table([row.ids for row in features], pad_id), table([row.segments for row in features], 0)
    real = torch.arange(ids.size(1)) < torch.tensor([[row.length] for row in features])
    metadata = torch.tensor([row.metadata for row in features]) if features[0].metadata else None
    return {"ids": ids, "segments": segments, "padding": None if real.all() else real, "metadata": metadata}


def text_given(given: Any, *names: str) -> list[str]:
    """The texts of an input for a task that wants `names`: an object that has them, a list of as many, or one text."""
    if isinstance(given, str) and len(names) == 1:
        given = [given]
    if isinstance(given, Mapping):
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(f"the input has no {missing[0]!r}; it needs {', '.join(names)}")
        given = [given[name] for name in names]
    wrong = not isinstance(given, Sequence) or isinstance(given, str) or len(given) != len(names)
    if wrong or not all(isinstance(text, str) for text in given):
        raise ValueError(f"the input must be an object with the texts {', '.join(names)}")
    return list(given)


def input_key(given: Any) -> str:
    """What tells an input from others."""
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:16]


def extra_given(given: Any) -> dict[str, str]:
    """The other columns of an input that is an object."""
    return {k: str(v) for k, v in given.items()} if isinstance(given, Mapping) else {}
