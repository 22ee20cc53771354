"""A vocabulary that spells: one piece a letter, for tests that need tokens but not what they mean."""

from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer

LETTERS = [chr(97 + i) for i in range(26)]


def spelling_tokenizer() -> Tokenizer:
    return Tokenizer([*SPECIAL_TOKENS, *LETTERS, *("##" + letter for letter in LETTERS), *".,!?"])
