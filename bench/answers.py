"""Texts per second of `predict` and `embed`, beside transformers' pipeline and sentence-transformers' `encode`.

    python -m bench.answers [--model checkpoints/minilm-en] [--texts 2000] [--threads 1] [--record]

Sentences of lessons/data/reviews, joined to texts of 1 to 16 of them, in no order of length; the same encoder in the
same files, with one head of fixed random weights. float32 on both sides, texts cut at the same length; loading is not
counted. Rounds alternate. many: texts per second of all of them · one: milliseconds of one text alone.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
import transformers
from sentence_transformers import SentenceTransformer

from bench.machine import arguments, record
from minibert import checkpoint
from minibert.finetune.predictor import Predictor
from minibert.folders import CHECKPOINTS, LESSONS
from minibert.sentence_vectors.encoder import SentenceEncoder, SentenceVectors
from minibert.tasks import TASKS, Options

BATCH, MOST_SENTENCES, LONGEST, ALONE, ROUNDS = 32, 16, 256, 20, 3


def main() -> None:
    parser = arguments(__doc__, "answers")
    parser.add_argument("--model", type=Path, default=CHECKPOINTS / "minilm-en")
    parser.add_argument("--texts", type=int, default=2_000)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    texts = joined(options.texts)
    with tempfile.TemporaryDirectory() as folder:
        results = {
            "predict": compared(*classifiers(options.model, Path(folder, "classifier")), texts),
            "embed": compared(*encoders(options.model, Path(folder, "encoder")), texts),
        }
    for name, row in results.items():
        print(f"{name}: {row['ours']:.1f} and {row['theirs']:.1f} texts/s, {row['many']:.2f} times as many;", end=" ")
        print(f"one text {row['one ours, ms']:.1f} and {row['one theirs, ms']:.1f} ms; differ by {row['most']:.1e}")
    record(options.record, results)


def joined(count: int) -> list[str]:
    lines = (LESSONS / "data" / "reviews" / "train.tsv").read_text(encoding="utf-8").splitlines()[1:]
    sentences, rng = [line.split("\t")[0] for line in lines], random.Random(0)
    return [" ".join(rng.choices(sentences, k=rng.randint(1, MOST_SENTENCES))) for _ in range(count)]


Answer = Callable[[Sequence[str]], np.ndarray]  # (N, …): probabilities, or vectors


def classifiers(model: Path, folder: Path) -> tuple[Answer, Answer]:
    task, chosen = TASKS["classification"], Options(max_length=LONGEST)
    torch.manual_seed(0)
    data = task.read(LESSONS / "data" / "reviews" / "dev.tsv")
    start = checkpoint.load(model)
    head = task.head(start.config, task.labels(data), chosen)
    head.bert.load_state_dict(start.bert.state_dict())
    Predictor(head.eval(), checkpoint.load_tokenizer(model), task, chosen).save(folder)
    ours = Predictor.from_directory(folder)
    theirs = transformers.pipeline(
        "text-classification",
        str(folder),
        device="cpu",
        batch_size=BATCH,
        top_k=None,
        truncation=True,
        max_length=LONGEST,
    )
    labels = list(ours.labels)

    def our_answer(texts: Sequence[str]) -> np.ndarray:
        rows = ours.stream([{"text": text} for text in texts], BATCH, sorted_together=16)
        return np.array([[row["probabilities"][label] for label in labels] for row in rows])

    def their_answer(texts: Sequence[str]) -> np.ndarray:
        scores = [{one["label"]: one["score"] for one in row} for row in theirs(list(texts))]
        return np.array([[row[label] for label in labels] for row in scores])

    return our_answer, their_answer


def encoders(model: Path, folder: Path) -> tuple[Answer, Answer]:
    bert = checkpoint.load(model).bert
    SentenceVectors(SentenceEncoder(bert).eval(), checkpoint.load_tokenizer(model), longest=LONGEST).save(folder)
    ours, theirs = SentenceVectors.from_directory(folder), SentenceTransformer(str(folder), device="cpu")
    return ours.embed, lambda texts: theirs.encode(list(texts), batch_size=BATCH, show_progress_bar=False)


def compared(ours: Answer, theirs: Answer, texts: Sequence[str]) -> dict[str, float]:
    """Medians over the rounds, and the largest difference between both answers."""
    sides = {"ours": ours, "theirs": theirs}
    rates: dict[str, list[float]] = {name: [] for name in sides}
    alone: dict[str, list[float]] = {name: [] for name in sides}
    most = 0.0
    for _ in range(ROUNDS):
        answers = {}
        for name, answer in sides.items():
            begun = time.perf_counter()
            answers[name] = answer(texts)
            rates[name].append(len(texts) / (time.perf_counter() - begun))
        most = max(most, float(np.abs(answers["ours"] - answers["theirs"]).max()))
        for text in texts[:ALONE]:
            for name, answer in sides.items():
                begun = time.perf_counter()
                answer([text])
                alone[name].append(1000 * (time.perf_counter() - begun))
    many, one = ({name: statistics.median(values) for name, values in them.items()} for them in (rates, alone))
    ratios = [a / b for a, b in zip(rates["ours"], rates["theirs"], strict=True)]
    row = {**many, "many": statistics.median(ratios), "one ours, ms": one["ours"], "one theirs, ms": one["theirs"]}
    return {name: round(value, 2) for name, value in row.items()} | {"most": most}


if __name__ == "__main__":
    main()
