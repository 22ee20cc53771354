"""Detects whether a text is English or Chinese."""

from itertools import islice

ENOUGH = 2_000  # letters of a text that are examined


def language_of(text: str) -> str:
    """ "zh" if most letters are Chinese characters, else "en"."""
    letters = list(islice(filter(str.isalpha, text), ENOUGH))
    return "zh" if sum(map(is_chinese, letters)) * 2 > len(letters) else "en"


def is_chinese(letter: str) -> bool:
    return "\u3400" <= letter <= "\u9fff" or "\U00020000" <= letter <= "\U0003ffff"
