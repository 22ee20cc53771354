"""Lines of standard input or a file, one after the other or as they come."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

LONGEST_LINE = 2**20  # characters, or bytes


def lines_of(options) -> Iterator[str]:
    """The text given, or standard input line by line."""
    if options.text is not None:
        yield options.text
        return
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    yield from bounded_lines(sys.stdin, "standard input")


def file_lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
        yield from bounded_lines(file, str(path))


def bounded_lines(file: TextIO, name: str) -> Iterator[str]:
    """The lines of a file, without their ends; what is not UTF-8 there must be an escaped surrogate. Raises ValueError
    with name and line at one that is not UTF-8, and at one over LONGEST_LINE, before reading all of it."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        check_line(line, number := number + 1)
        try:
            line.encode()
        except UnicodeEncodeError as error:
            byte = ord(line[error.start]) - 0xDC00
            hint = "; is it UTF-16?" if number == 1 and byte in (0xFE, 0xFF) else ""
            raise ValueError(f"{name}, line {number}: not UTF-8 (the byte {byte:#x}){hint}") from None
        yield (line if number > 1 else line.removeprefix("\ufeff")).rstrip("\n")


def check_line(line: str | bytes, number: int) -> None:
    if len(line) > LONGEST_LINE:
        raise ValueError(f"line {number}: more than {LONGEST_LINE:,} characters; has the file lost its line breaks?")


def lines_as_they_come(file: Any, most: int) -> Iterator[list[str]]:
    """The lines of a binary file that can be read without waiting, at least one and at most `most` at a time: a program
    that writes a line and waits for its answer is not kept waiting for more lines. Raises ValueError as above."""
    rest, begun = b"", 1
    while read := file.read1(2**16):
        *lines, rest = (rest + read).split(b"\n")
        for start in range(0, len(lines), most):
            yield [text_of(line, begun + number) for number, line in enumerate(lines[start : start + most], start)]
        begun += len(lines)
        check_line(rest, begun)
    if rest:
        yield [text_of(rest, begun)]


def text_of(line: bytes, number: int) -> str:
    """Decode a line; a byte order mark before the first is dropped."""
    try:
        return line.removesuffix(b"\r").decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        hint = "; is it UTF-16?" if number == 1 and line[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise ValueError(f"standard input, line {number}: not UTF-8 ({error.reason}){hint}") from None
