"""Run an experiment: pre-train each arm, fine-tune it on each task, append a line of results per arm and seed."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from minibert import checkpoint
from minibert.experiments.catalogue import DOWNSTREAM, Arm, Experiment, Pretraining, Scale
from minibert.experiments.corpus import Corpus
from minibert.experiments.events import Finished, Stage, within
from minibert.experiments.finetuning import finetune_arm, read_data
from minibert.experiments.pretraining import heldout_loss, pretrain, start, token_question
from minibert.experiments.records import append_record, check_writable
from minibert.experiments.results import read_records
from minibert.experiments.toy_corpus import without_reading
from minibert.model import BertForPreTraining
from minibert.tasks import TaskData
from minibert.toy.pretrain import answered
from minibert.train import Done, Event
from minibert.training import machine

PRETRAINING_SHARE = 0.8  # of an arm's progress

TasksData = Mapping[str, tuple[TaskData, TaskData]]  # (train, dev) by a task's name


def run_experiment(
    experiment: Experiment,
    corpus: Corpus,
    tasks: str | Path | None,
    out: str | Path,
    *,
    seeds: int = 3,
    scale: Scale | None = None,
    command: str = "",
) -> Iterator[Event]:
    """Run every arm with seeds 0 … seeds − 1, except what `out` already holds at this scale.

    tasks: the folder that holds sst2/, mrpc/, conll2003/ · out: a line of JSON is appended for each finished arm and
    seed; lines of another scale or text are ignored. The outer loop is over seeds, so that an interrupted experiment
    has compared all arms on the seeds it has finished. Arms with the same pre-training share its run. Yields Stage,
    Step (progress is the whole experiment's), Finished, Done.
    """
    scale = scale or Scale()
    check_writable(out)
    data = {name: read_data(name, tasks, scale) for name in experiment.tasks}
    floor = without_reading(corpus, scale) if experiment.toy else {}
    jobs = jobs_of(experiment, corpus, out, seeds, scale)
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
                        "examples": {name: len(train.examples) for name, (train, _) in data.items()},
                        "measured_on": {name: len(dev.examples) for name, (_, dev) in data.items()},
                        **({"floor": floor} if floor else {}),
                        "data": list(corpus.files),
                        "command": command,
                        "machine": machine.description(),
                    }
                    append_record(out, record)
                    yield Finished(record, step.progress)
        steps, tokens = steps + step.step, tokens + step.tokens
    yield Done(steps, tokens, time.perf_counter() - begun)


def jobs_of(
    experiment: Experiment, corpus: Corpus, out: str | Path, seeds: int, scale: Scale
) -> list[tuple[int, Pretraining, list[Arm]]]:
    """(seed, pre-training, the arms that share it) of what `out` does not hold yet."""
    pretrainings = {arm.name: arm.pretraining.as_dict() for arm in experiment.arms}
    measured = {arm.name: measures(arm, experiment, corpus) for arm in experiment.arms}
    done = {
        (record["arm"], record["seed"])
        for record in read_records(out)
        if record["scale"] == scale.as_dict()
        and record["data"] == list(corpus.files)
        and record["pretraining"] == pretrainings.get(record["arm"])
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
    return [job for job in jobs if job[2]]


def measures(arm: Arm, experiment: Experiment, corpus: Corpus) -> set[str]:
    """The metrics that a finished arm has: of its tasks, the share of determined words (toy world), and a perplexity if
    the experiment compares held-out loss and has such text. Determined words by kind are optional."""
    determined = {"determined"} if corpus.asked else set()
    return {*tasks_of(arm, experiment), *determined, *perplexities(arm, experiment, corpus)}


def tasks_of(arm: Arm, experiment: Experiment) -> list[str]:
    """On the toy world, tasks with a frozen encoder are only for the masking splits (and the base), as in the paper."""
    splits = arm.pretraining.split != experiment.base.pretraining.split or arm == experiment.base
    return [name for name in experiment.tasks if splits or not experiment.toy or not DOWNSTREAM[name].frozen]


def perplexities(arm: Arm, experiment: Experiment, corpus: Corpus) -> list[str]:
    compares = experiment.heldout and corpus.heldout is not None
    return [f"{token_question(arm.pretraining)}_perplexity"] if compares else []


def measure(
    model: BertForPreTraining,
    arm: Arm,
    experiment: Experiment,
    corpus: Corpus,
    data: TasksData,
    scale: Scale,
    seed: int,
    progress: float,
) -> Generator[Event, None, dict[str, float]]:
    """Fine-tune the arm's model on each task and yield the events; → metric by name."""
    metrics = {}
    for name in perplexities(arm, experiment, corpus):
        metrics[name] = math.exp(heldout_loss(model, arm.pretraining, corpus, scale))
    if corpus.asked:
        metrics |= answered(model, list(corpus.asked), corpus.tokenizer.mask_id, corpus.tokenizer.pad_id)
    with TemporaryDirectory() as folder:
        start = checkpoint.save(Path(folder, "model"), model, corpus.tokenizer)
        for name in tasks_of(arm, experiment):
            yield Stage(arm.name, seed, name, progress)
            events = finetune_arm(start, arm, name, data[name], scale, seed)
            metrics[name] = yield from within(events, progress, progress)
    return metrics
