"""Readers for the field's file formats → examples. Every bad line is named."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

TEXT_COLUMNS = ("sentence", "text", "review", "text_a")
LABEL_COLUMNS = ("label", "labels", "class", "sentiment")
LARGEST_FILE = 100 * 2**20  # bytes


class TaskDataError(ValueError):
    """A file that cannot be used; the message says which line and what to do."""


@dataclass(frozen=True)
class Example:
    """One text with its class; `extra` holds the other columns of its line."""

    text: str
    label: str
    extra: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ClassificationData:
    """Examples in file order, and what was passed over: (line number, why)."""

    examples: list[Example]
    skipped: list[tuple[int, str]] = field(default_factory=list)

    @property
    def labels(self) -> list[str]:
        """The classes, sorted (numbers by value), so that the same data always numbers them alike."""
        return sorted({example.label for example in self.examples}, key=label_order)

    @property
    def counts(self) -> Counter[str]:
        return Counter(example.label for example in self.examples)


def label_order(label: str) -> tuple:
    return (0, int(label), label) if label.lstrip("-").isdecimal() else (1, 0, label)


def read_classification(path: str | Path) -> ClassificationData:
    """A TSV or CSV file with a header (`sentence`/`text` and `label`), or plain `label<TAB>text` lines."""
    path = Path(path)
    if not path.is_file():
        raise TaskDataError(f"{path} does not exist or is not a file")
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise TaskDataError(too_large(path.name, size))
    return parse_classification(path.read_bytes(), path.name)


def parse_classification(content: bytes, name: str) -> ClassificationData:
    """The same from bytes, for uploads. `name` stands in the messages; .csv means commas, else tabs are looked for.

    Raises TaskDataError: not UTF-8, too large, no usable column, fewer than two classes. Single bad lines (missing
    column, empty text or label) are passed over and listed in `skipped`.
    """
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
    rows = list(table(text, name))
    if not rows:
        raise TaskDataError(f"{name} is empty")
    number, first = rows[0]
    header = [cell.strip().lower() for cell in first]
    text_at = next((header.index(column) for column in TEXT_COLUMNS if column in header), None)
    label_at = next((header.index(column) for column in LABEL_COLUMNS if column in header), None)
    if text_at is not None and label_at is not None:
        rows = rows[1:]
    elif text_at is not None or label_at is not None:
        wanted, choices = ("label", LABEL_COLUMNS) if label_at is None else ("text", TEXT_COLUMNS)
        raise TaskDataError(
            f"{name}, line {number}: the header has no {wanted} column (one of {', '.join(choices)}); "
            f"it has {', '.join(repr(cell) for cell in first)}"
        )
    elif len(first) == 2:
        header, label_at, text_at = ["label", "text"], 0, 1
    else:
        raise TaskDataError(
            f"{name}, line {number}: expected a header with `sentence` and `label`, or lines of label<TAB>text; "
            f"found {len(first)} column{'s' if len(first) != 1 else ''}"
        )
    return collect(rows, header, text_at, label_at, name)


def table(text: str, name: str):
    """(line number, cells) of every line that is not blank. Tabs if the first line has one, else CSV with quotes."""
    first = text.split("\n", 1)[0]
    if "\t" in first and not name.lower().endswith(".csv"):
        # GLUE's files do not quote: a lone " is a character like any other.
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield number, line.rstrip("\r").split("\t")
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    before = 0
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield before + 1, row
            before = reader.line_num
    except csv.Error as error:
        raise TaskDataError(f"{name}, line {reader.line_num}: {error}") from error


def collect(rows, header: list[str], text_at: int, label_at: int, name: str) -> ClassificationData:
    examples: list[Example] = []
    skipped: list[tuple[int, str]] = []
    for number, cells in rows:
        if len(cells) != len(header):
            skipped.append((number, f"{len(cells)} columns where {len(header)} are expected"))
        elif not cells[text_at].strip():
            skipped.append((number, "the text is empty"))
        elif not cells[label_at].strip():
            skipped.append((number, "the label is empty"))
        else:
            others = {h: c for i, (h, c) in enumerate(zip(header, cells, strict=True)) if i not in (text_at, label_at)}
            examples.append(Example(cells[text_at].strip(), cells[label_at].strip(), others))
    if not examples:
        why = f"; line {skipped[0][0]}: {skipped[0][1]}" if skipped else ""
        raise TaskDataError(f"{name} has no usable line{why}")
    data = ClassificationData(examples, skipped)
    if len(data.labels) < 2:
        raise TaskDataError(
            f"{name}: all {len(examples)} examples have the label {data.labels[0]!r}; there is nothing to tell apart"
        )
    return data


def too_large(name: str, size: int) -> str:
    return f"{name} has {size / 2**20:.0f} MB; at most {LARGEST_FILE / 2**20:.0f} MB can be read"
