"""Text files → documents → sentences. What cannot be read is reported, never skipped silently."""

from __future__ import annotations

import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from minibert.text.json_values import JsonError, json_value
from minibert.text.shortened import ShortError

OPENERS: dict[str, Callable] = {".gz": gzip.open, ".xz": lzma.open}
TEXT_NAMES = tuple(kind + packed for kind in (".txt", ".jsonl") for packed in ("", *OPENERS))
JSON_NAMES = (".jsonl", ".ndjson", ".json")
LONGEST_LINE = 1 << 20  # bytes; what is longer has lost its line breaks
LONGEST_JSON_LINE = 1 << 26  # a line there is a whole document
LONGEST_DOCUMENT = 1 << 24  # characters; documents are tokenized whole, and no book is as long
# An end of sentence: . ! ? … (with closing quotes or brackets) before a space, or the Chinese marks, which need none.
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\sa-z])|(?<=[。！？])(?![”’」』）。！？])")
ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Prof|Gen|Col|Lt|Capt|Sgt|Rev|Jr|Sr|vs|etc|No|Vol|pp|cf|e\.g|i\.e))\.$"
)
LONGER_THAN_ANY = 12  # characters; no ABBREVIATION, with the character before it, is as long


class DataError(ShortError):
    """Data that cannot be used; the message names the file, the line and what to do."""


def held_apart(documents: Sequence[list[str]], every: int = 10) -> tuple[list[list[str]], list[list[str]]]:
    """(train, dev): every `every`-th document is for evaluation; if there are fewer, all are for training."""
    train = [document for i, document in enumerate(documents, 1) if i % every]
    return train, list(documents[every - 1 :: every])


def text_files(paths: Sequence[str | Path]) -> list[Path]:
    """The given files, and in given folders all with an ending of TEXT_NAMES, sorted. DataError if one is missing."""
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = files_in(path)
            if not inside:
                raise DataError(f"{path} holds no {', '.join(TEXT_NAMES)} file")
            files += inside
        elif path.is_file():
            files.append(path)
        else:
            raise DataError(f"{path} does not exist")
    return files


def files_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if is_text(file))


def is_text(file: Path) -> bool:
    return file.name.lower().endswith(TEXT_NAMES) and not file.name.startswith(".") and file.is_file()


def read_documents(paths: Sequence[str | Path], skipped: list[str] | None = None) -> Iterator[list[str]]:
    """Documents as lists of lines. Plain text: separated by blank lines; JSON_NAMES: one per line, under "text".

    Files and folders, plain, .gz and .xz. A file that is empty, damaged, not UTF-8, binary (a NUL byte) or without line
    breaks raises a DataError that names file and line. With a list in `skipped`, such a file in a folder is read up to
    that line (of JSON lines only the bad ones are left out), and the error noted in the list; a file given by name
    still raises it, and so do folders of which nothing is left.
    """
    named = {Path(path) for path in paths if not Path(path).is_dir()}
    notes = len(skipped or ())
    read = 0
    for file in text_files(paths):
        before = read
        try:
            for document in documents_of(file, None if file in named else skipped):
                read += 1
                yield document
        except DataError as error:
            if skipped is None or file in named:
                raise
            found = read - before
            skipped.append(
                f"{error}; {found} documents before it were read, what follows was not" if found else str(error)
            )
    if not read and skipped and len(skipped) > notes:
        raise DataError(f"nothing could be read: {'; '.join(skipped[notes:][:3])}")


def documents_of(file: Path, skipped: list[str] | None = None) -> Iterator[list[str]]:
    """The documents of one file; see `read_documents`."""
    packed = file.suffix.lower() in OPENERS
    if (file.with_suffix("") if packed else file).suffix.lower() in JSON_NAMES:
        yield from json_documents(file, skipped)
        return
    document: list[str] = []
    size = 0
    for number, line in lines_of(file):
        if line:
            document.append(line)
            size += len(line)
            if size > LONGEST_DOCUMENT:
                raise DataError(
                    f"{file}, line {number}: {LONGEST_DOCUMENT >> 20} million characters without a blank line; put one "
                    "between documents"
                )
        elif document:
            yield document
            document, size = [], 0
    if document:
        yield document


def json_documents(file: Path, skipped: list[str] | None = None) -> Iterator[list[str]]:
    bad = 0
    for number, line in lines_of(file, LONGEST_JSON_LINE):
        if not line:
            continue
        try:
            text = text_of(line)
        except ValueError as error:
            if skipped is None:
                raise DataError(f"{file}, line {number}: {error}") from error
            bad += 1
            if bad == 1:
                skipped.append(f"{file}, line {number}: {error}")
            continue
        if document := [part.strip() for part in text.split("\n") if part.strip()]:
            yield document
    if skipped is not None and bad > 1:
        skipped.append(f"{file}: {bad - 1} more lines were left out")


def text_of(line: str) -> str:
    """The text of a JSON line. Raises ValueError if there is none."""
    try:
        value = json_value(line)
    except JsonError as error:
        raise ValueError(f'not a JSON object with a "text" ({error})') from None
    text = value.get("text") if isinstance(value, dict) else None
    if not isinstance(text, str):
        raise ValueError('not a JSON object with a "text"')
    return text


def lines_of(file: Path, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """(number from 1, stripped line) of a text file. DataError for a line of more than `longest` bytes, so that memory
    stays small whatever the file is."""
    number = 0
    seen = False
    try:
        with OPENERS.get(file.suffix.lower(), open)(file, "rb") as lines:
            while raw := lines.readline(longest + 1):
                number += 1
                if len(raw) > longest:
                    raise DataError(f"{file}, line {number}: longer than {longest >> 20} MB; put line breaks into it")
                try:
                    line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                except UnicodeDecodeError as error:
                    raise DataError(f"{file}, line {number}: not UTF-8 ({error.reason})") from error
                if "\0" in line:
                    raise DataError(f"{file}, line {number}: a NUL byte; this looks like a binary file")
                seen = seen or bool(line)
                yield number, line
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{file} cannot be read: {error}") from error
    if not seen:
        raise DataError(f"{file} is empty")


def split_sentences(line: str) -> list[str]:
    """A paragraph → its sentences, by end marks; common abbreviations and initials do not end one."""
    sentences: list[str] = []
    start = 0
    for end in SENTENCE_END.finditer(line):
        before = line[max(start, end.start() - LONGER_THAN_ANY) : end.start()]  # or "Mr. Mr. …" would be quadratic
        if not ABBREVIATION.search(before):
            sentences.append(line[start : end.end()].strip())
            start = end.end()
    sentences.append(line[start:].strip())
    return [sentence for sentence in sentences if sentence]
