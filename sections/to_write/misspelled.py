"""The corrector's training text: the toy world's stories, or the course's own Chinese sentences."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from minibert.folders import CHECKPOINTS
from minibert.text.json_values import json_object
from ui.lesson import LESSONS

ZH = "mini-zh"
LONGEST = 36  # most characters of a sentence


def chinese_sentences() -> list[str]:
    """Distinct sentences of the course's Chinese data sets, in a fixed shuffled order."""
    data = LESSONS / "data"
    lines = (data / "reviews-zh" / "train.tsv").read_text(encoding="utf-8").splitlines()[1:]
    texts = [line.split("\t")[0] for line in lines]
    for block in (data / "words-zh" / "sentences.txt").read_text(encoding="utf-8").split("\n\n"):
        texts.append("".join(line.split()[0] for line in block.splitlines() if line.split()))
    for name in ("train.json", "dev.json"):
        for one in json_object(data / "questions-zh" / name)["data"]:
            for paragraph in one["paragraphs"]:
                texts += [paragraph["context"], *(each["question"] for each in paragraph["qas"])]
    cut = [part for text in texts for part in re.findall(r"[^。！？\n]+[。！？]?", text)]
    found = list(dict.fromkeys(part.strip() for part in cut if 4 <= len(part.strip()) <= LONGEST))
    return sorted(found, key=lambda text: (sum(map(ord, text)) * 2_654_435_761) % 2**32)


def start(language: str) -> Path:
    """The BERT to begin with."""
    return CHECKPOINTS / ZH if language == "zh" else CHECKPOINTS / "unilm-toy" / "bert"


def material(language: str) -> Mapping[str, Sequence[str] | Mapping[str, Sequence[str]]]:
    """Arguments of `train_corrector` besides its settings."""
    if language != "zh":
        return {}
    from minibert.masking.misspelling import read_confusions

    return {"sentences": chinese_sentences(), "alike": read_confusions(LESSONS / "to_write" / "alike.zh.tsv")}
