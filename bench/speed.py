"""How fast does minibert train and answer, beside `transformers`, at equal shape and precision?

    python -m bench.speed [--rounds 5] [--record NAME]

Both sides: the same random full-length batches, 15 % of positions labelled, MLM + NSP loss, bfloat16 autocast where the
processor has it, fused AdamW, no dropout; `transformers` with its SDPA attention. Rounds alternate, so drift of the
machine hits both alike; the ratio is taken round by round and its median printed.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
import transformers

from bench.machine import description, record
from minibert.config import BertConfig
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.train import Optimization, autocast, best_device, optimizer_for

SHAPES = {
    "tiny": BertConfig.preset("tiny", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0),
    "mini": BertConfig.preset("mini", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0),
    "mini, V 8192": BertConfig.preset(
        "mini", vocab_size=8192, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    ),
}


def make_batch(config: BertConfig, rows: int, length: int) -> Batch:
    rng = torch.Generator().manual_seed(0)
    ids = torch.randint(config.vocab_size, (rows, length), generator=rng)
    asked = torch.rand(rows, length, generator=rng).argsort(1) < round(0.15 * length)
    return Batch(
        ids,
        segments=(torch.arange(length) >= length // 2).long().expand(rows, -1).contiguous(),
        labels=torch.where(asked, ids, IGNORE),
        next_labels=torch.arange(rows) % 2,
    ).to(best_device())


class Ours:
    name = "minibert"

    def __init__(self, config: BertConfig):
        self.model = BertForPreTraining(config).to(best_device())
        self.optimizer = optimizer_for(self.model, Optimization())

    def loss(self, batch: Batch):
        return self.model(batch).loss

    def answer(self, batch: Batch):
        return self.model(Batch(batch.ids, batch.segments)).mlm_logits


class Theirs:
    name = "transformers"

    def __init__(self, config: BertConfig):
        theirs = transformers.BertConfig(**config.as_dict(), attn_implementation="sdpa")
        self.model = transformers.BertForPreTraining(theirs).to(best_device())
        self.optimizer = optimizer_for(self.model, Optimization())

    def loss(self, batch: Batch):
        return self.model(
            input_ids=batch.ids,
            token_type_ids=batch.segments,
            labels=batch.labels,
            next_sentence_label=batch.next_labels,
        ).loss

    def answer(self, batch: Batch):
        return self.model(input_ids=batch.ids, token_type_ids=batch.segments).prediction_logits


def finish() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def train_seconds(side, batch: Batch, steps: int) -> float:
    side.model.train()
    finish()
    started = time.perf_counter()
    for _ in range(steps):
        with autocast(batch.ids.device):
            loss = side.loss(batch)
        loss.backward()
        side.optimizer.step()
        side.optimizer.zero_grad(set_to_none=True)
    finish()
    return time.perf_counter() - started


@torch.no_grad()
def infer_seconds(side, batch: Batch, steps: int) -> float:
    side.model.eval()
    finish()
    started = time.perf_counter()
    for _ in range(steps):
        with autocast(batch.ids.device):
            side.answer(batch)
    finish()
    return time.perf_counter() - started


def compare(config: BertConfig, rows: int, length: int, rounds: int, steps: int) -> dict:
    batch = make_batch(config, rows, length)
    sides = [Ours(config), Theirs(config)]
    result: dict = {"rows": rows, "length": length}
    for task, measure in (("training", train_seconds), ("inference", infer_seconds)):
        speeds: dict[str, list[float]] = {side.name: [] for side in sides}
        for side in sides:
            measure(side, batch, 1)  # warm-up
        for _ in range(rounds):
            for side in sides:
                speeds[side.name].append(steps * rows * length / measure(side, batch, steps))
        ratios = [a / b for a, b in zip(speeds["minibert"], speeds["transformers"], strict=True)]
        result[task] = {
            **{f"{name} tokens/s": round(statistics.median(values)) for name, values in speeds.items()},
            "ratio": round(statistics.median(ratios), 2),
            "ratio min": round(min(ratios), 2),
            "ratio max": round(max(ratios), 2),
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3, help="steps a round")
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--record", metavar="NAME", help="write bench/results/NAME.json")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    print(" · ".join(f"{key} {value}" for key, value in description().items()))
    results = {}
    for name, config in SHAPES.items():
        results[name] = compare(config, options.rows, options.length, options.rounds, options.steps)
        for task in ("training", "inference"):
            row = results[name][task]
            print(
                f"{name:13} {task:10} minibert {row['minibert tokens/s']:>8,} tokens/s · transformers "
                f"{row['transformers tokens/s']:>8,} · ratio {row['ratio']} ({row['ratio min']}–{row['ratio max']})",
                flush=True,
            )
    if options.record:
        print("recorded", record(options.record, results))


if __name__ == "__main__":
    main()
