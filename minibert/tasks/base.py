"""What a task is: readers of its files, its input, its head, its answers and its metrics, and how it is asked."""

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
    """One way to use BERT: readers of its files, its input, its head, its answers and its metrics.

    order: where it stands among the tasks, as they are taught.

    Files. readers: by format name, the first the usual one · endings: of the names of its files · by_line: they are
    no JSON, which may be one line · companions: the names of files that are read beside one, * for its own name ·
    columns: of a table, the fields with the names that a header may have for them ("header" among the readers).

    Examples. example_type: their class · answer: its field that is None where the answer is unknown · parts: fields
    that are tuples of objects, with the class of these.

    The model. architecture: the class of its head in heads.py; problem: the head's, transformers' problem_type ·
    pooled: the new layer reads one vector of the whole input · two_texts: a row holds two texts, each with a share of
    the places · reads_texts: a row may hold further ones, from columns · too_long: what becomes of a text that is:
    "truncation" as the options say, "windows" that leave nothing out, or a rule of the task's "own" · tune_on: where
    `tune` looks: "split" (a part of the training set), "dev", or None · losses: what its head can learn by beside
    cross-entropy, see classifiers.py · by_pattern: it is asked in a pattern, which the user must give.

    Measuring. metric: the headline number of `score` · closed: a label that only the dev set has is an error · bulky:
    what a run's events leave out of the predictions.

    The service. example_input: one as a client gives it · given_texts: the fields of an input that the model reads,
    texts or lists of texts.
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
        """The examples of a file; its `companions` beside it are read where the format asks for them.

        format: one of `readers`, guessed without · strict: the first problem is raised instead of named in `problems`
        · labels: the label set; an example with another one is a problem · columns: field (a key of `columns`) → its
        column's name in the header, or its number from 1, where the header's names are not the usual ones or there is
        none. Raises TaskDataError for an unusable file.
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
        if self.by_line:
            check_lines(source.text, name)
        examples = self.readers[format](source)
        if not examples:
            why = f"; {source.problems[0]}" if source.problems else ""
            raise TaskDataError(f"{name} has no usable line{why}")
        return TaskData(examples, source.problems, name, source.declared)

    def beside(self, name: str) -> list[str]:
        """The names that `companions` of a file of this name have."""
        return [pattern.replace("*", Path(name).stem) for pattern in self.companions]

    @abstractmethod
    def recognises(self, form: Form) -> Sureness:
        """How surely a file of this form is one of the task."""

    def guess_format(self, text: str, name: str) -> str | None:
        """The format the text seems to be in; None where it is none of this task's."""
        return None

    # examples

    @abstractmethod
    def example(self, given: Any) -> Any:
        """An example without its answer from what a user gives: text, or a JSON object. ValueError if unusable."""

    def restored(self, values: Mapping[str, Any]) -> Any:
        """The example of which `values`, as a run's events record it, is dataclasses.asdict, perhaps by way of JSON."""
        fields = {name: tuples(value) for name, value in values.items()}
        for name, part in self.parts.items():
            if values.get(name) is not None:
                fields[name] = tuple(part(**one) for one in values[name])
        return self.example_type(**fields)

    def unanswered(self, example: Any) -> bool:
        """Whether an example does not say its answer."""
        return getattr(example, self.answer) is None

    def check(self, data: TaskData) -> None:  # noqa: B027, most tasks have nothing to check
        """Raise TaskDataError where nothing could be learned from the data; to measure on, they may do."""

    def check_answers(self, data: TaskData) -> None:
        """Raise TaskDataError unless a model can be measured on the data."""
        if count := sum(map(self.unanswered, data.examples)):
            name = data.name or "the data to measure on"
            raise TaskDataError(
                f"{name}: {count} of {len(data.examples)} examples do not say their answer, so nothing can be measured "
                "on them; is a file with the answers missing beside it?"
            )

    # examples → input

    def check_reading(self, options: Options, *data: TaskData) -> None:
        """Raise ValueError for what the options say that the task cannot: further texts, where it reads none or the
        data lack them, and another loss than its own."""
        if options.loss != "cross_entropy" and options.loss not in self.losses:
            known = ", ".join(("cross_entropy", *self.losses)) if self.losses else "its own alone"
            raise ValueError(f"the task {self.name} does not learn by the loss {options.loss!r}; it can by {known}")
        if options.texts_beside and not self.reads_texts:
            raise ValueError(f"the task {self.name} reads no further texts: its rows have a form of their own")
        for one in data:
            check_texts(one, options.texts_beside)

    def labels(self, data: TaskData) -> Any:
        """What the head's outputs are called: a list of names."""
        return data.labels

    def more_tokens(self, tokenizer: Tokenizer, options: Options) -> list[str]:
        """Special tokens that the options ask for, and the vocabulary lacks."""
        return []

    def fitted(self, options: Options, tokenizer: Tokenizer, labels: Any) -> Options:
        """The options with what only the vocabulary says. Raises ValueError where they do not go together."""
        return options

    def check_beside(self, auxiliary: Sequence[str]) -> None:
        """Raise ValueError for marks that are to be learned beside, where the head reads no one vector that could."""
        if auxiliary and self.architecture != "BertForSequenceClassification":
            raise ValueError(f"the task {self.name} learns nothing beside: it does not read one vector of the input")

    def loss_weights(self, data: TaskData, labels: Any) -> tuple[float, ...]:
        """What each label counts where the loss is "class_weights"."""
        raise NotImplementedError

    @abstractmethod
    def features(self, tokenizer: Tokenizer, examples: Sequence, labels: Any, options: Options) -> list[Features]:
        """The model's input rows; an example may make several."""

    @abstractmethod
    def rows(self, tokenizer: Tokenizer, example: Any, labels: Any, options: Options) -> list[InputRow]:
        """The rows of `features` as they are drawn."""

    def input_rows(self, tokenizer: Tokenizer, example: Any, labels: Any, options: Options) -> list[InputRow]:
        """How `features` reads the example; several rows for windows and choices, filled to the longest."""
        rows = self.rows(tokenizer, example, labels, options)
        longest = max(row.length for row in rows)
        return [replace(row, padding=longest - row.length) for row in rows]

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
    def plain(self, answer: Mapping[str, Any]) -> str:
        """An answer of `decode` as a line for people."""

    def answerable(self, labels: Any) -> list[str] | None:
        """The marks of examples that a model with these labels can answer; None where marks are not its answers."""
        return None

    def tune(self, predictions: Sequence[dict], examples: Sequence, labels: Any) -> dict[str, Any]:
        """Options that answer best on these examples."""
        return {}

    # answers → figures

    @abstractmethod
    def score(self, predictions: Sequence[dict], examples: Sequence) -> dict[str, float]:
        """The task's metrics."""

    @abstractmethod
    def grade(self, prediction: dict, example: Any) -> float:
        """How right one answer is, 0 (wrong) to 1: what a list of mistakes is sorted by."""

    def details(self, predictions: Sequence[dict], examples: Sequence, labels: Any) -> dict:
        """What a page draws beside the predictions."""
        return {}

    def trivial(self, examples: Sequence[Mapping[str, Any]]) -> float | None:
        """The headline metric of an answer that reads nothing, the line that a model has to beat: always the commonest
        class or label, a choice at random (on average), no answer. None where that scores nothing, or without examples.

        examples: as in the details of a run's `Started`.
        """
        return None

    # the service

    @abstractmethod
    def input_schema(self, most: int, columns: Sequence[str] = ()) -> dict:
        """JSON Schema of one input. most: characters of a text · columns: further ones that the model reads."""

    def given_names(self, columns: Sequence[str] = ()) -> list[str]:
        """The names that an input may have, as an object."""
        schema = self.input_schema(1, columns)
        return [*schema.get("anyOf", [schema])[-1]["properties"]]

    def texts_in(self, given: Any) -> list[tuple[list[str | int], str]]:
        """(path, text) of what the model reads of a valid input; words of a list may each be unknown, and are left
        out."""
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
        """Whether texts can be changed without moving the answers."""
        return type(self).texts is not Task.texts

    def texts(self, example: Any) -> list[str | tuple[str, ...]]:
        """The texts of an example that `augmentation` may change: strings, or words that have a tag each."""
        raise ValueError(f"examples of the task {self.name} cannot be augmented: their answers are places in the text")

    def with_texts(self, example: Any, texts: Sequence, origins: Sequence[Sequence[int]]) -> Any:
        """The example with other texts. origins: of each text's words, which word of the old text each is."""
        raise NotImplementedError


def tuples(value: Any) -> Any:
    """Lists, as JSON has them, as the tuples they were."""
    return tuple(map(tuples, value)) if isinstance(value, list | tuple) else value
