"""JSON lines, an object a line, read as the table of their fields: SNLI, what `datasets` and pandas write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from minibert.text.json_values import JsonError, json_value

LONGEST_LINE = 2**22  # characters looked at; SQuAD's single line may have a hundred million


def is_json_lines(text: str) -> bool:
    """Whether the first line is a whole JSON object, and not SQuAD's, which is all in one."""
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start, start + LONGEST_LINE)
    line = text[start : start + LONGEST_LINE] if end < 0 else text[start:end]
    try:
        return line.startswith("{") and "data" not in json_value(line)
    except JsonError:
        return False


def object_rows(text: str, problem: Callable[[int, str], None]) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of every line, the first object's keys as a header before them.

    A missing field and null are an empty cell; a list or an object is a cell with its JSON. problem(line number,
    reason): called for a line that is no object or has other fields than the first, which is left out.
    """
    header: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values = json_value(line)
        except JsonError as error:
            problem(number, str(error))
            continue
        if not header and isinstance(values, dict):
            header = list(values)
            yield number, header
        if not isinstance(values, dict):
            problem(number, "no JSON object, as on the lines before")
        elif unknown := sorted(values.keys() - set(header)):
            problem(number, f"the first line has no field {', '.join(map(repr, unknown))}")
        else:
            yield number, [cell(values.get(name)) for name in header]


def cell(value: Any) -> str:
    """A value as the text of a cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
