"""Run one of the paper's ablations: pre-train each arm, fine-tune it on each task."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from minibert import checkpoint
from minibert.experiments.catalogue import DOWNSTREAM, Arm, Experiment, Pretraining, Scale
from minibert.experiments.corpus import Corpus
from minibert.experiments.events import Stage, within
from minibert.experiments.finetuning import finetune_arm, read_data
from minibert.experiments.pretraining import heldout_loss, pretrain, start, token_question
from minibert.experiments.records import as_recorded
from minibert.experiments.results import REQUIRED
from minibert.experiments.runner import Run, run_arms
from minibert.experiments.toy_corpus import without_reading
from minibert.model import BertForPreTraining
from minibert.tasks import TaskData
from minibert.toy.pretrain import determined_accuracy
from minibert.train import Done, Eval, Event, Started, Step

PRETRAINING_SHARE = 0.8  # of an arm's progress


def run_experiment(
    experiment: Experiment,
    corpus: Corpus,
    out: str | Path,
    *,
    seeds: int = 3,
    scale: Scale | None = None,
    command: str = "",
) -> Iterator[Event]:
    """Run every arm, except what `out` already holds at this scale and of this text (`run_arms`). scale: by default the
    experiment's."""
    scale = scale or experiment.scale
    data, arms = read_data(scale), experiment.arms
    train, dev = (len(part.examples) for part in data)
    floor = without_reading(corpus, scale)

    def facts(name: str) -> dict:
        return {
            "pretraining": as_recorded(arms[name].pretraining),
            "examples": dict.fromkeys(experiment.tasks, train),
            "measured_on": dict.fromkeys(experiment.tasks, dev),
            "floor": floor,
            "data": list(corpus.files),
        }

    def same(record: dict) -> bool:
        arm = arms[record["arm"]]
        made = (record["data"], record["pretraining"]) == (list(corpus.files), as_recorded(arm.pretraining))
        return made and measures(arm, experiment) <= set(record["metrics"])

    yield from run_arms(
        experiment.name,
        in_order(arms),
        runs_of(experiment, corpus, data, scale),
        facts,
        out,
        seeds=seeds,
        required=REQUIRED,
        scale=scale,
        same=same,
        command=command,
    )


def in_order(arms: Mapping[str, Arm]) -> list[str]:
    """Arms with the same pre-training one after another, as they are taken from it."""
    pretrainings = [arm.pretraining for arm in arms.values()]
    return sorted(arms, key=lambda name: (pretrainings.index(arms[name].pretraining), arms[name].at))


class Shared:
    """A pre-training that goes on from arm to arm. last: its last step so far."""

    def __init__(self, pretraining: Pretraining, corpus: Corpus, scale: Scale, seed: int):
        self.of = pretraining, seed
        self.model = start(pretraining, corpus, scale, seed)
        self.steps = pretrain(self.model, pretraining, corpus, scale, seed)
        self.last = Step(0, 0.0, 0.0, 0.0, 0, 0.0, 0.0)

    def until(self, step: int) -> Iterator[Step]:
        while self.last.step < step:
            self.last = next(self.steps)
            yield self.last


def runs_of(experiment: Experiment, corpus: Corpus, data: tuple[TaskData, TaskData], scale: Scale) -> Run:
    """Arms with the same pre-training share its run, if they follow each other in the order of their `at`."""
    shared: Shared | None = None

    def measure(model: BertForPreTraining, name: str, seed: int) -> Generator[Event, None, dict[str, float]]:
        """Fine-tune the arm's model on each task and yield the events; → metric by name."""
        arm, metrics = experiment.arms[name], {}
        for metric in perplexities(arm, experiment):
            metrics[metric] = math.exp(heldout_loss(model, arm.pretraining, corpus, scale))
        special = corpus.tokenizer.mask_id, corpus.tokenizer.pad_id
        metrics |= determined_accuracy(model, list(corpus.one_sided), *special)
        metrics |= determined_accuracy(model, list(corpus.questions), *special)  # last: its `determined` counts
        with TemporaryDirectory() as folder:
            start = checkpoint.save(Path(folder, "model"), model, corpus.tokenizer)
            for task in tasks_of(arm, experiment):
                yield Stage(name, seed, task, PRETRAINING_SHARE)
                events = finetune_arm(start, arm, task, data, scale, seed)
                metrics[task] = yield from within(events, PRETRAINING_SHARE, PRETRAINING_SHARE)
        return metrics

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        nonlocal shared
        arm = experiment.arms[name]
        step = scale.step_at(arm.at)
        if shared is None or shared.of != (arm.pretraining, seed) or shared.last.step > step:
            yield Stage(name, seed, "pretrain", 0.0)
            shared = Shared(arm.pretraining, corpus, scale, seed)
        yield Started(
            {"arm": name, "seed": seed}, {"parameters": sum(w.numel() for w in shared.model.bert.parameters())}
        )
        yield from within(shared.until(step), 0.0, PRETRAINING_SHARE)
        last, before = shared.last, time.perf_counter()
        metrics = yield from measure(shared.model, name, seed)
        yield Eval(last.step, metrics)
        yield Done(last.step, last.tokens, last.seconds, metrics)
        seconds = {"pretraining": last.seconds, "finetuning": time.perf_counter() - before}
        return {"curve": [], **{f"{stage}_seconds": round(value, 1) for stage, value in seconds.items()}}

    return run


def measures(arm: Arm, experiment: Experiment) -> set[str]:
    """The metrics that a finished arm has: of its tasks, the share of determined words, and a perplexity if the
    experiment compares held-out loss. Determined words by kind and by side are optional."""
    return {*tasks_of(arm, experiment), "determined", *perplexities(arm, experiment)}


def tasks_of(arm: Arm, experiment: Experiment) -> list[str]:
    """Tasks with a frozen encoder are only for the masking splits (and the base), as in the paper."""
    if experiment.whole_runs and arm.at < 1:
        return []
    splits = arm.pretraining.split != experiment.base.pretraining.split or arm == experiment.base
    return [name for name in experiment.tasks if splits or not DOWNSTREAM[name]]


def perplexities(arm: Arm, experiment: Experiment) -> list[str]:
    return [f"{token_question(arm.pretraining)}_perplexity"] if experiment.heldout else []
