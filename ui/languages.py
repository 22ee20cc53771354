"""Which of the two written languages of the course a text is in."""

from itertools import islice

ENOUGH = 2_000  # characters of a text that tell


def language_of(text: str) -> str:
    """ "zh" where most letters are Chinese characters, else "en"."""
    letters = list(islice(filter(str.isalpha, text), ENOUGH))
    return "zh" if sum(map(is_chinese, letters)) * 2 > len(letters) else "en"


def is_chinese(letter: str) -> bool:
    return "\u3400" <= letter <= "\u9fff" or "\U00020000" <= letter <= "\U0003ffff"
