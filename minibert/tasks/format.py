"""A task's files: their formats, and the examples in them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from minibert.tasks.data import TaskData, TaskDataError
from minibert.tasks.guess import Form, Sureness
from minibert.tasks.tables import Reader, Source, check_lines, check_size, decoded


class TaskFormat(ABC):
    """Files → examples.

    readers: format name → reader, the default first · endings: file name extensions · by_line: the formats are read
    line by line (JSON is not, and may be one long line) · companions: names of files read along with the main one, *
    stands for its stem · columns: for tables, field → names that a header may use for it (reader "header") ·
    example_type: class of the examples · answer: their field with the ground truth, None where unknown · parts: fields
    that are tuples of objects → the class of these objects.
    """

    name: ClassVar[str]
    readers: ClassVar[dict[str, Reader]]
    endings: ClassVar[tuple[str, ...]] = ("tsv", "csv", "txt", "jsonl")
    by_line: ClassVar[bool] = True
    companions: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[Mapping[str, Sequence[str]]] = {}
    example_type: ClassVar[type]
    answer: ClassVar[str] = "label"
    parts: ClassVar[dict[str, type]] = {}

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
                why = f"it can be {', '.join(self.columns)}" if self.columns else "its files have no columns to choose"
                raise TaskDataError(f"no column {unknown[0]!r} for {self.name}; {why}")
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
            raise TaskDataError(
                f"{data.name or 'the data to measure on'}: {count} of {len(data.examples)} examples do not say their "
                "answer, so nothing can be measured on them; is a file with the answers missing beside it?"
            )

    # augmentation

    @property
    def augmentable(self) -> bool:
        """Whether texts can be changed without changing the answers."""
        return type(self).texts is not TaskFormat.texts

    def texts(self, example: Any) -> list[str | tuple[str, ...]]:
        """The texts of an example that `augmentation` may change: strings, or words that have a tag each."""
        raise ValueError(f"examples of the task {self.name} cannot be augmented: their answers are places in the text")

    def with_texts(self, example: Any, texts: Sequence, origins: Sequence[Sequence[int]]) -> Any:
        """The example with new texts. origins: per text, for each word the index of the old word it replaces."""
        raise NotImplementedError


def tuples(value: Any) -> Any:
    """Lists from JSON back to tuples, recursively."""
    return tuple(map(tuples, value)) if isinstance(value, list | tuple) else value
