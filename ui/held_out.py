"""Held-out texts on which pages evaluate models live: written for this project, never trained on."""

from __future__ import annotations

import csv
from functools import cache
from typing import TYPE_CHECKING

from minibert.text.characters import mostly_cjk
from ui.lesson import LESSONS

if TYPE_CHECKING:
    from minibert.tokenizer import Tokenizer

DATA = LESSONS / "data"
SENTENCES = 160  # enough to separate a head's effect from noise, few enough for a page
STORIES = 40
_SEED = 4_000_037  # of the toy stories; training uses other seeds


def kind_of_text(tokenizer: Tokenizer) -> str:
    """Kind of text this vocabulary is for: "toy" (stories of the toy world), "zh" or "en"."""
    from minibert.toy.world import vocabulary

    if tokenizer.vocab == vocabulary():
        return "toy"
    return "zh" if mostly_cjk(tokenizer.vocab) else "en"


@cache
def toy_stories() -> tuple:
    """STORIES stories of the toy world, with the ground truth for every word."""
    from minibert.toy.world import stories

    return tuple(stories(STORIES, _SEED))


@cache
def texts(kind: str) -> tuple[str, ...]:
    """Texts to evaluate a model on. kind: as returned by `kind_of_text`."""
    if kind == "toy":
        return tuple(story.text for story in toy_stories())
    if kind == "zh":
        return tuple(text for text, _label in reviews(kind))
    lines = (DATA / "documents" / "topics.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line)[:SENTENCES]


@cache
def reviews(kind: str) -> tuple[tuple[str, str], ...]:
    """(text, label) of the dev reviews, which are not trained on; () for "toy"."""
    folder = {"en": "reviews", "zh": "reviews-zh"}.get(kind)
    if folder is None:
        return ()
    with open(DATA / folder / "dev.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return tuple((row.get("sentence") or row["text"], row["label"]) for row in rows)
