"""Continued pre-training close to its start: MLM and NSP, while each token's last vector must still match the start's.

    python -m bench.kept_close --start all-MiniLM-L6-v2 --data TEXT … --minutes 8 --keep 2 --out OUT
    E5=multilingual-e5-small-zh
    python -m bench.kept_close --start $E5 --data TEXT … --words jieba --steps 4000 --keep 0 --frozen --out FIRST
    python -m bench.kept_close --start FIRST --teacher $E5 --data TEXT … --words jieba --steps 40000 --out OUT

MLM alone loses what the start knew. Here the start is a teacher, too: it gets the same rows without masks, and a linear
map of the student's last hidden states, discarded afterwards, must point the same way as the teacher's (1 − cosine,
mean over the tokens, times `--keep`; as in data2vec, Baevski et al. 2022, but with a frozen teacher). `--keep 0` is
plain continued pre-training. Several processes make the rows: one is slower than a GPU.

`--frozen` trains token embeddings and heads alone: a new head learns before the body can forget (Artetxe et al. 2020).
A run counted in steps keeps a state every `--save-minutes`, and `--resume` resumes it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from minibert import checkpoint
from minibert.command_line.arguments import model_directory
from minibert.model import IGNORE, Batch, Bert, BertForPreTraining, PreTrainingOutput
from minibert.objectives import Masking, Objective, losses
from minibert.relatives import objective_for
from minibert.sentence_vectors.packaged import PACKAGED
from minibert.text.batches import Position, PretrainingBatches
from minibert.text.store import WORD_SEGMENTERS, TokenStore, cached_store
from minibert.tokenizer import Tokenizer
from minibert.train import Optimization, Step, TrainingState, optimizer_for, train
from minibert.training import resume
from minibert.training.precision import best_device

NSP_WEIGHT = 0.1


class Rows(IterableDataset):
    """The batches made by each process, with a different order in each."""

    def __init__(self, store: TokenStore, tokenizer: Tokenizer, seed: int, **how):
        self.store, self.tokenizer, self.seed, self.how = store, tokenizer, seed, how

    def __iter__(self):
        worker = get_worker_info()
        seed = self.seed if worker is None else self.seed * worker.num_workers + worker.id
        return iter(PretrainingBatches(self.store, self.tokenizer, seed=seed, **self.how))


class KeptClose(nn.Module):
    """The model to train and its teacher, which is no submodule. Returns the output and the distance from the
    teacher."""

    def __init__(self, reader: BertForPreTraining, teacher: nn.Module | None):
        super().__init__()
        self.reader, self.teacher = reader, [teacher]
        self.map = nn.Linear(reader.config.hidden_size, reader.config.hidden_size)
        nn.init.eye_(self.map.weight)
        nn.init.zeros_(self.map.bias)

    def forward(self, batch: Batch) -> tuple[PreTrainingOutput, Tensor]:
        hidden, pooled = self.reader.bert(batch)  # without a tap, so that attention is fused
        target_mask = batch.labels != IGNORE
        logits, nsp = self.reader.mlm(hidden[target_mask]), self.reader.nsp(pooled)
        predictions = PreTrainingOutput(
            logits,
            nsp,
            F.cross_entropy(logits.float(), batch.labels[target_mask]),
            F.cross_entropy(nsp.float(), batch.next_labels),
        )
        if self.teacher[0] is None:
            return predictions, hidden.new_zeros(())
        with torch.no_grad():
            whole = replace(batch, ids=batch.ids.where(~target_mask, batch.labels), labels=None, next_labels=None)
            teacher_hidden, _ = self.teacher[0](whole)
        distance = 1 - F.cosine_similarity(self.map(hidden).float(), teacher_hidden.float(), dim=-1)  # (B, T)
        return predictions, distance.mean() if batch.padding is None else distance[batch.padding].mean()


def terms(
    objective: Objective, keep: float, output: tuple[PreTrainingOutput, Tensor], part, whole
) -> dict[str, Tensor]:
    """The pre-training losses, plus `keep` times the distance to the teacher."""
    predictions, distance = output
    found = losses(objective, predictions, part, whole)
    return {**found, "loss": found["loss"] + keep * distance, "apart": distance}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", type=model_directory, required=True, help=f"a directory, or {' or '.join(PACKAGED)}")
    parser.add_argument("--teacher", type=model_directory, help="what to stay close to (default: the start)")
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    budget = parser.add_mutually_exclusive_group(required=True)
    budget.add_argument("--minutes", type=float)
    budget.add_argument("--steps", type=int)
    parser.add_argument("--frozen", action="store_true", help="train token embeddings and heads alone")
    parser.add_argument("--words", choices=WORD_SEGMENTERS, default="none", help="mask whole words, found by this")
    parser.add_argument("--mask-rate", type=float, default=0.15)
    parser.add_argument("--keep", type=float, default=2.0, help="weight of staying close (default: 2)")
    parser.add_argument("--learning-rate", type=float, default=6e-4)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--max-length", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=12, help="that make rows (default: 12); 0: this one")
    parser.add_argument("--save-minutes", type=float, default=10.0, help="between two states of a run counted in steps")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--cache", type=Path, help="folder for the tokenized text")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    tokenizer = checkpoint.load_tokenizer(options.start)
    cache = options.cache or options.out / "tokens"
    store, _ = cached_store(options.data, tokenizer, cache, words=options.words, processes=max(1, options.processes))
    saved = resume.require_latest(options.out) if options.resume else None
    reader = checkpoint.load(saved.directory if saved else options.start, kind=BertForPreTraining, new_heads=True)
    masking = Masking(rate=options.mask_rate, whole_words=options.words != "none")
    objective = objective_for(reader.config, second_weight=NSP_WEIGHT, masking=masking)
    teacher = None
    if options.keep:
        teacher = checkpoint.load(options.teacher or options.start, kind=Bert).to(best_device()).requires_grad_(False)
    learner = KeptClose(reader, teacher).to(best_device())
    if options.frozen:
        reader.bert.requires_grad_(False)
        reader.bert.embeddings.token.requires_grad_(True)
        reader.bert.pooler.requires_grad_(True)
    recipe = Optimization(learning_rate=options.learning_rate, warmup=0.05, beta2=0.98)
    state = TrainingState(optimizer_for(learner, recipe))
    given = {name: value for name, value in vars(options).items() if name != "resume"}
    settings = {**json.loads(json.dumps(given, default=str)), "optimization": asdict(recipe)}
    if saved:
        saved.restore(learner, state)
        learner.map.load_state_dict(load_file(saved.directory / resume.EXTRA_WEIGHTS))
    rows = Rows(
        store,
        tokenizer,
        options.seed + state.step,  # a resumed run reads on in another order
        batch_size=options.batch_size,
        max_length=options.max_length,
        objective=objective,
    )
    loader = rows
    if options.processes:
        loader = DataLoader(rows, batch_size=None, num_workers=options.processes, prefetch_factor=4)
    options.out.mkdir(parents=True, exist_ok=True)
    saved_at = state.seconds
    with (options.out / "training.jsonl").open("a" if saved else "w", encoding="utf-8") as log:
        for event in train(
            learner,
            loader,
            recipe,
            steps=options.steps,
            seconds=options.minutes and options.minutes * 60,
            report_every=50,
            losses_of=partial(terms, objective, options.keep),
            state=state,
        ):
            print(json.dumps(event.as_dict()), file=log, flush=True)
            if isinstance(event, Step) and event.step % 500 == 0:
                predictions = {name: round(value, 3) for name, value in event.parts.items()}
                print(
                    f"{event.step:6} {event.tokens / 1e6:7.1f} M tokens {event.tokens_per_second:9.0f}/s {predictions}",
                    flush=True,
                )
            if options.steps and state.seconds - saved_at > options.save_minutes * 60:
                saved_at = state.seconds
                networks, beside = {"": reader}, learner.map.state_dict()
                resume.save(options.out, networks, tokenizer, state, Position(), settings, [], beside)
    resume.clear(options.out)
    checkpoint.save(options.out, reader, tokenizer, dtype=torch.float16)


if __name__ == "__main__":
    main()
