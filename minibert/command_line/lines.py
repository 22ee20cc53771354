"""Lines of standard input, one after the other or as they come."""

from __future__ import annotations

import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

LONGEST_LINE = 2**20  # characters, or bytes


def lines_of(options) -> Iterator[str]:
    """The text given, or standard input line by line."""
    if options.text is not None:
        yield options.text
        return
    sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    yield from bounded_lines(sys.stdin)


def bounded_lines(file: TextIO) -> Iterator[str]:
    """The lines of a file, without their ends. Raises ValueError at one over LONGEST_LINE, before reading all of it."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        check_line(line, number := number + 1)
        yield (line if number > 1 else line.removeprefix("\ufeff")).rstrip("\n")


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, without their ends and a byte order mark. Raises ValueError with file and line."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            try:
                check_line(line, number := number + 1)
                text = text_of(line.removesuffix(b"\n"), number == 1)
            except UnicodeDecodeError as error:
                wide = number == 1 and line.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
                why = "UTF-16" if wide else error.reason
                raise ValueError(f"{path}, line {number}: not UTF-8 ({why}). Save the file as UTF-8.") from None
            except ValueError as error:
                raise ValueError(f"{path}, {error}") from None
            yield text


def check_line(line: str | bytes, number: int) -> None:
    if len(line) > LONGEST_LINE:
        raise ValueError(f"line {number}: more than {LONGEST_LINE:,} characters; has the file lost its line breaks?")


def lines_as_they_come(file: BinaryIO, most: int) -> Iterator[list[str]]:
    """The lines that can be read without waiting, at least one and at most `most` at a time: a program that writes a
    line and waits for its answer is not kept waiting for more lines."""
    rest, first, begun = b"", True, 1
    while read := file.read1(2**16):
        *lines, rest = (rest + read).split(b"\n")
        begun += len(lines)
        check_line(rest, begun)
        for start in range(0, len(lines), most):
            batch = enumerate(lines[start : start + most], start)
            yield [text_of(line, first and number == 0) for number, line in batch]
        first = first and not lines
    if rest:
        yield [text_of(rest, first)]


def text_of(line: bytes, first: bool) -> str:
    """Decode a line. first: drop a byte order mark."""
    return line.removesuffix(b"\r").decode("utf-8-sig" if first else "utf-8")
