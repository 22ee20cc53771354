"""The interface of a task: file readers, input rows, head, predictions, metrics and the schema of its inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from minibert.tasks.data import TaskData, TaskDataError
from minibert.tasks.features import Features
from minibert.tasks.guess import Form, Sureness
from minibert.tasks.input_rows import InputRow
from minibert.tasks.metadata import check_texts
from minibert.tasks.options import Options
from minibert.tasks.tables import Reader, Source, check_lines, check_size, decoded

if TYPE_CHECKING:
    from torch import nn

    from minibert.config import BertConfig
    from minibert.heads import TaskBatch
    from minibert.tokenizer import Tokenizer


class Task(ABC):
    """One way to use BERT: file readers, input rows, head, predictions and metrics.

    order: position among the tasks, in the order they are taught.

    Files. readers: format name → reader, the default first · endings: file name extensions · by_line: the formats are
    read line by line (JSON is not, and may be one long line) · companions: names of files read along with the main
    one, * stands for its stem · columns: for tables, field → names that a header may use for it (reader "header").

    Examples. example_type: their class · answer: the field with the ground truth, None where unknown · parts: fields
    that are tuples of objects → the class of these objects.

    The model. architecture: class name of the head in heads.py · problem: the head's problem_type in transformers ·
    pooled: the new layer reads one vector of the whole input · two_texts: a row holds two texts that share its tokens ·
    reads_texts: rows may hold further texts, from other columns · too_long: what happens to long inputs: "truncation"
    (as the options say), "windows" (nothing is dropped), or "own" (a rule of the task) · tune_on: the data that `tune`
    uses: "split" (a part of the training set), "dev", or None · losses: alternatives to cross-entropy, see
    classifiers.py · by_pattern: a cloze task; the user must give a pattern.

    Measuring. metric: key of the headline metric in `score` · closed: a label that occurs only in the dev set is an
    error · bulky: fields of the predictions that a run's events leave out.

    The service. example_input: an input as a client sends it · given_texts: the fields of an input that the model
    reads, texts or lists of texts.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    readers: ClassVar[dict[str, Reader]]
    endings: ClassVar[tuple[str, ...]] = ("tsv", "csv", "txt")
    by_line: ClassVar[bool] = True
    companions: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[dict[str, Sequence[str]]] = {}
    example_type: ClassVar[type]
    answer: ClassVar[str] = "label"
    parts: ClassVar[dict[str, type]] = {}
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
    example_input: ClassVar[dict[str, Any]]
    given_texts: ClassVar[tuple[str, ...]]

    # files → examples

    def read(
        self,
        path: str | Path,
        format: str | None = None,
        strict: bool = False,
        labels: Sequence[str] | None = None,
        columns: Mapping[str, str | int] | None = None,
    ) -> TaskData:
        """Read the examples of a file, with its `companions` from the same folder.

        format: one of `readers`, guessed if None · strict: raise the first problem instead of collecting it in
        `problems` · labels: the label set; an example with any other label is a problem · columns: field (a key of
        `columns`) → its column's name in the header, or its number from 1, for headers with unusual names or none.
        Raises TaskDataError for an unusable file.
        """
        path = Path(path)
        if not path.is_file():
            raise TaskDataError(f"{path} does not exist or is not a file")
        check_size(path.name, path.stat().st_size)
        files = [path.parent / name for name in self.beside(path.name) if name != path.name]
        beside = {file.name: file.read_bytes() for file in files if file.is_file()}
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
        """Like `read`, from bytes (uploads). name: used in messages · beside: file name → content of further files."""
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
        if self.by_line:
            check_lines(source.text, name)
        examples = self.readers[format](source)
        if not examples:
            why = f"; {source.problems[0]}" if source.problems else ""
            raise TaskDataError(f"{name} has no usable line{why}")
        return TaskData(examples, source.problems, name, source.declared)

    def beside(self, name: str) -> list[str]:
        """The names of the `companions` of a file with this name."""
        return [pattern.replace("*", Path(name).stem) for pattern in self.companions]

    @abstractmethod
    def recognises(self, form: Form) -> Sureness:
        """How surely a file of this form belongs to this task."""

    def guess_format(self, text: str, name: str) -> str | None:
        """The format that the text seems to have; None if it is none of this task's."""
        return None

    # examples

    @abstractmethod
    def example(self, given: Any) -> Any:
        """Build an example without its answer from a user's input, a text or a JSON object. ValueError if unusable."""

    def restored(self, values: Mapping[str, Any]) -> Any:
        """Rebuild an example from its dataclasses.asdict, as a run's events record it; JSON lists become tuples."""
        fields = {name: tuples(value) for name, value in values.items()}
        for name, part in self.parts.items():
            if values.get(name) is not None:
                fields[name] = tuple(part(**one) for one in values[name])
        return self.example_type(**fields)

    def unanswered(self, example: Any) -> bool:
        """Whether the example's answer is unknown."""
        return getattr(example, self.answer) is None

    def check(self, data: TaskData) -> None:  # noqa: B027, most tasks have nothing to check
        """Raise TaskDataError if a model cannot be trained on the data; they may still serve for evaluation."""

    def check_answers(self, data: TaskData) -> None:
        """Raise TaskDataError if any example lacks its answer: a model cannot be evaluated on such data."""
        if count := sum(map(self.unanswered, data.examples)):
            name = data.name or "the data to measure on"
            raise TaskDataError(
                f"{name}: {count} of {len(data.examples)} examples do not say their answer, so nothing can be measured "
                "on them; is a file with the answers missing beside it?"
            )

    # examples → input

    def check_reading(self, options: Options, *data: TaskData) -> None:
        """Raise ValueError for options that the task does not support: a loss not in `losses`, or further texts where
        it reads none or the data have no such column."""
        if options.loss != "cross_entropy" and options.loss not in self.losses:
            known = ", ".join(("cross_entropy", *self.losses)) if self.losses else "its own alone"
            raise ValueError(f"the task {self.name} does not learn by the loss {options.loss!r}; it can by {known}")
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

    def check_beside(self, auxiliary: Sequence[str]) -> None:
        """Raise ValueError for auxiliary targets if the head does not classify one vector of the whole input."""
        if auxiliary and self.architecture != "BertForSequenceClassification":
            raise ValueError(f"the task {self.name} learns nothing beside: it does not read one vector of the input")

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

    @abstractmethod
    def batch(self, features: Sequence[Features], pad_id: int) -> TaskBatch:
        """Rows → a batch as wide as the longest; its labels are None where no row has a target."""

    def head(self, config: BertConfig, labels: Any, options: Options) -> nn.Module:
        """The model: BERT and one new layer."""
        from minibert import heads
        from minibert.relatives import build

        problem = {"problem": self.problem} if self.problem else {}
        kind = getattr(heads, self.architecture)
        return build(config, kind, labels=labels, **problem, **heads.head_options(options))

    # output → answers

    @abstractmethod
    def decode(
        self, outputs: Sequence[dict], features: Sequence[Features], examples: Sequence, labels: Any, options: Options
    ) -> list[dict]:
        """One JSON-able prediction per example, in their order. outputs: for each row the arrays of the head's output
        by name, as float32 numpy arrays."""

    @abstractmethod
    def plain(self, answer: Mapping[str, Any]) -> str:
        """A prediction of `decode` as one line of text."""

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

    # the service

    @abstractmethod
    def input_schema(self, most: int, columns: Sequence[str] = ()) -> dict:
        """JSON Schema of one input. most: most characters per text · columns: further columns that the model reads."""

    def given_names(self, columns: Sequence[str] = ()) -> list[str]:
        """The keys that an input object may have."""
        schema = self.input_schema(1, columns)
        return [*schema.get("anyOf", [schema])[-1]["properties"]]

    def texts_in(self, given: Any) -> list[tuple[list[str | int], str]]:
        """(path, text) of each text that the model reads in a valid input. Lists of words are left out: a single word
        may well be unknown to the tokenizer."""
        if isinstance(given, str):
            return [([], given)]
        if isinstance(given, list):
            return []
        found: list[tuple[list[str | int], str]] = []
        for name in self.given_texts:
            value = given.get(name)
            if isinstance(value, list):
                found += [([name, i], text) for i, text in enumerate(value)]
            elif value:
                found.append(([name], value))
        return found

    # augmentation

    @property
    def augmentable(self) -> bool:
        """Whether texts can be changed without changing the answers."""
        return type(self).texts is not Task.texts

    def texts(self, example: Any) -> list[str | tuple[str, ...]]:
        """The texts of an example that `augmentation` may change: strings, or words that have a tag each."""
        raise ValueError(f"examples of the task {self.name} cannot be augmented: their answers are places in the text")

    def with_texts(self, example: Any, texts: Sequence, origins: Sequence[Sequence[int]]) -> Any:
        """The example with new texts. origins: per text, for each word the index of the old word it replaces."""
        raise NotImplementedError


def tuples(value: Any) -> Any:
    """Lists from JSON back to tuples, recursively."""
    return tuple(map(tuples, value)) if isinstance(value, list | tuple) else value
