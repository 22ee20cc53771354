"""What English example sentences mean, those of the toy world above all, for readers in another language."""

import tomllib
from functools import cache

from minibert.folders import LESSONS
from ui.translations import language


def meaning(text: str) -> str:
    """The meaning of an English example sentence in this session’s language; "" of any other text."""
    return _meanings(language()).get(text, "")


@cache
def _meanings(lang: str) -> dict[str, str]:
    path = LESSONS / f"toy_sentences.{lang}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
