"""Reviews in which one sentence, the first or the last, judges, and the others are neutral: they show what truncation
loses (lessons/data/verdicts)."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

from minibert.folders import LESSONS

AROUND = (4, 9)  # sentences beside the verdict, at least and at most
AT_END = 0.7  # the share of reviews whose verdict comes last
COPIES = {"train": 5, "dev": 5}  # reviews with the same verdict, among other sentences
COLUMNS = ("sentence", "label", "place", "title", "reply")


def verdict_rows(parts: Path, part: str, seed: int = 0) -> list[tuple[str, str, str, str, str]]:
    """The rows of train.tsv or dev.tsv under COLUMNS. parts: the file of sentences."""
    pools = tomllib.loads(parts.read_text(encoding="utf-8"))
    own, fields = pools[part], pools["fields"]
    rng = random.Random(f"{part} {seed}")
    rows = []
    for label in ("positive", "negative"):
        for verdict in own[label] * COPIES[part]:
            around = rng.sample(own["around"], rng.randint(*AROUND))
            place = "last" if rng.random() < AT_END else "first"
            sentences = [*around, verdict] if place == "last" else [verdict, *around]
            rows.append(
                (" ".join(sentences), label, place, rng.choice(fields["titles"]), rng.choice(fields["replies"]))
            )
    rng.shuffle(rows)
    return rows


def write(folder: Path) -> None:
    """Write train.tsv and dev.tsv beside parts.toml."""
    for part in COPIES:
        rows = [COLUMNS, *verdict_rows(folder / "parts.toml", part)]
        (folder / f"{part}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    write(LESSONS / "data" / "verdicts")
