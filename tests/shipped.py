"""A small set of our own for each task."""

from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "lessons" / "data"
SETS = {
    "classification": "reviews/dev.tsv",
    "pair": "pairs/dev.tsv",
    "similarity": "similarity/dev.tsv",
    "multilabel": "emotions/dev.tsv",
    "tagging": "entities/dev.txt",
    "span": "questions/dev.json",
    "span-or-none": "questions-or-none/dev.json",
    "choice": "choices/dev.csv",
    "intent": "intents/dev.md",
    "next-utterance": "dialogues/dev.txt",
}
