"""Lines of standard input, one after the other or as they come."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import BinaryIO


def lines_of(options) -> Iterator[str]:
    """The text given, or standard input line by line."""
    if options.text is not None:
        yield options.text
        return
    sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    for number, line in enumerate(sys.stdin):
        yield (line if number else line.removeprefix("\ufeff")).rstrip("\n")


def lines_as_they_come(file: BinaryIO, most: int) -> Iterator[list[str]]:
    """The lines that can be read without waiting, at least one and at most `most` at a time: a program that writes a
    line and waits for its answer is not kept waiting for more lines."""
    rest, first = b"", True
    while read := file.read1(2**16):
        *lines, rest = (rest + read).split(b"\n")
        for start in range(0, len(lines), most):
            batch = enumerate(lines[start : start + most], start)
            yield [text_of(line, first and number == 0) for number, line in batch]
        first = first and not lines
    if rest:
        yield [text_of(rest, first)]


def text_of(line: bytes, first: bool) -> str:
    """first: a byte order mark may stand before it."""
    return line.removesuffix(b"\r").decode("utf-8-sig" if first else "utf-8")
