"""How BERT treats one character: dropped, space, CJK, punctuation or accent; its decomposition and lower case.

The reference is `tokenizers` 0.23, which mixes three versions of Unicode: general categories of version 8,
decomposition and combining classes of version 9, lower case of version 17. Python has one version for all (3.11:
Unicode 14). The tables below hold only the differences, for Python's tables up to Unicode 18; a test compares every
code point.
"""

import unicodedata
from bisect import bisect
from collections.abc import Iterable
from functools import lru_cache
from math import inf

# Marks, punctuation and format characters newer than Unicode 8. Ranges are joined across letters and unassigned code
# points, for which "unassigned" changes nothing.
YOUNGER_THAN_8 = [
    *[(0x05C8, 0x05C9), (0x061D, 0x061D), (0x07FD, 0x07FD), (0x0890, 0x08E2), (0x09FD, 0x09FE), (0x0A76, 0x0A76)],
    *[(0x0AFA, 0x0AFF), (0x0B53, 0x0B55), (0x0C04, 0x0C3C), (0x0C77, 0x0C77), (0x0C84, 0x0C84), (0x0D00, 0x0D00)],
    *[(0x0D3B, 0x0D3C), (0x0D81, 0x0D81), (0x0EBA, 0x0EBA), (0x0ECE, 0x0ECE), (0x1715, 0x1715), (0x180F, 0x1886)],
    *[(0x1ABF, 0x1AF0), (0x1B4E, 0x1B4F), (0x1B7D, 0x1B7F), (0x1DF6, 0x1DFB), (0x2E43, 0x2E63), (0xA82C, 0xA82C)],
    *[(0xA8C5, 0xA8C5), (0xA8FF, 0xA8FF), (0xA9BD, 0xA9BD), (0x105C9, 0x105E4), (0x10D24, 0x10F89)],
    *[(0x11070, 0x11074), (0x110C2, 0x110CD), (0x111CF, 0x111CF), (0x1123E, 0x11241), (0x1133B, 0x1133B)],
    *[(0x11383, 0x1145E), (0x11660, 0x1166C), (0x116B9, 0x116B9), (0x1182F, 0x11FFF), (0x12FF1, 0x1612F)],
    *[(0x16D68, 0x16F4F), (0x16FE2, 0x16FF1), (0x1CF00, 0x1D128), (0x1D250, 0x1D281), (0x1E000, 0x1E6F5)],
    *[(0x1E944, 0x1E95F)],
]
# Those of them that came with Unicode 9: they are reordered like marks, but do not count as marks.
NEW_IN_9 = [
    *[(0x08D4, 0x08E1), (0x1DFB, 0x1DFB), (0x11442, 0x11442), (0x11446, 0x11446), (0x11C3F, 0x11C3F)],
    *[(0x1E000, 0x1E02A), (0x1E944, 0x1E94A)],
]
# Characters whose category has changed since Unicode 8.
CATEGORY_IN_8 = {"\u166d": "Po", "\u1734": "Mn", "\U000111c9": "Po", "\U0001171e": "Mn"}
# Capitals of Unicode 15 to 17: first, last, distance to the lower-case letter.
YOUNG_CAPITALS = [
    *[(0x1C89, 0x1C89, 1), (0xA7CB, 0xA7CB, 0x264 - 0xA7CB), (0xA7CC, 0xA7CC, 1), (0xA7CE, 0xA7CE, 1)],
    *[(0xA7D2, 0xA7D2, 1), (0xA7D4, 0xA7D4, 1), (0xA7DA, 0xA7DA, 1), (0xA7DC, 0xA7DC, 0x19B - 0xA7DC)],
    *[(0x10D50, 0x10D65, 32), (0x16EA0, 0x16EB8, 27)],
]
# The blocks of Chinese characters, with the one deviation of `tokenizers`: it begins the fifth range 0x100 too late.
CJK = [
    *[(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2B81F)],
    *[(0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F)],
]
cached = lru_cache(maxsize=2**16)  # texts repeat their characters; Unicode is too large to keep all of it


def within(ranges: list[tuple], character: str) -> tuple | None:
    """The range that holds the character, if one does. ranges: (first, last, …) code points, ascending."""
    found = ranges[bisect(ranges, (ord(character), inf)) - 1]
    return found if found[0] <= ord(character) <= found[1] else None


@cached
def category(character: str) -> str:
    """General category, e.g. "Lu", as of Unicode 8."""
    if character in CATEGORY_IN_8:
        return CATEGORY_IN_8[character]
    return "Cn" if within(YOUNGER_THAN_8, character) else unicodedata.category(character)


@cached
def cleaned(character: str) -> str:
    """What cleaning leaves of a character: itself, a plain space for any space, or nothing."""
    return "" if why_dropped(character) else " " if is_space(character) else character


def is_space(character: str) -> bool:
    """Tab, line feed, carriage return, or a separator of any kind."""
    return character in "\t\n\r" or category(character).startswith("Z")


def why_dropped(character: str) -> str | None:
    """The kind of character that cleaning removes, in words; None for one that may stay."""
    if character in "\t\n\r":
        return None
    if character == "\0":
        return "the null character"
    if character == "\ufffd":
        return "the mark of an undecodable byte"
    match category(character):
        case "Cc":
            return "a control character"
        case "Cf":
            return "a format character"
        case "Co":
            return "a private-use character"
        case "Cs":
            return "half of a surrogate pair"
    return None


@cached
def is_cjk(character: str) -> bool:
    """Whether it is a Chinese character, which is a word of its own (kana and Hangul are not)."""
    return within(CJK, character) is not None


def mostly_cjk(vocab: Iterable[str]) -> bool:
    """Whether a vocabulary is made for Chinese: at least a quarter of its entries are single Chinese characters."""
    entries = list(vocab)
    return sum(len(entry) == 1 and is_cjk(entry) for entry in entries) * 4 >= max(len(entries), 1)


@cached
def is_punctuation(character: str) -> bool:
    """Category P, or any other ASCII sign that is neither letter, digit, space nor control: $ + < = > ^ ` | ~."""
    return category(character).startswith("P") or ("!" <= character <= "~" and not character.isalnum())


@cached
def is_mark(character: str) -> bool:
    """A nonspacing mark (an accent by itself), dropped by uncased models."""
    return category(character) == "Mn"


@cached
def decomposed(character: str) -> str:
    """Canonical decomposition (NFD) as of Unicode 9: é → e + U+0301, 한 → ㅎ + ㅏ + ㄴ."""
    return character if within(YOUNGER_THAN_8, character) else unicodedata.normalize("NFD", character)


@cached
def combining_class(character: str) -> int:
    """Canonical combining class as of Unicode 9: 0 for base characters; marks are put in ascending order of it."""
    unknown = within(YOUNGER_THAN_8, character) and not within(NEW_IN_9, character)
    return 0 if unknown else unicodedata.combining(character)


@cached
def is_plain(character: str) -> bool:
    """Whether there is nothing to decompose, to reorder or to drop, as for nearly every character."""
    return decomposed(character) == character and not combining_class(character) and not is_mark(character)


@cached
def lower(character: str) -> str:
    """Lower case without regard to neighbours: Σ is σ also at a word's end."""
    young = within(YOUNG_CAPITALS, character)
    return chr(ord(character) + young[2]) if young else character.lower()
