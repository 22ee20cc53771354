"""Fine-tuning: a pre-trained (or random) BERT, one new layer, labelled data of any task (Devlin et al. 2019, §4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from minibert import checkpoint
from minibert.finetune.augmentation import augmented, model_fill
from minibert.finetune.batches import training_batches
from minibert.finetune.evaluation import answered, evaluation
from minibert.finetune.learner import Learner, with_metadata_tokens
from minibert.finetune.optimizer import finetuning_optimizer
from minibert.finetune.predictor import Predictor
from minibert.finetune.settings import FinetuneSettings
from minibert.finetune.split import TooFewError, split_dev, spread
from minibert.model import BertForPreTraining
from minibert.tasks import Task, TaskData, label_order, task_named
from minibert.tasks.metadata import metadata_values
from minibert.train import Done, Eval, Event, Sample, Saved, Started, TrainingState, train
from minibert.training.averaging import running_mean
from minibert.training.precision import best_device

TUNED_ON_AT_MOST = 2000  # examples


def finetune(
    start: str | Path,
    task: str | Task,
    train_data: TaskData,
    dev_data: TaskData,
    settings: FinetuneSettings,
    *,
    out: str | Path | None = None,
    watch: Sequence[Any] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Fine-tune the checkpoint in `start` and yield the events of the run; save to `out` at its end, or when stopped.

    dev_data is measured before the first step, `evaluations_per_epoch` times an epoch and at the end: an `Eval` whose
    details hold a prediction for each of the `dev_examples` in the details of `Started`. Of a dev set larger than
    `dev_sample` these are an even sample, and along the way only they are measured; at the end all are. `watch`: inputs
    answered at the same times (`Sample`). A task whose `tune_on` is "dev" is measured with the threshold that is best
    on the very examples it is measured on, as in the paper: that is the model that answers and is saved, and its
    figures are a little too good. `mailbox()` returns messages received since it was last asked: a list of
    inputs replaces `watch`, and is answered at once. Raises ValueError when a class of the dev set never occurs in
    training, when an example of it does not say its answer, or when nothing can be trained on.
    """
    task = task_named(task) if isinstance(task, str) else task
    torch.manual_seed(settings.seed)
    labels = task.labels(train_data)
    task.check(train_data)
    task.check_answers(dev_data)
    unknown = sorted(set(dev_data.labels) - set(train_data.labels), key=label_order)
    if unknown and task.closed:
        raise ValueError(f"the dev data has labels that training never shows: {', '.join(unknown)}")
    source = checkpoint.load(start)
    options = settings.options(
        max_length=min(settings.max_length, source.config.max_position_embeddings),
        metadata_values=metadata_values(train_data, settings.metadata),
    )
    metadata_values(dev_data, settings.metadata)  # it must have them too
    tokenizer = with_metadata_tokens(checkpoint.load_tokenizer(start), options)
    learner = Learner.of(source, task, labels, options, tokenizer, settings).to(best_device())
    mean = running_mean(learner.model, settings.averaging) if settings.averaging else None
    predictor = Predictor(mean.module if mean else learner.model, tokenizer, task, options)

    thresholds = TaskData([])
    if task.tune_on == "split":
        with suppress(TooFewError):
            train_data, thresholds = split_dev(train_data, settings.set_aside, settings.seed)
        thresholds = thresholds.take(spread(len(thresholds.examples), TUNED_ON_AT_MOST))
    examples = list(train_data.examples)
    if settings.augmentation is not None:
        fill = filler(start) if settings.augmentation.method == "replace" else None
        examples += augmented(task, examples, settings.augmentation, settings.seed, fill)
    features = [row for row in predictor.features(examples) if row.target is not None]
    if not features:
        raise ValueError("there is no example to train on: none has an answer that the task can learn")
    seen = dev_data.take(spread(len(dev_data.examples), settings.dev_sample))
    dev_features, threshold_features = predictor.features(seen.examples), predictor.features(thresholds.examples)
    steps_per_epoch = -(-len(features) // settings.batch_size)
    steps = steps_per_epoch * settings.epochs
    every = max(1, steps_per_epoch // settings.evaluations_per_epoch)

    def measure(step: int, final: bool = False) -> Eval:
        nonlocal predictor
        if thresholds.examples:
            predictor = predictor.tuned(thresholds.examples, threshold_features)
        whole = final and len(seen.examples) < len(dev_data.examples)
        data, rows = (dev_data, predictor.features(dev_data.examples)) if whole else (seen, dev_features)
        outputs, loss = predictor.outputs(rows)
        answers = predictor.decoded(outputs, rows, data.examples)
        if task.tune_on == "dev":
            predictor = predictor.changed(**task.tune(answers, data.examples, labels))
            answers = predictor.decoded(outputs, rows, data.examples)
        return evaluation(predictor, data, answers, loss, step, details_of=seen)

    def answer(step: int) -> Iterator[Event]:
        if watch:
            yield Sample(step, [answered(predictor, given) for given in watch])

    used = {row.example for row in features}
    sizes = {
        "train": len(train_data.examples),
        "untrainable": len(set(range(len(examples))) - used),
        "augmented": len(examples) - len(train_data.examples),
        "rows": len(features),
        "dev": len(dev_data.examples),
        "set_aside": len(thresholds.examples),
        "steps": steps,
        "steps_per_epoch": steps_per_epoch,
    }
    imbalance = train_data.imbalance
    yield Started(
        asdict(settings),
        {
            **sizes,
            "task": task.name,
            "metric": task.metric,
            "labels": labels,
            "imbalance": imbalance.as_dict() if imbalance else None,
            "unseen_labels": unknown,
            "problems": {"train": len(train_data.problems), "dev": len(dev_data.problems)},
            "dev_examples": [asdict(example) for example in seen.examples],
        },
    )
    yield (last := measure(0))
    yield from answer(0)
    batches = training_batches(task, features, settings, tokenizer)
    state = TrainingState(finetuning_optimizer(learner, settings))
    events = train(
        learner,
        batches,
        settings.optimization,
        steps=steps,
        steps_per_epoch=steps_per_epoch,
        losses_of=lambda losses, part, whole: losses,
        state=state,
    )
    try:
        for event in events:
            if isinstance(event, Done):
                break
            if mean:
                mean.update_parameters(learner.model)
            yield event
            for message in mailbox():
                watch = list(message)
                yield from answer(event.step)
            timed_out = settings.max_seconds is not None and event.seconds > settings.max_seconds
            over = event.step == steps or timed_out
            if event.step % every == 0 or over:
                yield (last := measure(event.step, final=over))
                yield from answer(event.step)
            if timed_out:
                break
    except GeneratorExit:  # whoever asked for the events wants no more: what was learned is not lost
        if out is not None:
            if task.tune_on is not None and last.step < event.step:
                measure(event.step)  # thresholds belong to the weights that are saved
            predictor.save(out)
        raise
    if out is not None:
        predictor.save(out)
        yield Saved(event.step, str(out))
    yield Done(event.step, event.tokens, event.seconds, last.metrics)


def filler(start: str | Path):
    """Fills words as the checkpoint in `start` expects them."""
    model = checkpoint.load(start, kind=BertForPreTraining).to(best_device())
    return model_fill(model, checkpoint.load_tokenizer(start))
