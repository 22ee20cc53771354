"""The text of tasks without labels, for pre-training: `python -m bench.unlabelled $MINIBERT_DATA/tasks/zh OUT`.

Only training parts are read, never a part used for evaluation: the reviews of ChnSentiCorp's train.tsv, the questions
of LCQMC's dev.txt (its training part here), the sentences of People's Daily's train.txt, the passages of CMRC's dev
file. One text file per task, one sentence per line, a blank line between documents, as `python -m minibert pretrain`
reads it.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

SENTENCE = re.compile(r"[^。！？!?…\n]+[。！？!?…]*[”」』）)]*")
TOGETHER = 10  # unrelated lines per document


def reviews(folder: Path) -> Iterator[list[str]]:
    with open(folder / "chnsenticorp" / "train.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield sentences(row["text_a"])


def questions(folder: Path) -> Iterator[list[str]]:
    """Shuffled, so that the order does not reveal which two were a pair."""
    lines = (folder / "lcqmc" / "dev.txt").read_text(encoding="utf-8").splitlines()
    found = sorted({question.strip() for line in lines for question in line.split("\t")[:2]})
    random.Random(0).shuffle(found)
    yield from by(TOGETHER, found)


def news(folder: Path) -> Iterator[list[str]]:
    text = (folder / "peopledaily_ner" / "train.txt").read_text(encoding="utf-8")
    blocks = [block.splitlines() for block in re.split(r"\n\s*\n", text) if block.strip()]
    yield from by(TOGETHER, ["".join(line.split()[0] for line in block) for block in blocks])


def passages(folder: Path) -> Iterator[list[str]]:
    for article in json.loads((folder / "cmrc2018" / "cmrc2018_dev.json").read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            yield sentences(paragraph["context"])


def sentences(text: str) -> list[str]:
    return [found.strip() for found in SENTENCE.findall(text) if found.strip()]


def by(size: int, lines: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(lines), size):
        yield list(lines[start : start + size])


SOURCES = {"reviews": reviews, "questions": questions, "news": news, "passages": passages}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", type=Path, help="the folder tasks/zh")
    parser.add_argument("out", type=Path, help="folder for the texts")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, read in SOURCES.items():
        documents = [lines for lines in read(options.tasks) if lines]
        text = "\n\n".join("\n".join(lines) for lines in documents) + "\n"
        (options.out / f"{name}.txt").write_text(text, encoding="utf-8")
        print(f"{name}: {len(documents):,} documents, {len(text):,} characters")


if __name__ == "__main__":
    main()
