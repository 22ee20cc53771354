"""What all tasks share: files → examples with every bad line named, features, the abstract `Task`."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from minibert.truncation import TRUNCATIONS

if TYPE_CHECKING:  # the readers are used by pages, whose first paint never waits for torch
    from torch import nn

    from minibert.config import BertConfig
    from minibert.heads import TaskBatch
    from minibert.tokenizer import Tokenizer

LARGEST_FILE = 100 * 2**20  # bytes
COLUMN_NAME = re.compile(r"(?=.{1,30}$)[^\W\d][\w#()/.-]*( [\w#()/.-]+){0,2}")  # what could be one: three words at most
LABEL_COLUMNS = ("label", "labels", "class", "sentiment", "gold_label", "quality")


class TaskDataError(ValueError):
    """A file that cannot be used; the message says where and what to do."""


@dataclass(frozen=True)
class Problem:
    """What is wrong at one place. line, column: from 1; in JSON there is no line, and column is the path, such as
    `data[3].paragraphs[0].qas[2]`."""

    line: int | None
    column: int | str | None
    why: str

    @property
    def where(self) -> str:
        parts = [] if self.line is None else [f"line {self.line}"]
        if self.column is not None:
            parts.append(self.column if isinstance(self.column, str) else f"column {self.column}")
        return ", ".join(parts)

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


@dataclass(frozen=True)
class TaskData:
    """Examples in file order, and what is wrong with the file. declared: the label set, if it is not to be derived.

    An example's `marks` are the labels it counts for.
    """

    examples: list
    problems: list[Problem] = field(default_factory=list)
    name: str = ""
    declared: tuple[str, ...] | None = None

    @property
    def counts(self) -> Counter[str]:
        return Counter(mark for example in self.examples for mark in example.marks)

    @property
    def labels(self) -> list[str]:
        """Declared, or those that occur, sorted (numbers by value), so that the same data always numbers them alike."""
        return list(self.declared) if self.declared is not None else sorted(self.counts, key=label_order)

    @property
    def imbalance(self) -> Imbalance | None:
        """How unevenly the labels occur; None where there are none."""
        counts = {label: self.counts[label] for label in self.labels}
        return Imbalance(counts, len(self.examples)) if counts else None

    def take(self, indices: Sequence[int]) -> TaskData:
        """Some of the examples, in the order of `indices`."""
        return TaskData([self.examples[i] for i in indices], self.problems, self.name, self.declared)


@dataclass(frozen=True)
class Imbalance:
    """Examples a label. `ratio`: the commonest to the rarest that occurs; `majority`: share of the commonest."""

    counts: dict[str, int]
    examples: int

    @property
    def ratio(self) -> float:
        seen = [count for count in self.counts.values() if count]
        return max(seen) / min(seen) if seen else 1.0

    @property
    def majority(self) -> float:
        return max(self.counts.values()) / sum(self.counts.values()) if any(self.counts.values()) else 0.0

    @property
    def missing(self) -> list[str]:
        """Declared labels without an example."""
        return [label for label, count in self.counts.items() if not count]

    def as_dict(self) -> dict:
        return {"counts": self.counts, "ratio": self.ratio, "majority": self.majority, "missing": self.missing}


def unanswered(example: Any) -> bool:
    """Whether an example does not say its answer."""
    answers = ("label", "labels", "score", "tags", "answers", "intent")
    return all(getattr(example, name, None) is None for name in answers)


def check_answers(data: TaskData) -> None:
    """Raise TaskDataError unless a model can be measured on the data."""
    if count := sum(map(unanswered, data.examples)):
        name = data.name or "the data to measure on"
        raise TaskDataError(
            f"{name}: {count} of {len(data.examples)} examples do not say their answer, so nothing can be measured on "
            "them; is a file with the answers missing beside it?"
        )


def label_order(label: str) -> tuple:
    return (0, int(label), label) if label.lstrip("-").isdecimal() else (1, 0, label)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the input, the head and the answers of a fine-tuned model depend on: saved with it in config.json.

    max_length: tokens a row · truncation, budgets: see `truncation.keep` · doc_stride: tokens from the start of one
    window to the next (tagging, spans) · max_question, max_answer: tokens · n_best: answers listed.
    pooling, layers: what the new layer reads, see heads.py · dropout_samples: dropout masks averaged (Inoue 2019) ·
    bilstm: between BERT and the new layer, as the paper has it over frozen features (§5.3; random at the start) ·
    metadata: columns read beside the text; metadata_as: "embedding" (a learned vector per value, added to what the
    new layer reads) or "token" (`[COLUMN=VALUE]` in front); metadata_values: the values seen in training.
    null_threshold: "no answer" where its score leads by more · thresholds: of the labels, in their order.
    """

    max_length: int = 128
    truncation: str = "longest_first"
    budgets: tuple[int, ...] | None = None
    doc_stride: int = 64
    max_question: int = 64
    max_answer: int = 30
    n_best: int = 5
    pooling: str = "cls"
    layers: str = "last"
    dropout_samples: int = 1
    bilstm: bool = False
    metadata: tuple[str, ...] = ()
    metadata_as: str = "embedding"
    metadata_values: dict[str, list[str]] = field(default_factory=dict)
    null_threshold: float = 0.0
    thresholds: tuple[float, ...] | None = None

    def __post_init__(self):
        for name in ("max_length", "doc_stride", "max_question", "max_answer", "n_best", "dropout_samples"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.truncation not in TRUNCATIONS:
            raise ValueError(f"truncation is {self.truncation!r}; it can be {', '.join(TRUNCATIONS)}")
        if self.metadata_as not in ("embedding", "token"):
            raise ValueError(f"metadata_as is {self.metadata_as!r}; it can be embedding or token")


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


# --- reading files ----------------------------------------------------------------------------------------------------


@dataclass
class Source:
    """A file being read: its text, the files beside it, the labels declared, which columns its fields are in where
    that was said (`Task.parse`), and the problems found so far."""

    text: str
    name: str
    strict: bool = False
    declared: tuple[str, ...] | None = None
    beside: Mapping[str, bytes] = field(default_factory=dict)
    columns: Mapping[str, str | int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def problem(self, line: int | None, column: int | str | None, why: str) -> None:
        """Note it and go on, or raise it when strict."""
        found = Problem(line, column, why)
        if self.strict:
            raise TaskDataError(f"{self.name}, {found}")
        self.problems.append(found)

    def known(self, label: str, line: int | None, column: int | str | None) -> bool:
        """True unless the labels were declared and this is none of them, which is then a problem."""
        if self.declared is None or label in self.declared:
            return True
        self.problem(line, column, f"{label!r} is none of the labels {', '.join(self.declared)}")
        return False

    def fail(self, why: str, line: int | None = None) -> TaskDataError:
        return TaskDataError(f"{self.name}{'' if line is None else f', line {line}'}: {why}")


Reader = Callable[[Source], list]


def decoded(content: bytes, name: str) -> str:
    """UTF-8 text, or TaskDataError naming the line."""
    if len(content) > LARGEST_FILE:
        raise TaskDataError(too_large(name, len(content)))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise TaskDataError(f"{name}, line {line}: not UTF-8 ({error.reason}). Save the file as UTF-8.") from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise TaskDataError(f"{name}, line {line}: a NUL byte; this is not a text file")
    if not text.strip():
        raise TaskDataError(f"{name} is empty")
    return text


def too_large(name: str, size: int) -> str:
    return f"{name} has {size / 2**20:.0f} MB; at most {LARGEST_FILE / 2**20:.0f} MB can be read"


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """(line number, line) of every line; only \\n and \\r\\n end one."""
    for number, line in enumerate(text.split("\n"), 1):
        yield number, line.removesuffix("\r")


def table(text: str, name: str, source: Source | None = None) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of every line that is not blank, at least one. Tabs if the first line has one, else CSV
    with quotes. A line whose quotes are wrong is passed over, and a problem of the source; the first one, or a quote
    that is open at the end, makes the file unusable."""
    empty = True
    for number, cells in _lines(text, name, source):
        empty = False
        yield number, cells
    if empty:
        raise TaskDataError(f"{name} is empty: it has separators, but nothing between them")


def _lines(text: str, name: str, source: Source | None) -> Iterator[tuple[int, list[str]]]:
    first = text.split("\n", 1)[0]
    if "\t" in first and (not name.lower().endswith(".csv") or "," not in first):
        # GLUE's files do not quote: a lone " is a character like any other.
        for number, line in lines_of(text):
            if line.strip():
                yield number, line.split("\t")
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    before = 0
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            if "unexpected end" in str(error):
                why = f"{error}: a quote that opens here is never closed"
                raise TaskDataError(f"{name}, line {before + 1}: {why}") from error
            if before == 0:
                raise TaskDataError(f"{name}, line 1: {error}") from error
            if source is not None:
                source.problem(before + 1, None, f"{error}; a quote inside quotes is written twice")
        else:
            if row is None:
                return
            if any(cell.strip() for cell in row):
                yield before + 1, row
        before = reader.line_num


def columns_found(cells: Sequence[str], needed: int) -> str:
    """What a first line has in place of a known header, and what helps."""
    if len(cells) < needed:
        return f"found {len(cells)} column{'s' if len(cells) != 1 else ''}"
    return f"found {len(cells)} columns: say which is which (--columns)"


def header_of(cells: Sequence[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]


def without_header(rows: list[tuple[int, list[str]]], label: int, source: Source) -> list[tuple[int, list[str]]]:
    """Lines of unnamed columns without a header whose names nobody knows, which is then a problem. label: the column
    of the label.

    A header is a first line of what could be names, whose label no other line has though labels come again and again.
    """
    (line, first), *rest = rows
    if source.declared is not None or len(first) <= label or not all(map(COLUMN_NAME.fullmatch, header_of(first))):
        return rows
    name = first[label].strip()
    labels = [cells[label].strip() for _, cells in rest if len(cells) > label]
    different = set(labels)
    if name in different or len(different) < 2 or len(labels) < 2 * len(different):
        return rows
    source.problem(line, label + 1, f"no other line has {name!r} as its label: taken for a header and passed over")
    return rows[1:]


def column(header: Sequence[str], names: Sequence[str]) -> int | None:
    """Where the first of `names` that the header has stands."""
    return next((header.index(name) for name in names if name in header), None)


def columns(header: Sequence[str], wanted: Mapping[str, Sequence[str]], source: Source) -> dict[str, int]:
    """Where each wanted field stands: where the source says, else where the header has one of its names. TaskDataError
    for one that is missing."""
    at = {}
    for what, names in wanted.items():
        said = source.columns.get(what)
        if isinstance(said, int):
            if not 1 <= said <= len(header):
                raise source.fail(f"there is no column {said} for the {what}: this line has {len(header)}", 1)
            at[what] = said - 1
            continue
        names = names if said is None else header_of([said])
        if (place := column(header_of(header), names)) is None:
            raise TaskDataError(
                f"{source.name}, line 1: the header has no {what} column ({'one of ' * (len(names) > 1)}"
                f"{', '.join(names)}); it has {', '.join(repr(cell) for cell in header)}"
            )
        at[what] = place
    for place in set(at.values()):
        if len(both := [what for what in at if at[what] == place]) > 1:
            raise source.fail(f"column {place + 1} cannot be {' and '.join(both)} at once", 1)
    return at


def named_columns(
    source: Source, wanted: Mapping[str, Sequence[str]], label: str
) -> tuple[list[tuple[int, list[str]]], dict[str, int], list[str]]:
    """(lines, where each wanted field stands, header) of a table whose header names its columns. Where the source says
    the number of every column, there need be no header: then it is []. label: which field has few different values."""
    rows = list(table(source.text, source.name, source))
    first = rows[0][1]
    at = columns(first, wanted, source)
    if all(isinstance(source.columns.get(what), int) for what in wanted):
        return without_header(rows, at[label], source), at, []
    return rows[1:], at, first


@dataclass(frozen=True)
class Row:
    """A line of a table: the wanted cells, stripped, and the others by their column's name."""

    line: int
    cells: dict[str, str]
    extra: dict[str, str]


def rows_of(
    rows: Iterator[tuple[int, list[str]]] | Sequence[tuple[int, list[str]]],
    at: Mapping[str, int],
    source: Source,
    header: Sequence[str] = (),
    width: int | None = None,
    may_be_empty: Sequence[str] = (),
) -> Iterator[Row]:
    """Each line's wanted cells; lines with too few or too many columns or with an empty cell are named, not returned.

    width: columns a line must have exactly; without it, as many as `at` needs.
    """
    needed = max(at.values()) + 1
    names = header_of(header)
    for line, cells in rows:
        if len(cells) < needed or (width is not None and len(cells) != width):
            expected = needed if width is None else width
            at_fault = min(len(cells), expected) + 1
            source.problem(line, at_fault, f"{len(cells)} columns where {expected} are expected")
            continue
        wanted = {what: cells[place].strip() for what, place in at.items()}
        empty = next((what for what, cell in wanted.items() if not cell and what not in may_be_empty), None)
        if empty is not None:
            source.problem(line, at[empty] + 1, f"the {empty} is empty")
            continue
        used = set(at.values())
        extra = {name: cells[i] for i, name in enumerate(names) if i < len(cells) and i not in used and name}
        yield Row(line, wanted, extra)


# --- tasks ------------------------------------------------------------------------------------------------------------


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
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise TaskDataError(too_large(path.name, size))
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

    from minibert.data import padded as table

    ids, segments = table([row.ids for row in features], pad_id), table([row.segments for row in features], 0)
    real = torch.arange(ids.size(1)) < torch.tensor([[row.length] for row in features])
    metadata = torch.tensor([row.metadata for row in features]) if features[0].metadata else None
    return {"ids": ids, "segments": segments, "padding": None if real.all() else real, "metadata": metadata}


def metadata_numbers(extra: Mapping[str, str], options: Options) -> tuple[int, ...]:
    """The number of the value in each metadata column; 0 for one that training has not seen."""
    if options.metadata_as != "embedding":
        return ()
    return tuple(
        0 if value is None else options.metadata_values[name].index(value) + 1
        for name, value in metadata_read(extra, options).items()
    )


def metadata_read(extra: Mapping[str, str], options: Options) -> dict[str, str | None]:
    """What is read beside the text: each metadata column's value, None where training has not seen it."""
    known = options.metadata_values
    return {name: extra[name] if extra.get(name) in known.get(name, ()) else None for name in options.metadata}


def metadata_token(column: str, value: str) -> str:
    """`[KIND=IRONY]`: one special token for a value of a column."""
    return f"[{column}={value}]".upper()


def metadata_prefix(extra: Mapping[str, str], options: Options) -> str:
    """The special tokens of the example's known values, to stand in front of its text."""
    if options.metadata_as != "token":
        return ""
    return "".join(
        metadata_token(name, value) + " " for name, value in metadata_read(extra, options).items() if value is not None
    )


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
