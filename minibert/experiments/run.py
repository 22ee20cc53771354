"""Run an experiment: pre-train each arm, fine-tune it on each task, append a line a finished arm and seed."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import nn

from minibert.checkpoint import load_tokenizer, writing
from minibert.config import BertConfig
from minibert.experiments.catalogue import Arm, Experiment, Pretraining, Scale, experiment_named
from minibert.experiments.models import LeftToRight, OnTop, next_tokens
from minibert.experiments.results import read_records
from minibert.experiments.tasks import TASKS, Encoded, Task
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import Masking
from minibert.pretrain import learn_tokenizer
from minibert.text.batches import PretrainingBatches, padded, padded_batch
from minibert.text.cooccurrence import start_output_bias, start_position_embeddings, start_token_embeddings
from minibert.text.documents import read_documents, text_files
from minibert.text.store import TokenStore, cached_store
from minibert.tokenizer import Tokenizer
from minibert.toy import world as toy_world
from minibert.train import Done, Eval, Event, Optimization, Started, Step, train
from minibert.training import machine
from minibert.training.precision import autocast, best_device

CORPUS = ("reviews-00.txt.xz", "wiki-00.txt.xz")  # of ../shared/data/pretrain/en: near SST-2, and near the news tasks
REPORT_EVERY = 20  # steps, in fine-tuning
DROPOUT = 0.1  # in fine-tuning; none in pre-training, where hardly a text is read twice
POSITION_SCALE = 4  # vectors from counts are longer than usual; positions beside them must not drown in so short a run
PRETRAINING_SHARE = 0.8  # of an arm's progress
FILLED = 0.97  # of the places of the base's rows hold a token
SAMPLE = 64  # batches that tell how long an arm's rows are


@dataclass(frozen=True)
class Stage(Event):
    """A part of an experiment begins: "pretrain" or the name of a task."""

    arm: str
    seed: int
    stage: str
    progress: float


@dataclass(frozen=True)
class Finished(Event):
    """An arm is done with one seed; `record` is its line in the results."""

    record: dict
    progress: float


@dataclass(frozen=True)
class Corpus:
    """The text of all arms, tokenized once; `heldout` is never trained on and may be absent."""

    tokenizer: Tokenizer
    store: TokenStore
    heldout: TokenStore | None
    files: tuple[str, ...]


def prepare(
    data: Sequence[str | Path], vocab_size: int, *, heldout: str | Path | None = None, cache: str | Path | None = None
) -> Corpus:
    """Learn a vocabulary from `data` and tokenize it; in `cache` it is found again by the files' names and sizes."""
    files = text_files(data)
    if cache is None:
        tokenizer = learn_tokenizer(files, vocab_size)
        store = TokenStore.build(read_documents(files), tokenizer)
    else:
        facts = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        key = hashlib.sha256(json.dumps([facts, vocab_size]).encode()).hexdigest()[:16]
        learned = Path(cache) / f"vocab-{key}"
        if not learned.is_dir():
            with writing(learned) as folder:
                learn_tokenizer(files, vocab_size).save(folder)
        tokenizer = load_tokenizer(learned)
        store, _ = cached_store(files, tokenizer, cache)
    held = TokenStore.build(read_documents([heldout]), tokenizer) if heldout else None
    return Corpus(tokenizer, store, held, tuple(file.name for file in files))


def run_experiment(
    experiment: Experiment,
    corpus: Corpus,
    tasks: str | Path,
    out: str | Path,
    *,
    seeds: int = 3,
    scale: Scale | None = None,
    command: str = "",
) -> Iterator[Event]:
    """Every arm with seeds 0 … seeds − 1; what `out` already holds at this scale is not done again.

    tasks: the folder that holds sst2/, mrpc/, conll2003/ · out: a line of JSON is appended for each finished arm and
    seed; what stands there of another scale or text does not count. Seed by seed, so that an interrupted experiment has
    compared all arms on the seeds it has finished. Arms that share a pre-training share its run. Yields Stage, Step
    (progress is the whole experiment's), Finished, Done.
    """
    scale = scale or Scale()
    data = {name: load_task(TASKS[name], Path(tasks), corpus.tokenizer, scale) for name in experiment.tasks}
    arms = {arm.name: arm.pretraining.as_dict() for arm in experiment.arms}
    measured = {arm.name: measures(arm, experiment, corpus) for arm in experiment.arms}
    done = {
        (record["arm"], record["seed"])
        for record in read_records(out)
        if record["scale"] == scale.as_dict()
        and record["data"] == list(corpus.files)
        and record["pretraining"] == arms.get(record["arm"])
        and measured[record["arm"]] <= set(record["metrics"])
    }
    shared: dict[Pretraining, list[Arm]] = {}
    for arm in experiment.arms:
        shared.setdefault(arm.pretraining, []).append(arm)
    jobs = [
        (seed, pretraining, [arm for arm in arms if (arm.name, seed) not in done])
        for seed in range(seeds)
        for pretraining, arms in shared.items()
    ]
    jobs = [job for job in jobs if job[2]]
    begun = time.perf_counter()
    steps = tokens = 0
    for number, (seed, pretraining, arms) in enumerate(jobs):
        low, high = number / len(jobs), (number + 1) / len(jobs)
        yield Stage(arms[0].name, seed, "pretrain", low)
        model = start(pretraining, corpus, scale, seed)
        events = pretrain(model, pretraining, corpus, scale, seed)
        for step in within(events, low, low + PRETRAINING_SHARE * (high - low)):
            yield step
            for arm in arms:
                if scale.step_at(arm.at) == step.step:
                    started = time.perf_counter()
                    metrics = yield from measure(model, arm, experiment, corpus, data, scale, seed, step.progress)
                    record = {
                        "experiment": experiment.name,
                        "arm": arm.name,
                        "seed": seed,
                        "metrics": metrics,
                        "steps": step.step,
                        "tokens": step.tokens,
                        "parameters": sum(weights.numel() for weights in model.bert.parameters()),
                        "pretraining": pretraining.as_dict(),
                        "pretraining_seconds": round(step.seconds, 1),
                        "finetuning_seconds": round(time.perf_counter() - started, 1),
                        "scale": scale.as_dict(),
                        "examples": {name: len(parts[0]) for name, parts in data.items()},
                        "measured_on": {name: len(parts[1]) for name, parts in data.items()},
                        "data": list(corpus.files),
                        "command": command,
                        "machine": machine.description(),
                    }
                    append_record(out, record)
                    yield Finished(record, step.progress)
        steps, tokens = steps + step.step, tokens + step.tokens
    yield Done(steps, tokens, time.perf_counter() - begun)


def within(events: Iterator[Step], low: float, high: float):
    """The Steps of a part of a run, their progress laid between `low` and `high`; → what `events` returns."""
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            return end.value
        yield replace(event, progress=low + (high - low) * event.progress)


# --- pre-training -----------------------------------------------------------------------------------------------------


def start(pretraining: Pretraining, corpus: Corpus, scale: Scale, seed: int) -> BertForPreTraining:
    """The model before its first step; embeddings and output bias from counts of the text, for every arm alike."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=corpus.tokenizer.vocab_size,
        hidden_size=pretraining.hidden,
        num_hidden_layers=pretraining.layers,
        num_attention_heads=pretraining.heads,
        intermediate_size=4 * pretraining.hidden,
        max_position_embeddings=scale.max_length,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=corpus.tokenizer.pad_id,
    )
    model = (LeftToRight if pretraining.left_to_right else BertForPreTraining)(config)
    if scale.start == "counts":
        start_token_embeddings(model.bert, corpus.store, seed)
        start_position_embeddings(model.bert)
        with torch.no_grad():
            model.bert.embeddings.position.weight.mul_(POSITION_SCALE)
        start_output_bias(model.mlm, corpus.store)
    return model.to(best_device())


def pretrain(model: nn.Module, pretraining: Pretraining, corpus: Corpus, scale: Scale, seed: int) -> Iterator[Step]:
    """Train `model` in place on the objective of the arm."""
    term = "mlm_loss" if pretraining.objective == "mlm" else "loss"

    def losses_of(output, part, whole) -> dict[str, torch.Tensor]:
        alone = {} if pretraining.left_to_right else {"mlm_loss": output.mlm_loss}  # compares with and without NSP
        return {"loss": getattr(output, term), **alone}

    optimization = Optimization(learning_rate=scale.learning_rate, warmup=0.05, beta2=0.98)
    batches = batches_of(pretraining, corpus.store, corpus.tokenizer, scale, seed)
    for event in train(
        model,
        batches,
        optimization,
        steps=scale.steps,
        report_every=scale.report_every,
        losses_of=losses_of,
    ):
        if isinstance(event, Step):
            yield event


def batches_of(
    pretraining: Pretraining, store: TokenStore, tokenizer: Tokenizer, scale: Scale, seed: int
) -> Iterator[Batch]:
    """What the arm reads. Where rows are shorter than in the base, more of them share a batch, so that all arms see
    about as many tokens a step (Liu et al. 2019, §4.2)."""
    masking = Masking(rate=0.0) if pretraining.left_to_right else Masking(split=pretraining.split)
    make = partial(
        PretrainingBatches,
        store,
        tokenizer,
        max_length=scale.max_length,
        seed=seed,
        masking=masking,
        input_format=pretraining.input_format,
    )
    rows = scale.batch_size
    if pretraining.input_format != "segment_pair":
        seen = list(islice(make(batch_size=rows), SAMPLE))
        length = sum(batch.tokens for batch in seen) / sum(batch.ids.size(0) for batch in seen)
        rows = max(1, round(rows * FILLED * scale.max_length / length))
    for batch in make(batch_size=rows):
        yield next_tokens(batch) if pretraining.left_to_right else batch


@torch.no_grad()
def heldout_loss(model: nn.Module, corpus: Corpus, scale: Scale) -> float:
    """Nats a masked token on the first tokens of the held-out text, the same masks for every arm; a next token where
    the model reads from left to right."""
    pretraining = Pretraining(objective="left-to-right" if isinstance(model, LeftToRight) else "mlm")
    device = next(model.parameters()).device
    model.eval()
    loss = asked = read = 0.0
    for batch in batches_of(pretraining, corpus.heldout, corpus.tokenizer, scale, seed=0):
        batch = batch.to(device)
        with autocast(device):
            output = model(batch)
        count = int((batch.labels != IGNORE).sum())
        loss += count * (output.loss if pretraining.left_to_right else output.mlm_loss).item()
        asked, read = asked + count, read + batch.tokens
        if read >= scale.heldout_tokens:
            break
    model.train()
    return loss / asked


# --- fine-tuning ------------------------------------------------------------------------------------------------------


def measures(arm: Arm, experiment: Experiment, corpus: Corpus) -> set[str]:
    """The metrics of a finished arm: its tasks', and a perplexity where there is held-out text and it compares."""
    perplexity = "next_token_perplexity" if arm.pretraining.left_to_right else "mlm_perplexity"
    return {*experiment.tasks, *([perplexity] if experiment.heldout and corpus.heldout is not None else [])}


def measure(
    model: nn.Module,
    arm: Arm,
    experiment: Experiment,
    corpus: Corpus,
    data: dict[str, tuple[list[Encoded], list[Encoded]]],
    scale: Scale,
    seed: int,
    progress: float,
):
    """Yield what happens while the arm's model is fine-tuned on each task; → metric by name."""
    metrics = {}
    for name in measures(arm, experiment, corpus) - set(experiment.tasks):
        metrics[name] = math.exp(heldout_loss(model, corpus, scale))
    for name, (examples, dev) in data.items():
        yield Stage(arm.name, seed, name, progress)
        events = finetune(model, arm, TASKS[name], examples, dev, corpus.tokenizer.pad_id, scale, seed)
        metrics[name] = yield from within(events, progress, progress)
    return metrics


def load_task(task: Task, directory: Path, tokenizer: Tokenizer, scale: Scale) -> tuple[list[Encoded], list[Encoded]]:
    """(train, dev) as ids; of more than `scale.examples` to train on, always the same ones are drawn."""
    examples, dev = (task.read(directory, part, tokenizer, scale.max_length) for part in ("train", "dev"))
    if len(examples) > scale.examples:
        drawn = np.random.default_rng(0).permutation(len(examples))[: scale.examples]
        examples = [examples[i] for i in drawn]
    return examples, dev


def finetune(
    model: nn.Module, arm: Arm, task: Task, examples: list[Encoded], dev: list[Encoded], pad_id: int, scale: Scale,
    seed: int,
):  # fmt: skip
    """Yield the Steps of fine-tuning a copy of the encoder on one task; → the metric on `dev` at the end."""
    torch.manual_seed(seed)
    dropout = {"hidden_dropout_prob": DROPOUT, "attention_probs_dropout_prob": DROPOUT}
    top = OnTop(
        model.config.change(**dropout),
        len(task.classes),
        per_token=task.per_token,
        left_to_right=arm.pretraining.left_to_right,
        bilstm=arm.bilstm or task.frozen,
        frozen=task.frozen,
    ).to(next(model.parameters()).device)
    top.bert.load_state_dict(model.bert.state_dict())
    steps = -(-len(examples) // scale.finetune_batch_size) * scale.epochs
    rate = scale.feature_rate if task.frozen else scale.finetune_rate
    batches = finetuning_batches(examples, pad_id, scale, seed)
    for event in train(top, batches, Optimization(learning_rate=rate), steps=steps, report_every=REPORT_EVERY):
        if isinstance(event, Step):
            yield event
    return task.score(*answers(top, task, dev, pad_id))


def finetuning_batches(examples: list[Encoded], pad_id: int, scale: Scale, seed: int) -> Iterator[Batch]:
    """Each epoch in a new random order, the same for every arm with one seed."""
    order = np.random.default_rng(seed)
    for _ in range(scale.epochs):
        shuffled = [examples[i] for i in order.permutation(len(examples))]
        for i in range(0, len(shuffled), scale.finetune_batch_size):
            yield finetuning_batch(shuffled[i : i + scale.finetune_batch_size], pad_id)


def finetuning_batch(examples: Sequence[Encoded], pad_id: int) -> Batch:
    """Examples → a batch with their segments; its labels are (B,), or (B, T) in tagging."""
    targets = [example.target for example in examples]
    return padded_batch(
        [example.ids for example in examples],
        pad_id,
        segments=padded([example.segments for example in examples], 0),
        labels=padded(targets, IGNORE) if isinstance(targets[0], list) else torch.tensor(targets),
    )


@torch.no_grad()
def answers(top: OnTop, task: Task, dev: list[Encoded], pad_id: int) -> tuple[list, list]:
    """(predicted, true) classes in the order of `dev`; for tagging a list an example, of the positions asked."""
    device = next(top.parameters()).device
    top.eval()
    predicted: list = [None] * len(dev)
    by_length = sorted(range(len(dev)), key=lambda i: len(dev[i].ids))
    for i in range(0, len(dev), 64):
        chosen = by_length[i : i + 64]
        batch = finetuning_batch([dev[j] for j in chosen], pad_id)
        with autocast(device):
            classes = top(replace(batch, labels=None).to(device)).logits.argmax(-1).cpu()
        for j, found, labels in zip(chosen, classes, batch.labels, strict=True):
            predicted[j] = found[labels != IGNORE].tolist() if task.per_token else found.item()
    truth = [example.target for example in dev]
    if task.per_token:
        truth = [[target for target in row if target != IGNORE] for row in truth]
    return predicted, truth


# --- results ----------------------------------------------------------------------------------------------------------


def append_record(path: str | Path, record: dict) -> None:
    """One whole line, on disk before the next arm begins; it takes the place of a line that was cut off."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b") as file:
        file.seek(0)
        lines = file.read()
        whole = lines.rfind(b"\n") + 1
        if whole < len(lines) and is_json(lines[whole:]):  # only its end of line is missing
            file.write(b"\n")
        else:
            file.truncate(whole)
        file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


# --- a small version --------------------------------------------------------------------------------------------------

SMALL = Scale(tokens=500_000, vocab_size=0, start="random")  # the toy world has its own vocabulary of words
SMALL_STORIES = 3_000


def toy_corpus(stories: int = SMALL_STORIES) -> Corpus:
    """The toy world as text to pre-train on, and other stories of it held out."""
    tokenizer = Tokenizer(toy_world.vocabulary())
    store, heldout = (TokenStore.build(toy_world.documents(n, seed), tokenizer) for n, seed in ((stories, 1), (300, 2)))
    return Corpus(tokenizer, store, heldout, ("toy world",))


def small_run(experiment: str, arm: str, seed: int = 0, tokens: int = SMALL.tokens) -> Iterator[Event]:
    """Pre-train one arm on the toy world, in seconds: Steps, then what it expects of stories it has not read, where
    that compares."""
    scale = replace(SMALL, tokens=tokens)
    whole = experiment_named(experiment)
    chosen = next((one for one in whole.arms if one.name == arm), None)
    if chosen is None:
        raise ValueError(f"the experiment {experiment} has no arm {arm!r}")
    corpus = toy_corpus()
    yield Started({"experiment": experiment, "arm": arm, "seed": seed})
    model = start(chosen.pretraining, corpus, scale, seed)
    for step in pretrain(model, chosen.pretraining, corpus, scale, seed):
        yield step
        if step.step >= scale.step_at(chosen.at):
            break
    metrics = {}
    if whole.heldout:
        metrics = {"heldout_loss": heldout_loss(model, corpus, scale)}
        yield Eval(step.step, metrics)
    yield Done(step.step, step.tokens, step.seconds, metrics)
