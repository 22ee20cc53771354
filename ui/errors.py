"""Errors of `minibert` and `jobs` in the reader's language; those packages know only English.

The catalogue has what they say as templates, such as `{0}, line {1}: {why2}` (`bench.translations`). A text is read by
the template that explains most of it. A part named `why` is read in turn; any other is a value and stays as it is.
"""

import re
from functools import cache, lru_cache
from pathlib import Path

from ui import translations
from ui.translations import DEFAULT, _, in_context

LONGEST = 800  # characters; what is longer quotes a file at length, and stays as it is
PART = re.compile(r"\{(\w+)\}")


def translated(error: object) -> str:
    """The error's text in this session's language. It is plain text, and may hold what a user has written."""
    text, lang = str(error), translations.language()
    return text if lang == DEFAULT or len(text) > LONGEST else _read(text, lang, translations.LOCALE)[1]


@lru_cache(maxsize=1_000)
def _read(text: str, lang: str, locale: Path) -> tuple[int, str]:
    """(how many of its characters no template has, the text in that language)."""
    best = len(text), text
    for literals, names, words in _templates(lang, locale):
        if (values := _between(literals, text)) is not None:
            parts = {
                name: _read(value, lang, locale) if name.startswith("why") else (len(value), value)
                for name, value in zip(names, values, strict=True)
            }
            left = sum(rest for rest, _value in parts.values())
            if left < best[0]:
                best = left, PART.sub(lambda part, parts=parts: parts[part[1]][1], words)
    for separator, mark in {": ": _(": "), "; ": _("; ")}.items():  # an error behind a file's name, or another error
        head, found, tail = text.partition(separator)
        if found:
            sides = _read(head, lang, locale), _read(tail, lang, locale)
            left = sides[0][0] + len(separator) + sides[1][0]
            if left < best[0]:
                best = left, f"{sides[0][1]}{mark}{sides[1][1]}"
    return best


def _between(literals: list[str], text: str) -> list[str] | None:
    """What stands between the literals in the text, from its beginning to its end; None if they do not."""
    if len(literals) == 1:
        return [] if text == literals[0] else None
    first, *others, last = literals
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return None
    values, rest = [], text[len(first) : len(text) - len(last)]
    for one in others:
        value, found, rest = rest.partition(one)
        if not found:
            return None
        values.append(value)
    return [*values, rest]


@cache
def _templates(lang: str, locale: Path) -> list[tuple[list[str], list[str], str]]:
    """(literals, names of the parts between, translation) of each; `(s)` stands for an s or for nothing."""
    every = [(english.replace("(s)", s), words) for english, words in in_context("an error").items() for s in ("s", "")]
    return [(PART.split(english)[::2], PART.findall(english), words) for english, words in dict.fromkeys(every)]
