"""Texts per second of `predict`, `evaluate` and `embed`, beside a pipeline of transformers and sentence-transformers.

    python -m bench.answers [--model checkpoints/minilm-en] [--texts 2000] [--threads 1] [--record]

Sentences of lessons/data/reviews, joined to texts of 1 to 16 of them, in no order of length; the same encoder in the
same files, with one head of fixed random weights. float32 on both sides, texts cut at the same length; loading is not
counted. Rounds alternate. many: texts per second of all of them · one: milliseconds of one text alone. `evaluate` is
beside the pipeline and scikit-learn's accuracy, on labels drawn at random: only the time is looked at.
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
from sklearn.metrics import accuracy_score

from bench.machine import arguments, record
from minibert import checkpoint
from minibert.finetune.evaluation import evaluate
from minibert.finetune.predictor import Predictor
from minibert.folders import CHECKPOINTS, LESSONS
from minibert.sentence_vectors.encoder import SentenceEncoder, SentenceVectors
from minibert.tasks import TASKS, Options, TaskData
from minibert.tasks.classification import Example

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
            **classified(options.model, Path(folder, "classifier"), texts),
            "embed": compared(*encoders(options.model, Path(folder, "encoder")), texts, ALONE),
        }
    for name, row in results.items():
        print(f"{name}: {row['ours']:.1f} and {row['theirs']:.1f} texts/s, {row['many']:.2f} times as many;", end=" ")
        if alone := row.get("one ours, ms"):
            print(f"one text {alone:.1f} and {row['one theirs, ms']:.1f} ms;", end=" ")
        print(f"differ by {row['most']:.1e}")
    record(options.record, results)


def joined(count: int) -> list[str]:
    lines = (LESSONS / "data" / "reviews" / "train.tsv").read_text(encoding="utf-8").splitlines()[1:]
    sentences, rng = [line.split("\t")[0] for line in lines], random.Random(0)
    return [" ".join(rng.choices(sentences, k=rng.randint(1, MOST_SENTENCES))) for _ in range(count)]


Answer = Callable[[Sequence[str]], np.ndarray]  # (N, …): probabilities, or vectors; or one score of all


def classified(model: Path, folder: Path, texts: Sequence[str]) -> dict[str, dict[str, float]]:
    task, chosen = TASKS["classification"], Options(max_length=LONGEST)
    torch.manual_seed(0)
    start, data = checkpoint.load(model), task.read(LESSONS / "data" / "reviews" / "dev.tsv")
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
    labels, rng = list(ours.labels), random.Random(1)
    label_of = {text: rng.choice(labels) for text in texts}

    def our_answer(texts: Sequence[str]) -> np.ndarray:
        rows = ours.stream([{"text": text} for text in texts], BATCH, sorted_together=16)
        return np.array([[row["probabilities"][label] for label in labels] for row in rows])

    def their_answer(texts: Sequence[str]) -> np.ndarray:
        scores = [{one["label"]: one["score"] for one in row} for row in theirs(list(texts))]
        return np.array([[row[label] for label in labels] for row in scores])

    def our_score(texts: Sequence[str]) -> np.ndarray:
        return np.array(evaluate(ours, TaskData([Example(text, label_of[text]) for text in texts])).metrics["accuracy"])

    def their_score(texts: Sequence[str]) -> np.ndarray:
        likeliest = their_answer(texts).argmax(1)
        return np.array(accuracy_score([label_of[text] for text in texts], [labels[i] for i in likeliest]))

    return {
        "predict": compared(our_answer, their_answer, texts, ALONE),
        "evaluate": compared(our_score, their_score, texts),
    }


def encoders(model: Path, folder: Path) -> tuple[Answer, Answer]:
    bert = checkpoint.load(model).bert
    SentenceVectors(SentenceEncoder(bert).eval(), checkpoint.load_tokenizer(model), longest=LONGEST).save(folder)
    ours, theirs = SentenceVectors.from_directory(folder), SentenceTransformer(str(folder), device="cpu")
    return ours.embed, lambda texts: theirs.encode(list(texts), batch_size=BATCH, show_progress_bar=False)


def compared(ours: Answer, theirs: Answer, texts: Sequence[str], alone: int = 0) -> dict[str, float]:
    """Medians over the rounds, and the largest difference between both answers. alone: so many texts are given one by
    one as well."""
    sides = {"ours": ours, "theirs": theirs}
    rates: dict[str, list[float]] = {name: [] for name in sides}
    waits: dict[str, list[float]] = {f"one {name}, ms": [] for name in sides}
    most = 0.0
    for _ in range(ROUNDS):
        answers = {}
        for name, answer in sides.items():
            begun = time.perf_counter()
            answers[name] = answer(texts)
            rates[name].append(len(texts) / (time.perf_counter() - begun))
        most = max(most, float(np.abs(answers["ours"] - answers["theirs"]).max()))
        for text in texts[:alone]:
            for name, answer in sides.items():
                begun = time.perf_counter()
                answer([text])
                waits[f"one {name}, ms"].append(1000 * (time.perf_counter() - begun))
    ratios = [a / b for a, b in zip(rates["ours"], rates["theirs"], strict=True)]
    row = {name: round(statistics.median(values), 2) for name, values in (rates | waits).items() if values}
    return row | {"many": round(statistics.median(ratios), 2), "most": most}


if __name__ == "__main__":
    main()
