"""JSON written elsewhere: a value of the expected form, or a ValueError of one sentence.

All JSON from outside is parsed here: files, lines, requests, links.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

DEEPEST = 100  # nested lists and objects; the project's own files need ten
LARGEST_FILE = 100 * 2**20  # bytes
SURROGATE, SURROGATE_BYTES = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]"), re.compile(rb"\\u[dD][89a-fA-F]")


class JsonError(ValueError):
    """What is wrong with the text. line: from 1; None where no one line is at fault."""

    def __init__(self, why: str, line: int | None = None):
        super().__init__(why)
        self.line = line


def json_value(text: str | bytes) -> Any:
    """Parse the text. Raises JsonError if it is not JSON, is nested deeper than DEEPEST, or holds half of a surrogate
    pair, which JSON allows but UTF-8 cannot encode."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        why = f"{error.msg} (line {error.lineno}, column {error.colno})"
        raise JsonError(f"not JSON: {why}", error.lineno) from None
    except UnicodeDecodeError as error:
        raise JsonError(f"not JSON: not UTF-8 ({error.reason})") from None
    except RecursionError:
        raise JsonError(f"not JSON that can be read: nested more than {DEEPEST} deep") from None
    except ValueError:  # more digits than Python converts
        raise JsonError("not JSON that can be read: a number of thousands of digits") from None
    if deeper_than(DEEPEST, value):
        raise JsonError(f"not JSON that can be read: nested more than {DEEPEST} deep")
    if SURROGATE.search(text) if isinstance(text, str) else SURROGATE_BYTES.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            raise JsonError(f"it holds {half!r}, half of a surrogate pair, which is no character") from None
    return value


def deeper_than(most: int, value: Any) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(most):
        if not level:
            return False
        inside = (one.values() if isinstance(one, dict) else one for one in level)
        level = [one for values in inside for one in values if isinstance(one, dict | list)]
    return bool(level)


def json_object(path: str | Path) -> dict[str, Any]:
    """The object in a JSON file. Raises ValueError naming the file."""
    path = Path(path)
    try:
        if (size := path.stat().st_size) > LARGEST_FILE:
            raise ValueError(f"{path} has {size / 2**20:.0f} MB; at most {LARGEST_FILE / 2**20:.0f} MB can be read")
        value = json_value(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from None
    except JsonError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path}: not a JSON object")
    return value


def check_kinds(values: Mapping[str, Any], kinds: Mapping[str, Any]) -> None:
    """Raise ValueError where a value is not of the type that `kinds`, annotations by name, has for it."""
    for name in values.keys() & kinds.keys():
        if not fits(values[name], kinds[name]):
            raise ValueError(f"{name} must be {called(kinds[name])}, not {short(values[name])}")


def fits(value: Any, kind: Any) -> bool:
    """Whether a value that JSON can hold is of an annotated type; a list may stand for a tuple."""
    origin, inside = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inside)
    if origin in (list, tuple):
        return isinstance(value, list | tuple) and all(fits(one, inside[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits(one, inside[1]) for one in value.values())
    if kind is float:
        largest = sys.float_info.max  # integers in JSON can exceed it
        return isinstance(value, int | float) and not isinstance(value, bool) and -largest <= value <= largest
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def called(kind: Any) -> str:
    """An annotated type in words: `list[str]` → a list (each a text)."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(map(called, inside))
    if origin in (list, tuple):
        return f"a list (each {called(inside[0])})"
    if origin is dict:
        return "an object" if inside[1] is Any else f"an object (each value {called(inside[1])})"
    names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", NoneType: "null"}
    return names.get(kind, str(kind))


def short(value: Any, most: int = 60) -> str:
    """A value as JSON, cut after `most` characters."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= most else f"{text[:most]}…"
