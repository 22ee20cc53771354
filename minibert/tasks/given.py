"""A user's input for a fine-tuned model: texts or JSON objects, and their JSON Schema."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any


def text_given(given: Any, *names: str) -> list[str]:
    """The texts called `names` of an input: an object with these keys, a list of as many, or (one name) a text."""
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


def texts_listed(given: Any) -> bool:
    """Whether it is a list of texts."""
    return isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(one, str) for one in given)


def extra_given(given: Any) -> dict[str, str]:
    """All fields of an input object, as strings; {} for any other input."""
    return {k: str(v) for k, v in given.items()} if isinstance(given, Mapping) else {}


def input_key(given: Any) -> str:
    """A short hash that identifies an input."""
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:16]


# --- JSON Schema ------------------------------------------------------------------------------------------------------


def any_text(most: int) -> dict:
    """A text of at most `most` characters."""
    return {"type": "string", "maxLength": most}


def some_text(most: int) -> dict:
    """A text that is not blank."""
    return {**any_text(most), "pattern": r"\S"}


def fields(required: Mapping[str, dict], columns: Sequence[str] = (), **optional: dict) -> dict:
    """An object with these fields and no others. columns: further optional fields, text or number."""
    beside = {name: {"type": ["string", "number"]} for name in columns}
    properties = {**beside, **required, **optional}
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}
