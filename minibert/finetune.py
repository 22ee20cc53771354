"""Fine-tuning: a pre-trained (or random) BERT, one new layer, labelled data of any task (Devlin et al. 2019, §4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor, nn

from minibert import checkpoint
from minibert.augmentation import Augmentation, augmented, model_fill
from minibert.averaging import running_mean
from minibert.corruption import MaskVocabulary, mask_tokens
from minibert.heads import TaskBatch
from minibert.model import IGNORE, Batch, Bert, BertForPreTraining, MlmHead
from minibert.precision import autocast, best_device
from minibert.tasks import Features, Options, Task, TaskData, label_order, task_named
from minibert.tasks.base import check_answers, input_key, metadata_read, metadata_token
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer
from minibert.train import Done, Eval, Event, Optimization, Sample, Saved, Started, TrainingState, train, weight_groups
from minibert.train import optimizer_for as optimizer_with_scales

EVALUATION_TOKENS = 2**14  # a batch, at most
TUNED_ON_AT_MOST = 2000  # examples
LENGTH_WINDOW = 50  # batches, as in transformers


@dataclass(frozen=True, kw_only=True)
class FinetuneSettings(Options):
    """The paper's values (§A.3): 3 epochs, batch 16 or 32, learning rate 2e-5 … 5e-5, dropout 0.1. Small models want
    a larger rate (Turc et al. 2019 search up to 3e-4).

    freeze: "none", "embeddings", a number n (embeddings and the first n blocks), or "all" (BERT as a source of
    features, §5.3; its dropout is off) · layer_decay: each block learns at this multiple of the rate of the block above
    (Howard and Ruder 2018) · bias_correction: False is Adam as in the original BERT code (Mosbach et al. 2021, Zhang et
    al. 2021) · mlm_weight: of a masked-LM loss on the same texts · averaging: what answers, is measured and saved is
    the running mean of the weights with this share (1: all steps alike, less: later ones count more; see averaging.py);
    0 is the weights as they are · set_aside: share of the training set kept for thresholds, by tasks that need them; of
    a set too small for that nothing, and they stay 0.5 · dev_sample: examples of a larger dev set that are measured on
    along the way · group_by_length: rows of about one length in a batch, which leaves less padding to compute.
    """

    epochs: int = 3
    batch_size: int = 32
    dropout: float = 0.1
    optimization: Optimization = field(default_factory=lambda: Optimization(learning_rate=5e-5))
    seed: int = 0
    from_scratch: bool = False  # the checkpoint's sizes and vocabulary, but random weights
    evaluations_per_epoch: int = 2
    dev_sample: int = 1000
    max_seconds: float | None = None
    freeze: int | str = "none"
    layer_decay: float = 1.0
    bias_correction: bool = True
    mlm_weight: float = 0.0
    averaging: float = 0.0
    augmentation: Augmentation | None = None
    set_aside: float = 0.1
    group_by_length: bool = False

    def __post_init__(self):
        super().__post_init__()
        for name in ("epochs", "batch_size", "evaluations_per_epoch", "dev_sample"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.freeze not in ("none", "embeddings", "all") and not (isinstance(self.freeze, int) and self.freeze >= 0):
            raise ValueError(f"freeze is {self.freeze!r}; it can be none, embeddings, all or a number of blocks")
        if self.optimization.optimizer == "muon" and not self.bias_correction:
            raise ValueError("Adam without bias correction is for all weights: Muon does not go with it")
        if not 0 < self.layer_decay <= 1:
            raise ValueError(f"the layer decay is a factor above 0 and at most 1, not {self.layer_decay}")
        if self.mlm_weight < 0:
            raise ValueError(f"the weight of the MLM loss cannot be negative: {self.mlm_weight}")
        if not 0 <= self.averaging <= 1:
            raise ValueError(f"averaging is over a share of the steps between 0 and 1, not {self.averaging}")

    def options(self, **changes) -> Options:
        """The part that is saved with the model."""
        return Options(**{**{f.name: getattr(self, f.name) for f in fields(Options)}, **changes})


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
    check_answers(dev_data)
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
    state = TrainingState(optimizer_for(learner, settings))
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


def spread(count: int, most: int) -> list[int]:
    """At most `most` of `count` indices, evenly spread, in order."""
    return list(range(count)) if count <= most else [i * count // most for i in range(most)]


def answered(predictor: Predictor, given: Any) -> dict:
    """The answer to one watched input, and `asked`, the key of that input; what cannot be answered says why, as a run
    must not end of it."""
    asked = {"asked": input_key(given)}
    try:
        return {**predictor.predict([given])[0], **asked}
    except ValueError as error:
        return {"input": given, "error": str(error), **asked}


# --- the model --------------------------------------------------------------------------------------------------------


class Learner(nn.Module):
    """The model while it learns: its loss, and perhaps a masked-LM loss on the same texts. Frozen parts stay in eval
    mode, so that what they compute does not change."""

    def __init__(
        self, model: nn.Module, frozen: Sequence[nn.Module] = (), mlm: MlmHead | None = None, weight: float = 0.0
    ):
        super().__init__()
        self.model, self.mlm, self.weight = model, mlm, weight
        self.frozen = list(frozen)
        for part in self.frozen:
            part.requires_grad_(False)

    @classmethod
    def of(
        cls,
        source: nn.Module,
        task: Task,
        labels: Any,
        options: Options,
        tokenizer: Tokenizer,
        settings: FinetuneSettings,
    ) -> Learner:
        """The checkpoint with a fresh head; or, from scratch, the same sizes with random weights."""
        config = source.config.change(
            hidden_dropout_prob=settings.dropout,
            attention_probs_dropout_prob=settings.dropout,
            vocab_size=max(source.config.vocab_size, tokenizer.vocab_size),  # some pad theirs beyond the vocabulary
        )
        model = task.head(config, labels, options)
        mlm = MlmHead(config, model.bert.embeddings.token) if settings.mlm_weight else None
        if not settings.from_scratch:
            copy_rows(source if isinstance(source, Bert) else source.bert, model.bert)
            if mlm is not None and isinstance(source, BertForPreTraining):
                copy_rows(source.mlm, mlm)
        return cls(model, frozen_parts(model.bert, settings.freeze), mlm, settings.mlm_weight)

    def train(self, mode: bool = True) -> Learner:
        super().train(mode)
        for part in self.frozen:
            part.eval()
        return self

    def forward(self, batch: TaskBatch) -> dict[str, Tensor]:
        loss = self.model(batch).loss
        if self.mlm is None:
            return {"loss": loss}
        length = batch.ids.size(-1)  # choices: (B, C, T) are B·C texts of T tokens
        ids, segments, padding, labels = (
            None if x is None else x.view(-1, length)
            for x in (batch.masked, batch.segments, batch.padding, batch.masked_labels)
        )
        x, _ = self.model.bert(Batch(ids, segments, padding))  # (B, T, H)
        asked = labels != IGNORE
        mlm_loss = nn.functional.cross_entropy(self.mlm(x[asked]).float(), labels[asked])
        return {"loss": loss + self.weight * mlm_loss, "task_loss": loss, "mlm_loss": mlm_loss}


@torch.no_grad()
def copy_rows(source: nn.Module, target: nn.Module) -> None:
    """Weights by name; where the target has more rows (a grown vocabulary), its further ones stay as they are."""
    weights = target.state_dict()
    for name, value in source.state_dict().items():
        weights[name][: len(value)].copy_(value)


def frozen_parts(bert: Bert, freeze: int | str) -> list[nn.Module]:
    """What does not learn: "none", "embeddings", embeddings and the first n blocks, or "all" of BERT."""
    if freeze == "none":
        return []
    if freeze == "all":
        return [bert]
    blocks = 0 if freeze == "embeddings" else freeze
    if blocks > len(bert.blocks):
        raise ValueError(f"freeze {blocks} blocks, but the model has {len(bert.blocks)}")
    return [bert.embeddings, *bert.blocks[:blocks]]


def metadata_values(data: TaskData, columns: Sequence[str]) -> dict[str, list[str]]:
    """The values of each metadata column, sorted. Raises ValueError for a column the data does not have."""
    values = {}
    for column in columns:
        found = {example.extra[column] for example in data.examples if example.extra.get(column)}
        if not found:
            has = sorted({name for example in data.examples for name in example.extra})
            name = data.name or "the data"
            raise ValueError(f"{name} has no column {column!r} to use as metadata; it has {', '.join(has) or 'none'}")
        values[column] = sorted(found)
    return values


def with_metadata_tokens(tokenizer: Tokenizer, options: Options) -> Tokenizer:
    """The tokenizer with a special token for each metadata value, if they are read as tokens. Raises ValueError for
    two values that would be the same token."""
    if options.metadata_as != "token" or not options.metadata:
        return tokenizer
    new: dict[str, str] = {}
    for name in options.metadata:
        for value in options.metadata_values[name]:
            token = metadata_token(name, value)
            if token in new:
                raise ValueError(
                    f"column {name!r}: the values {new[token]!r} and {value!r} would both be the token {token}; write "
                    "them alike, or read the column as an embedding"
                )
            new[token] = value
    return Tokenizer(
        list(tokenizer.pieces),
        lowercase=tokenizer.lowercase,
        special_tokens=[*tokenizer.special_tokens[len(SPECIAL_TOKENS) :], *new],
        max_word_chars=tokenizer.max_word_chars,
    )


def filler(start: str | Path):
    """Fills words as the checkpoint in `start` expects them."""
    model = checkpoint.load(start, kind=BertForPreTraining).to(best_device())
    return model_fill(model, checkpoint.load_tokenizer(start))


# --- optimization -----------------------------------------------------------------------------------------------------


class UncorrectedAdamW(torch.optim.Optimizer):
    """AdamW without the bias correction of its averages, as in the original BERT code: they start at 0, so step t is
    (1 − β₁ᵗ)/√(1 − β₂ᵗ) times too long: 3.2 at the first, 6.6 at the twelfth (Mosbach et al. 2021, §3)."""

    def __init__(self, groups: Iterable[dict], betas: tuple[float, float], eps: float):
        super().__init__(groups, {"lr": 0.0, "betas": betas, "eps": eps, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for weight in (p for p in group["params"] if p.grad is not None):
                state = self.state[weight]
                if not state:
                    state["m"], state["v"] = torch.zeros_like(weight), torch.zeros_like(weight)
                state["m"].lerp_(weight.grad, 1 - beta1)
                state["v"].mul_(beta2).addcmul_(weight.grad, weight.grad, value=1 - beta2)
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.addcdiv_(state["m"], state["v"].sqrt().add_(group["eps"]), value=-group["lr"])


def optimizer_for(learner: Learner, settings: FinetuneSettings) -> torch.optim.Optimizer:
    """As in pre-training, with a share of the learning rate by depth where layer_decay < 1."""
    optimization = settings.optimization
    top = learner.model.config.num_hidden_layers + 1

    def scale(name: str) -> float:
        return settings.layer_decay ** (top - depth(name, top))

    if settings.bias_correction:
        return optimizer_with_scales(learner, optimization, scale)
    betas = (optimization.beta1, optimization.beta2)
    return UncorrectedAdamW(weight_groups(learner, optimization, scale), betas, optimization.epsilon)


def depth(name: str, top: int) -> int:
    """0 for the embeddings, i + 1 for block i, `top` for what is new and the pooler."""
    if ".embeddings." in name:
        return 0
    parts = name.split(".")
    return int(parts[parts.index("blocks") + 1]) + 1 if "blocks" in parts else top


def training_batches(
    task: Task, features: Sequence[Features], settings: FinetuneSettings, tokenizer: Tokenizer
) -> Iterator[TaskBatch]:
    """Each epoch in a new random order."""
    order = torch.Generator().manual_seed(settings.seed)
    noise = torch.Generator().manual_seed(settings.seed)
    vocab = MaskVocabulary.of(tokenizer) if settings.mlm_weight else None
    for _ in range(settings.epochs):
        shuffled = torch.randperm(len(features), generator=order).tolist()
        groups = [shuffled[i : i + settings.batch_size] for i in range(0, len(shuffled), settings.batch_size)]
        if settings.group_by_length:
            groups = grouped_by_length(groups, [row.length for row in features], order)
        for group in groups:
            batch = task.batch([features[j] for j in group], tokenizer.pad_id)
            yield batch if vocab is None else masked(batch, vocab, tokenizer, noise)


def grouped_by_length(groups: list[list[int]], lengths: Sequence[int], rng: torch.Generator) -> list[list[int]]:
    """The rows of every LENGTH_WINDOW batches dealt out again by length, and these batches in random order.

    Only so many at a time, so that which rows meet still differs from epoch to epoch.
    """
    result = []
    for start in range(0, len(groups), LENGTH_WINDOW):
        window = groups[start : start + LENGTH_WINDOW]
        rows = iter(sorted(chain.from_iterable(window), key=lambda row: lengths[row]))
        dealt = [list(islice(rows, len(group))) for group in window]
        result += [dealt[i] for i in torch.randperm(len(dealt), generator=rng).tolist()]
    return result


def masked(batch: TaskBatch, vocab: MaskVocabulary, tokenizer: Tokenizer, rng: torch.Generator) -> TaskBatch:
    """The batch with a copy of its texts, masked as in pre-training."""
    ids = batch.ids.view(-1, batch.ids.size(-1))
    special = torch.isin(ids, torch.tensor(sorted(tokenizer.special_ids)))
    hidden, labels = mask_tokens(ids, special, vocab, rng)
    return replace(batch, masked=hidden.view_as(batch.ids), masked_labels=labels.view_as(batch.ids))


# --- answering and measuring ------------------------------------------------------------------------------------------

TASK_OF_HEAD = {  # for models that others have fine-tuned, whose config.json does not name one of our tasks
    "BertForSequenceClassification": "classification",
    "BertForTokenClassification": "tagging",
    "BertForQuestionAnswering": "span",
    "BertForMultipleChoice": "choice",
}
TASK_OF_PROBLEM = {"regression": "similarity", "multi_label_classification": "multilabel"}


@dataclass(frozen=True)
class Predictor:
    """A fine-tuned model and all it needs to answer: inputs in, JSON-able answers out."""

    model: nn.Module
    tokenizer: Tokenizer
    task: Task
    options: Options

    @classmethod
    def from_directory(cls, directory: str | Path) -> Predictor:
        """What `save` wrote, or a model with a task head that transformers has saved (with one text an input)."""
        model = checkpoint.load(directory)
        values = checkpoint.config_values(directory)
        name = values.get("minibert_task") or TASK_OF_HEAD.get(checkpoint.architecture(model))
        if name is None:
            raise checkpoint.CheckpointError(f"{directory} is not fine-tuned for a task: fine-tune it first")
        if "minibert_task" not in values:
            name = TASK_OF_PROBLEM.get(getattr(model, "problem", ""), name)
        known = {f.name for f in fields(Options)}
        options = {k: v for k, v in values.get("minibert_options", {}).items() if k in known}
        options = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
        options.setdefault("max_length", model.config.max_position_embeddings)
        try:
            task, options = task_named(name), Options(**options)
        except (TypeError, ValueError) as error:
            raise checkpoint.CheckpointError(f"{directory}: {error}") from error
        return cls(model, checkpoint.load_tokenizer(directory), task, options)

    def save(self, directory: str | Path, dtype: torch.dtype | None = None) -> Path:
        """A directory for `from_directory`, and for transformers where it has the head. dtype: of the weights there."""
        notes = {"minibert_task": self.task.name, "minibert_options": asdict(self.options)}
        return checkpoint.save(directory, self.model, self.tokenizer, dtype=dtype, notes=notes)

    @property
    def labels(self) -> Any:
        return self.model.labels

    def features(self, examples: Sequence) -> list[Features]:
        return self.task.features(self.tokenizer, examples, self.labels, self.options)

    @torch.no_grad()
    def outputs(self, features: Sequence[Features], batch_size: int = 64) -> tuple[list[dict], float]:
        """(the arrays of the model's output of each row, in order; the mean loss, 0 if nothing is asked). Rows of like
        length share a batch."""
        order = sorted(range(len(features)), key=lambda i: -features[i].length)
        device = next(self.model.parameters()).device
        training = self.model.training
        self.model.eval()
        results: list[dict] = [{} for _ in features]
        loss, asked, i = 0.0, 0, 0
        while i < len(order):
            chosen = order[i : i + max(1, min(batch_size, EVALUATION_TOKENS // features[order[i]].length))]
            i += len(chosen)
            batch = self.task.batch([features[j] for j in chosen], self.tokenizer.pad_id)
            with autocast(device):
                output = self.model(batch.to(device))
            if output.loss is not None:
                loss, asked = loss + output.loss.item() * batch.asked, asked + batch.asked
            arrays = {"logits": output.logits, "intent_logits": output.intent_logits}
            arrays = {name: x.float().cpu().numpy() for name, x in arrays.items() if x is not None}
            for row, j in enumerate(chosen):
                results[j] = {name: x[row] for name, x in arrays.items()}
        self.model.train(training)
        return results, loss / max(asked, 1)

    def answers(self, examples: Sequence, features: Sequence[Features] | None = None) -> tuple[list[dict], float]:
        """(a prediction for each example, the mean loss). With metadata, a prediction says which values were read."""
        features = self.features(examples) if features is None else features
        outputs, loss = self.outputs(features)
        return self.decoded(outputs, features, examples), loss

    def decoded(self, outputs: Sequence[dict], features: Sequence[Features], examples: Sequence) -> list[dict]:
        """The predictions that the model's outputs are."""
        predictions = self.task.decode(outputs, features, examples, self.labels, self.options)
        if self.options.metadata:
            beside = [metadata_read(example.extra, self.options) for example in examples]
            predictions = [{**one, "metadata": values} for one, values in zip(predictions, beside, strict=True)]
        return predictions

    def predict(self, inputs: Sequence[Any]) -> list[dict]:
        """An answer for each input, in order. `Task.example` says what an input is; ValueError names a bad one."""
        examples = []
        for number, given in enumerate(inputs, 1):
            try:
                examples.append(self.task.example(given))
            except ValueError as error:
                raise ValueError(f"input {number}: {error}") from error
        return self.answers(examples)[0] if examples else []

    def stream(self, inputs: Iterable[Any], batch_size: int = 32) -> Iterator[dict]:
        """The answers to any number of inputs, as they come. ValueError names a bad one, after the answers to all that
        stand before it."""
        inputs = iter(inputs)
        return self.stream_batches(iter(lambda: list(islice(inputs, batch_size)), []))

    def stream_batches(self, batches: Iterable[Sequence[Any]]) -> Iterator[dict]:
        """The same, with each batch answered as soon as it is there."""
        first = 1
        for batch in batches:
            try:
                answers: Iterable[dict] = self.predict(batch)
            except ValueError:
                answers = self.one_by_one(batch, first)
            yield from answers
            first += len(batch)

    def one_by_one(self, inputs: Sequence[Any], first: int) -> Iterator[dict]:
        for number, given in enumerate(inputs, first):
            try:
                (answer,) = self.answers([self.task.example(given)])[0]
            except ValueError as error:
                raise ValueError(f"input {number}: {error}") from error
            yield answer

    def changed(self, **options: Any) -> Predictor:
        return replace(self, options=replace(self.options, **options))

    def tuned(self, examples: Sequence, features: Sequence[Features] | None = None) -> Predictor:
        """With the thresholds that are best on these examples."""
        predictions, _ = self.answers(examples, features)
        return self.changed(**self.task.tune(predictions, examples, self.labels))


def lines_as_they_come(file: BinaryIO, most: int) -> Iterator[list[str]]:
    """The lines that can be read without waiting, at least one and at most `most` at a time: a program that writes a
    line and waits for its answer is not kept waiting for more lines."""
    rest, first = b"", True
    while read := file.read1(2**16):
        *lines, rest = (rest + read).split(b"\n")
        for start in range(0, len(lines), most):
            batch = enumerate(lines[start : start + most], start)
            yield [text_of(line, first and number == 0) for number, line in batch]
        first = first and not lines
    if rest:
        yield [text_of(rest, first)]


def text_of(line: bytes, first: bool) -> str:
    """first: a byte order mark may stand before it."""
    return line.removesuffix(b"\r").decode("utf-8-sig" if first else "utf-8")


def evaluate(
    predictor: Predictor,
    data: TaskData,
    step: int = 0,
    *,
    features: Sequence[Features] | None = None,
    details_of: TaskData | None = None,
) -> Eval:
    """The task's metrics and the mean loss on `data`. The details hold the labels, what the task draws (a confusion
    matrix, scores by type …), and a prediction with its `grade` (0–1) for each example of `data`, or of `details_of`, a
    part of it."""
    predictions, loss = predictor.answers(data.examples, features)
    return evaluation(predictor, data, predictions, loss, step, details_of or data)


def evaluation(
    predictor: Predictor, data: TaskData, predictions: Sequence[dict], loss: float, step: int, details_of: TaskData
) -> Eval:
    """`evaluate` of predictions that are there already."""
    task = predictor.task
    metrics = {**task.score(predictions, data.examples), "loss": loss}
    details = task.details(predictions, data.examples, predictor.labels)
    place = {id(example): i for i, example in enumerate(data.examples)}
    shown = [
        {k: v for k, v in predictions[place[id(example)]].items() if k not in task.bulky}
        | {"grade": task.grade(predictions[place[id(example)]], example)}
        for example in details_of.examples
    ]
    return Eval(
        step,
        metrics,
        {"labels": predictor.labels, "measured_on": len(data.examples), **details, "predictions": shown},
    )


def unknown_labels(predictor: Predictor, data: TaskData) -> list[str]:
    """Labels of the data that the model cannot answer. Raises ValueError where it can answer none of them."""
    known = predictor.task.answerable(predictor.labels)
    unknown = [] if known is None else [label for label in data.labels if label not in known]
    if unknown and len(unknown) == len(data.labels):
        has, knows = ", ".join(unknown), ", ".join(known)
        raise ValueError(f"{data.name} has the labels {has}, and the model has none of them: it has {knows}")
    return unknown


class TooFewError(ValueError):
    """Nothing can be set aside."""


def split_dev(data: TaskData, share: float = 0.2, seed: int = 0) -> tuple[TaskData, TaskData]:
    """Train and dev from one file: each class divided alike, every class keeps an example in train; what shares a
    passage stays together. Problems stay with train."""
    rng = torch.Generator().manual_seed(seed)
    groups: dict[Any, dict[Any, list[int]]] = {}
    for i, example in enumerate(data.examples):
        context = getattr(example, "context", None)
        stratum = "" if context is not None else next(iter(example.marks), "")
        groups.setdefault(stratum, {}).setdefault(i if context is None else context, []).append(i)
    dev: set[int] = set()
    for stratum in sorted(groups, key=label_order):
        members = list(groups[stratum].values())
        count = min(round(share * len(members)), len(members) - 1)
        dev.update(i for j in torch.randperm(len(members), generator=rng)[:count].tolist() for i in members[j])
    if not dev:
        least = int(0.5 / share) + 1
        raise TooFewError(f"too few examples to set some aside for measuring: give at least {least} of a class")
    kept = [i for i in range(len(data.examples)) if i not in dev]
    return data.take(kept), replace(data.take(sorted(dev)), problems=[])
