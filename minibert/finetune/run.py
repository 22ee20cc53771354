"""Fine-tuning: a pre-trained (or random) BERT, one new layer, labelled data of any task (Devlin et al. 2019, §4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.optim.swa_utils import AveragedModel

from minibert import checkpoint
from minibert.finetune.augmentation import augmented, model_fill
from minibert.finetune.auxiliary import auxiliary_labels, auxiliary_values, check_auxiliary
from minibert.finetune.batches import TrainingBatch, training_batches
from minibert.finetune.early_stopping import BestEpoch
from minibert.finetune.evaluation import evaluation_event, predict_watched
from minibert.finetune.learner import Learner, with_metadata_tokens
from minibert.finetune.optimizer import finetuning_optimizer
from minibert.finetune.predictor import Predictor
from minibert.finetune.settings import FinetuneSettings
from minibert.finetune.split import TooFewError, split_dev
from minibert.finetune.unlabelled import SmoothnessLoss, SoftLabelLoss, Unlabelled, endless_batches
from minibert.model import BertForPreTraining
from minibert.tasks import Features, Task, TaskData, label_order, task_named
from minibert.tasks.metadata import metadata_values
from minibert.tasks.sampling import spread
from minibert.train import Done, Eval, Event, Sample, Saved, Started, Step, TrainingState, train
from minibert.training.averaging import running_mean
from minibert.training.disk_retry import save_with_retry
from minibert.training.precision import best_device

TUNED_ON_AT_MOST = 2000  # examples
WrapLearner = Callable[[Learner, Predictor, "TrainingRows", FinetuneSettings], Learner]


def finetune(
    start: str | Path,
    task: str | Task,
    train_data: TaskData,
    dev_data: TaskData,
    settings: FinetuneSettings,
    *,
    out: str | Path | None = None,
    probe_inputs: Sequence[Any] = (),
    mailbox: Callable[[], list] = list,
    unlabelled: Unlabelled | None = None,
    wrap: WrapLearner | None = None,
) -> Iterator[Event]:
    """Fine-tune the checkpoint in `start` and yield the events of the run; save to `out` at its end, or when stopped.

    The model is evaluated before the first step, `evaluations_per_epoch` times an epoch and at the end: the details of
    each `Eval` hold a prediction for each of the `dev_examples` in the details of `Started`, an even sample of at most
    `dev_sample` dev examples. During training only this sample is evaluated, at the end the whole dev set. If the
    task's `tune_on` is "dev", its threshold is tuned on the same examples, as in the paper, so that the metrics are
    slightly too high. probe_inputs: inputs predicted at the same times (`Sample`) · unlabelled: further training texts
    without labels; if None, the smoothness loss of `vat_weight` uses the training texts · wrap: makes another learner
    of the usual one, such as a student (`distillation.learner.taught_by`) · mailbox(): the messages since its last
    call; each is a list of inputs that replaces `probe_inputs` and is predicted at once. Raises ValueError if a class
    of the dev set never occurs in training, a dev example lacks its answer, no example can be trained on, or `out`
    cannot be written.
    """
    task = task_named(task) if isinstance(task, str) else task
    if out is not None:
        checkpoint.make_ready(out)
    torch.manual_seed(settings.seed)
    labels, unseen = checked_labels(task, train_data, dev_data)
    learner, predictor = build_learner(start, task, labels, train_data, dev_data, settings)
    learner.to(best_device())
    mean = running_mean(learner.model, settings.averaging) if settings.averaging else None
    predictor = replace(predictor, model=mean.module) if mean else predictor
    train_data, thresholds = without_thresholds(task, train_data, settings)
    rows = TrainingRows.of(start, predictor, train_data.examples, settings)
    if wrap is not None:
        learner = wrap(learner, predictor, rows, settings)
    elif settings.distillation is not None:
        raise ValueError("the settings ask for distillation, and there is no teacher")
    evaluator = Evaluator(predictor, dev_data, thresholds, settings.dev_sample)
    further_batches = unlabelled_batches(predictor, unlabelled, rows, settings)
    if unlabelled is not None and unlabelled.soft is not None:
        learner.losses.append(SoftLabelLoss())
    if settings.vat_weight:
        learner.losses.append(SmoothnessLoss(settings.vat_weight, settings.vat_epsilon))
    sizes = {**rows.sizes, "dev": len(dev_data.examples), "set_aside": len(thresholds.examples)}
    yield started(task, labels, unseen, train_data, evaluator, sizes, settings, Path(start).name)
    yield evaluator.measure(0)
    yield from evaluator.answer(0, probe_inputs)
    yield from learn(learner, mean, rows, evaluator, settings, out, probe_inputs, mailbox, further_batches)


def checked_labels(task: Task, train_data: TaskData, dev_data: TaskData) -> tuple[Any, list[str]]:
    """(names of the head's outputs, labels that occur only in the dev data). Raises ValueError for data that a model
    cannot be trained or evaluated on."""
    labels = task.labels(train_data)
    task.check(train_data)
    task.check_answers(dev_data)
    unseen = sorted(set(dev_data.labels) - set(train_data.labels), key=label_order)
    if unseen and task.closed:
        raise ValueError(f"the dev data has labels that training never shows: {', '.join(unseen)}")
    return labels, unseen


def build_learner(
    start: str | Path, task: Task, labels: Any, train_data: TaskData, dev_data: TaskData, settings: FinetuneSettings
) -> tuple[Learner, Predictor]:
    """The learner, and a predictor with the same weights."""
    source = checkpoint.load(start)
    task.check_reading(settings, train_data, dev_data)
    check_auxiliary(task, settings.auxiliary)
    options = settings.options(
        max_length=min(settings.max_length, source.config.longest),
        metadata_values=metadata_values(train_data, settings.metadata),
        loss_weights=task.loss_weights(train_data, labels) if settings.loss == "class_weights" else (),
    )
    metadata_values(dev_data, settings.metadata)  # raises if the dev data lack a column
    tokenizer = with_metadata_tokens(checkpoint.load_tokenizer(start), options)
    tokenizer = tokenizer.with_special_tokens(task.more_tokens(tokenizer, options))
    options = task.fitted(options, tokenizer, labels)
    auxiliary = auxiliary_values(train_data, settings.auxiliary)
    learner = Learner.of(source, task, labels, options, tokenizer, settings, auxiliary)
    return learner, Predictor(learner.model, tokenizer, task, options)


def without_thresholds(task: Task, train_data: TaskData, settings: FinetuneSettings) -> tuple[TaskData, TaskData]:
    """(the training data without the part for tuning thresholds, if the task needs one; a sample of that part)."""
    if task.tune_on != "split":
        return train_data, TaskData([])
    try:
        train_data, thresholds = split_dev(train_data, settings.set_aside, settings.seed)
    except TooFewError:
        return train_data, TaskData([])
    return train_data, thresholds.take(spread(len(thresholds.examples), TUNED_ON_AT_MOST))


@dataclass(frozen=True)
class TrainingRows:
    """rows: the training data as input of the model · examples: from which they were made · sizes: numbers of examples,
    rows and steps."""

    rows: list[Features]
    examples: list
    sizes: dict[str, int]

    @classmethod
    def of(
        cls, start: str | Path, predictor: Predictor, originals: Sequence, settings: FinetuneSettings
    ) -> TrainingRows:
        """The rows of the original examples, and of augmented copies if the settings ask for some. Raises ValueError if
        there is nothing to train on."""
        examples = list(originals)
        if settings.augmentation is not None:
            fill = None
            if settings.augmentation.method == "replace":
                model = checkpoint.load(start, kind=BertForPreTraining).to(best_device())
                fill = model_fill(model, checkpoint.load_tokenizer(start))
            examples += augmented(predictor.task, examples, settings.augmentation, settings.seed, fill)
        rows = [row for row in predictor.features(examples) if row.target is not None]
        if values := auxiliary_values(TaskData(list(originals)), settings.auxiliary):
            rows = [replace(row, auxiliary=auxiliary_labels(examples[row.example].extra, values)) for row in rows]
        if not rows:
            raise ValueError("there is no example to train on: none has an answer that the task can learn")
        steps_per_epoch = -(-len(rows) // settings.batch_size)
        sizes = {
            "train": len(originals),
            "untrainable": len(examples) - len({row.example for row in rows}),
            "augmented": len(examples) - len(originals),
            "rows": len(rows),
            "steps": steps_per_epoch * settings.epochs,
            "steps_per_epoch": steps_per_epoch,
        }
        return cls(rows, examples, sizes)


def unlabelled_batches(
    predictor: Predictor, unlabelled: Unlabelled | None, rows: TrainingRows, settings: FinetuneSettings
) -> Iterator[TrainingBatch] | None:
    """Endless batches without labels, None if no loss needs them. Raises ValueError for texts that no loss uses, and
    for soft labels with a number of probabilities other than the number of labels."""
    soft = None if unlabelled is None else unlabelled.soft
    if soft is None and not settings.vat_weight:
        if unlabelled is None:
            return None
        raise ValueError(
            "texts without a label are read, and nothing is learned from them: give vat_weight, or answers"
        )
    if soft is not None and any(len(row) != len(predictor.labels) for row in soft):
        raise ValueError(f"each text without a label needs {len(predictor.labels)} probabilities")
    features = rows.rows if unlabelled is None else predictor.features(unlabelled.examples)
    pad_id = predictor.tokenizer.pad_id
    return endless_batches(predictor.task, features, soft, settings.beside_size, pad_id, settings.seed)


class Evaluator:
    """Evaluates the model during training. predictor: with the thresholds of the last evaluation · sample: of the dev
    data, evaluated during training · last: the newest evaluation."""

    last: Eval

    def __init__(self, predictor: Predictor, dev_data: TaskData, thresholds: TaskData, sample_size: int):
        self.predictor, self.dev_data, self.thresholds = predictor, dev_data, thresholds
        self.sample = dev_data.take(spread(len(dev_data.examples), sample_size))
        self.sample_rows = predictor.features(self.sample.examples)
        self.threshold_rows = predictor.features(thresholds.examples)

    def measure(self, step: int, final: bool = False) -> Eval:
        """Evaluate on the sample of the dev data; if `final`, on all of it."""
        if self.thresholds.examples:
            self.predictor = self.predictor.tuned(self.thresholds.examples, self.threshold_rows)
        data, rows = self.sample, self.sample_rows
        if final and len(self.sample.examples) < len(self.dev_data.examples):
            data, rows = self.dev_data, self.predictor.features(self.dev_data.examples)
        outputs, loss = self.predictor.outputs(rows)
        answers = self.predictor.decoded(outputs, rows, data.examples)
        task = self.predictor.task
        if task.tune_on == "dev":
            self.predictor = self.predictor.changed(**task.tune(answers, data.examples, self.predictor.labels))
            answers = self.predictor.decoded(outputs, rows, data.examples)
        self.last = evaluation_event(self.predictor, data, answers, loss, step, details_of=self.sample)
        return self.last

    def answer(self, step: int, probe_inputs: Sequence[Any]) -> Iterator[Event]:
        if probe_inputs:
            yield Sample(step, [predict_watched(self.predictor, value) for value in probe_inputs])

    def save(self, out: str | Path, step: int) -> None:
        """Save the model with thresholds tuned for the weights of this step."""
        if self.predictor.task.tune_on is not None and self.last.step != step:
            self.measure(step)
        save_with_retry(self.predictor.save, out)


def started(
    task: Task,
    labels: Any,
    unseen: list[str],
    train_data: TaskData,
    evaluator: Evaluator,
    sizes: dict[str, int],
    settings: FinetuneSettings,
    model: str = "",
) -> Started:
    """The `Started` event: the settings, and sizes, labels and dev examples in its details. model: name of the
    checkpoint that the run begins with."""
    imbalance = train_data.imbalance
    details = {
        **sizes,
        "task": task.name,
        "model": model,
        "files": {"train": train_data.name, "dev": evaluator.dev_data.name},
        "metric": task.metric,
        "labels": labels,
        "imbalance": imbalance.as_dict() if imbalance else None,
        "unseen_labels": unseen,
        "problems": {"train": len(train_data.problems), "dev": len(evaluator.dev_data.problems)},
        "dev_examples": [asdict(example) for example in evaluator.sample.examples],
    }
    return Started(asdict(settings), details)


def learn(
    learner: Learner,
    mean: AveragedModel | None,
    rows: TrainingRows,
    evaluator: Evaluator,
    settings: FinetuneSettings,
    out: str | Path | None,
    probe_inputs: Sequence[Any],
    mailbox: Callable[[], list],
    further_batches: Iterator[TrainingBatch] | None = None,
) -> Iterator[Event]:
    """Train, evaluate during and after training, save. With patience, the last `Eval` is of the epoch that is kept."""
    predictor, step = evaluator.predictor, 0
    steps, steps_per_epoch = rows.sizes["steps"], rows.sizes["steps_per_epoch"]
    every = max(1, steps_per_epoch // settings.evaluations_per_epoch)
    best = BestEpoch(settings.patience) if settings.patience else None
    state = TrainingState(finetuning_optimizer(learner, settings))
    events = train(
        learner,
        training_batches(predictor.task, rows.rows, settings, predictor.tokenizer, further_batches),
        settings.optimization,
        steps=steps,
        steps_per_epoch=steps_per_epoch,
        losses_of=lambda losses, part, whole: losses,
        state=state,
    )
    try:
        for event in events:
            if not isinstance(event, Step):
                break
            step = event.step
            learner.write_prompt()
            if mean:
                mean.update_parameters(learner.model)
            yield event
            for message in mailbox():
                probe_inputs = list(message)
                yield from evaluator.answer(step, probe_inputs)
            timed_out = settings.max_seconds is not None and event.seconds > settings.max_seconds
            over = step == steps or timed_out
            ended = best is not None and step % steps_per_epoch == 0
            if step % every == 0 or ended or over:
                yield evaluator.measure(step, final=over and best is None)
                yield from evaluator.answer(step, probe_inputs)
            if best is not None and ended:
                best.saw(step, evaluator.last.metrics[predictor.task.metric], predictor.model)
            if timed_out or (best is not None and best.over):
                break
    except GeneratorExit:  # the consumer closed the generator: keep what was learned
        if out is not None:
            evaluator.save(out, best.restore(predictor.model, step) if best else step)
        raise
    if best is not None:
        step = best.restore(predictor.model, step)
        yield evaluator.measure(step, final=True)
        yield from evaluator.answer(step, probe_inputs)
    if out is not None:
        evaluator.save(out, step)
        yield Saved(step, str(out))
    yield Done(step, state.tokens, state.seconds, evaluator.last.metrics)
