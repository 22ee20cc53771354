"""How fast does minibert train and predict, beside `transformers`, at equal shape and precision?

    python -m bench.speed [--rounds 5] [--data FILES] [--record NAME]

Both sides: MLM + NSP loss at 15 % of the positions, bfloat16 autocast where it is faster, fused AdamW, no dropout;
`transformers` with its SDPA attention. Rounds alternate, so that drift of the machine affects both alike; the ratio is
computed per round and its median printed.

training, inference: the same random full-length batches for both. Beside training, the machine's own limit: the
matrix products of minibert's step alone, at the same precision in the same rounds, and the share of it that the step
reaches.
documents: from text to step, on the same sentence pairs of the same documents. minibert makes the pairs, sorts them
into batches and masks them on the fly; `transformers` gets them ready and shuffled, and its data collator pads and
masks. Speeds count real tokens, not padding.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import torch
import transformers

from bench.machine import arguments, description, record
from minibert.checkpoint import load_tokenizer
from minibert.command_line.arguments import DATA, in_data_folder
from minibert.config import BertConfig
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.pretrain import learn_tokenizer
from minibert.text.batches import PretrainingBatches
from minibert.text.documents import read_documents
from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer
from minibert.train import Optimization, optimizer_for
from minibert.training.precision import autocast, best_device, has_bfloat16

DOCUMENTS = 1_000  # number of documents used
SHARE = "share of the products"
SHIPPED = Path("checkpoints/mini-en")

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
    target_mask = torch.rand(rows, length, generator=rng).argsort(1) < round(0.15 * length)
    return Batch(
        ids,
        segments=(torch.arange(length) >= length // 2).long().expand(rows, -1).contiguous(),
        labels=torch.where(target_mask, ids, IGNORE),
        next_labels=torch.arange(rows) % 2,
    ).to(best_device())


class Minibert:
    name = "minibert"

    def __init__(self, config: BertConfig):
        self.model = BertForPreTraining(config).to(best_device())
        self.optimizer = optimizer_for(self.model, Optimization())

    def loss(self, batch: Batch):
        return self.model(batch).loss

    def answer(self, batch: Batch):
        return self.model(Batch(batch.ids, batch.segments)).mlm_logits

    def batches(self, store: TokenStore, tokenizer: Tokenizer, rows: int, length: int) -> Iterator[Batch]:
        return iter(PretrainingBatches(store, tokenizer, batch_size=rows, max_length=length, seed=0))


class Transformers:
    name = "transformers"

    def __init__(self, config: BertConfig):
        theirs = transformers.BertConfig(**config.as_dict(), attn_implementation="sdpa")
        self.model = transformers.BertForPreTraining(theirs).to(best_device())
        self.optimizer = optimizer_for(self.model, Optimization())

    def loss(self, batch: Batch):
        return self.model(
            input_ids=batch.ids,
            attention_mask=batch.padding,
            token_type_ids=batch.segments,
            labels=batch.labels,
            next_sentence_label=batch.next_labels,
        ).loss

    def answer(self, batch: Batch):
        return self.model(input_ids=batch.ids, token_type_ids=batch.segments).prediction_logits

    def batches(self, store: TokenStore, tokenizer: Tokenizer, rows: int, length: int) -> Iterator[Batch]:
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(folder)
            theirs = transformers.AutoTokenizer.from_pretrained(folder)
        ours = PretrainingBatches(store, tokenizer, batch_size=rows, max_length=length, seed=0)
        pairs = ours.rows_of(list(range(len(store))), np.random.default_rng(0))
        examples = [
            {
                "input_ids": [tokenizer.cls_id, *pair.a, tokenizer.sep_id, *pair.b, tokenizer.sep_id],
                "token_type_ids": [0] * (len(pair.a) + 2) + [1] * (len(pair.b) + 1),
                "next_sentence_label": pair.next_label,
            }
            for pair in pairs
        ]
        collate = transformers.DataCollatorForLanguageModeling(theirs, mlm_probability=0.15)
        while True:
            for batch in torch.utils.data.DataLoader(examples, rows, shuffle=True, collate_fn=collate):
                mask = batch["attention_mask"].bool()
                parts = (batch["input_ids"], batch["token_type_ids"], mask, batch["labels"])
                yield Batch(*parts, batch["next_sentence_label"])


class MatrixProducts:
    """The products of one training step and nothing else: each is computed once forward and twice backward."""

    name = "products alone"

    def __init__(self, config: BertConfig, batch: Batch):
        tokens, hidden, wide = batch.ids.numel(), config.hidden_size, config.intermediate_size
        layers, heads = config.num_hidden_layers, config.num_attention_heads
        length, rows = batch.ids.size(1), len(batch.ids) * heads
        shapes = [
            (4 * layers, (tokens, hidden), (hidden, hidden)),  # query, key, value, output
            (layers, (tokens, hidden), (hidden, wide)),
            (layers, (tokens, wide), (wide, hidden)),
            (layers, (rows, length, hidden // heads), (rows, hidden // heads, length)),  # scores
            (layers, (rows, length, length), (rows, length, hidden // heads)),  # mix
            (1, (batch.num_targets, hidden), (hidden, hidden)),
            (1, (batch.num_targets, hidden), (hidden, config.vocab_size)),
        ]
        device = best_device()
        kind = {"device": device, "dtype": torch.bfloat16 if has_bfloat16(device) else torch.float32}
        self.products = [(times, torch.randn(a, **kind), torch.randn(b, **kind)) for times, a, b in shapes]

    def multiply(self) -> None:
        for times, a, b in self.products:
            for _ in range(times):
                gradient = a @ b
                gradient @ b.mT
                a.mT @ gradient


def finish() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def step(side, batch: Batch) -> None:
    with autocast(batch.ids.device):
        loss = side.loss(batch)
    loss.backward()
    side.optimizer.step()
    side.optimizer.zero_grad(set_to_none=True)


def train_seconds(side, batch: Batch, steps: int) -> float:
    side.model.train()
    finish()
    started = time.perf_counter()
    for _ in range(steps):
        step(side, batch)
    finish()
    return time.perf_counter() - started


def product_seconds(products: MatrixProducts, steps: int) -> float:
    finish()
    started = time.perf_counter()
    for _ in range(steps):
        products.multiply()
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


def document_speed(side, batches: Iterator[Batch], steps: int) -> float:
    """Real tokens per second, including the making of batches."""
    side.model.train()
    finish()
    started, tokens = time.perf_counter(), 0
    for batch in islice(batches, steps):
        tokens += batch.tokens
        step(side, batch.to(best_device()))
    finish()
    return tokens / (time.perf_counter() - started)


def compare(config: BertConfig, rows: int, length: int, rounds: int, steps: int, data: list[Path]) -> dict:
    batch = make_batch(config, rows, length)
    sides = [Minibert(config), Transformers(config)]
    result: dict = {"rows": rows, "length": length}
    products = MatrixProducts(config, batch)
    product_seconds(products, 1)  # warm-up
    for task, measure in (("training", train_seconds), ("inference", infer_seconds)):
        for side in sides:
            measure(side, batch, 1)  # warm-up

        def speed(side, measure=measure) -> float:
            seconds = product_seconds(side, steps) if side is products else measure(side, batch, steps)
            return steps * rows * length / seconds

        result[task] = in_turn([*sides, products] if task == "training" else sides, rounds, speed)
    if data:
        store, tokenizer = corpus(data, config.vocab_size)
        streams = {side.name: side.batches(store, tokenizer, rows, length) for side in sides}
        for side in sides:
            document_speed(side, streams[side.name], 1)
        # More steps, because batches differ in length here.
        result["documents"] = in_turn(sides, rounds, lambda side: document_speed(side, streams[side.name], 4 * steps))
    return result


def in_turn(sides: list, rounds: int, speed) -> dict:
    """Median tokens per second of each side, median, minimum and maximum of the ratios per round, and the median share
    of the limit, where one is measured."""
    speeds: dict[str, list[float]] = {side.name: [] for side in sides}
    for _ in range(rounds):
        for side in sides:
            speeds[side.name].append(speed(side))
    ratios = [a / b for a, b in zip(speeds["minibert"], speeds["transformers"], strict=True)]
    limits = speeds.get(MatrixProducts.name, [])
    shares = [a / b for a, b in zip(speeds["minibert"], limits, strict=False)]
    return {
        **{f"{name} tokens/s": round(statistics.median(values)) for name, values in speeds.items()},
        **({SHARE: round(statistics.median(shares), 2)} if shares else {}),
        "ratio": round(statistics.median(ratios), 2),
        "ratio min": round(min(ratios), 2),
        "ratio max": round(max(ratios), 2),
    }


def corpus(data: list[Path], vocab_size: int) -> tuple[TokenStore, Tokenizer]:
    """Some documents of the text, tokenized with the shipped vocabulary if its size fits, else with a new one."""
    tokenizer = load_tokenizer(SHIPPED)
    if tokenizer.vocab_size != vocab_size:
        tokenizer = learn_tokenizer(data, vocab_size)
    return TokenStore.build(islice(read_documents(data), DOCUMENTS), tokenizer), tokenizer


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3, help="steps a round")
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--data", nargs="*", type=Path, help=f"real documents (default: of ${DATA}, or none)")
    options = parser.parse_args()
    if options.data is None:
        options.data = [in_data_folder("--data", "pretrain", "en", "wiki-00.txt.xz")] if os.environ.get(DATA) else []
    if options.threads:
        torch.set_num_threads(options.threads)
    print(" · ".join(f"{key} {value}" for key, value in description().items()))
    results = {}
    for name, config in SHAPES.items():
        shape = (options.rows, options.length, options.rounds, options.steps)
        results[name] = compare(config, *shape, options.data)
        for task, row in results[name].items():
            if not isinstance(row, dict):
                continue
            limit = f" · {row[SHARE]:.0%} of the products alone" if SHARE in row else ""
            print(
                f"{name:13} {task:10} minibert {row['minibert tokens/s']:>8,} tokens/s · transformers "
                f"{row['transformers tokens/s']:>8,} · ratio {row['ratio']} ({row['ratio min']}–{row['ratio max']})"
                f"{limit}",
                flush=True,
            )
    record(options.record, results)


if __name__ == "__main__":
    main()
