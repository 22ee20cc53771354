"""Fine-tuning: a pre-trained (or random) BERT, one new layer, labelled text (Devlin et al. 2019, §4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from sklearn.metrics import confusion_matrix, f1_score

from minibert import checkpoint
from minibert.data import padded_batch
from minibert.heads import BertForSequenceClassification
from minibert.model import Batch
from minibert.tasks import ClassificationData, Example, label_order
from minibert.tokenizer import Tokenizer
from minibert.train import Done, Eval, Event, Optimization, Sample, Saved, Started, autocast, best_device, train


@dataclass(frozen=True)
class FinetuneSettings:
    """The paper's values (§A.3): 3 epochs, batch 16 or 32, learning rate 2e-5 … 5e-5, dropout 0.1. Small models want
    a larger rate (Turc et al. 2019 search up to 3e-4)."""

    epochs: int = 3
    batch_size: int = 32
    max_length: int = 128
    pooling: str = "cls"
    dropout: float = 0.1
    optimization: Optimization = field(default_factory=lambda: Optimization(learning_rate=5e-5))
    seed: int = 0
    from_scratch: bool = False  # the checkpoint's sizes and vocabulary, but random weights
    evaluations_per_epoch: int = 2
    max_seconds: float | None = None

    def __post_init__(self):
        for name in ("epochs", "batch_size", "evaluations_per_epoch"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")


def finetune_classification(
    start: str | Path,
    train_data: ClassificationData,
    dev_data: ClassificationData,
    settings: FinetuneSettings,
    *,
    out: str | Path | None = None,
    watch: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Fine-tune the checkpoint in `start` and yield the events of the run; save to `out` at its end, or when stopped.

    dev_data is measured before the first step, `evaluations_per_epoch` times an epoch and at the end (an `Eval` whose
    details hold the predictions). `watch`: sentences answered at the same times (`Sample`). `mailbox()` returns
    messages received since it was last asked: a list of strings replaces `watch`, and is answered at once.
    Raises ValueError when a dev label never occurs in training.
    """
    torch.manual_seed(settings.seed)
    labels = train_data.labels
    unknown = sorted(set(dev_data.labels) - set(labels), key=label_order)
    if unknown:
        raise ValueError(f"the dev data has labels that training never shows: {', '.join(unknown)}")
    tokenizer = checkpoint.load_tokenizer(start)
    model = start_model(start, labels, settings).to(best_device())
    max_length = min(settings.max_length, model.config.max_position_embeddings)
    classifier = Classifier(model, tokenizer, max_length)
    encoded = classifier.encode([example.text for example in train_data.examples])
    targets = [labels.index(example.label) for example in train_data.examples]
    steps_per_epoch = -(-len(encoded) // settings.batch_size)
    steps = steps_per_epoch * settings.epochs
    every = max(1, steps_per_epoch // settings.evaluations_per_epoch)
    batches = training_batches(encoded, targets, settings, tokenizer.pad_id)

    def answer(step: int) -> Iterator[Event]:
        if watch:
            yield Sample(step, classifier.predict(watch))

    sizes = {"train": len(encoded), "dev": len(dev_data.examples), "steps": steps, "steps_per_epoch": steps_per_epoch}
    dev_examples = [asdict(example) for example in dev_data.examples]
    yield Started(asdict(settings), {**sizes, "labels": labels, "dev_examples": dev_examples})
    yield (last := evaluate(classifier, dev_data, 0))
    yield from answer(0)
    events = train(model, batches, settings.optimization, steps=steps, steps_per_epoch=steps_per_epoch)
    try:
        for event in events:
            if isinstance(event, Done):
                break
            yield event
            for message in mailbox():
                watch = [str(text) for text in message]
                yield from answer(event.step)
            timed_out = settings.max_seconds is not None and event.seconds > settings.max_seconds
            if event.step % every == 0 or event.step == steps or timed_out:
                yield (last := evaluate(classifier, dev_data, event.step))
                yield from answer(event.step)
            if timed_out:
                break
    except GeneratorExit:  # whoever asked for the events wants no more: what was learned is not lost
        if out is not None:
            checkpoint.save(out, model.eval(), tokenizer)
        raise
    if out is not None:
        checkpoint.save(out, model, tokenizer)
        yield Saved(event.step, str(out))
    yield Done(event.step, event.tokens, event.seconds, last.metrics)


def start_model(start: str | Path, labels: list[str], settings: FinetuneSettings) -> BertForSequenceClassification:
    """The checkpoint with a fresh classifier; or, from scratch, the same sizes with random weights."""
    model = checkpoint.load(start, kind=BertForSequenceClassification, labels=labels, pooling=settings.pooling)
    config = model.config.change(hidden_dropout_prob=settings.dropout, attention_probs_dropout_prob=settings.dropout)
    fresh = BertForSequenceClassification(config, labels, pooling=settings.pooling)
    if not settings.from_scratch:
        fresh.bert.load_state_dict(model.bert.state_dict())
    return fresh


def training_batches(
    encoded: list[list[int]], targets: list[int], settings: FinetuneSettings, pad_id: int
) -> Iterator[Batch]:
    """Each epoch in a new random order."""
    rng = torch.Generator().manual_seed(settings.seed)
    for _ in range(settings.epochs):
        order = torch.randperm(len(encoded), generator=rng).tolist()
        for i in range(0, len(order), settings.batch_size):
            chosen = order[i : i + settings.batch_size]
            labels = torch.tensor([targets[j] for j in chosen])
            yield padded_batch([encoded[j] for j in chosen], pad_id, labels=labels)


@dataclass(frozen=True)
class Classifier:
    """A fine-tuned model and its tokenizer: texts in, classes with probabilities out."""

    model: BertForSequenceClassification
    tokenizer: Tokenizer
    max_length: int

    @classmethod
    def from_directory(cls, directory: str | Path) -> Classifier:
        model = checkpoint.load(directory)
        if not isinstance(model, BertForSequenceClassification):
            raise checkpoint.CheckpointError(f"{directory} is not a fine-tuned classifier: fine-tune it first")
        return cls(model, checkpoint.load_tokenizer(directory), model.config.max_position_embeddings)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """[CLS] text [SEP], the end cut off where too long."""
        keep = self.max_length - 2
        bulk = self.tokenizer.encode_bulk(texts)
        return [[self.tokenizer.cls_id, *ids[:keep], self.tokenizer.sep_id] for ids in bulk]

    @torch.no_grad()
    def probabilities(self, texts: Sequence[str], batch_size: int = 64) -> torch.Tensor:
        """(texts, classes), in the order of `texts`; texts of like length share a batch."""
        encoded = self.encode(texts)
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
        device = next(self.model.parameters()).device
        training = self.model.training
        self.model.eval()
        probs = torch.empty(len(encoded), len(self.model.labels))
        for i in range(0, len(order), batch_size):
            chosen = order[i : i + batch_size]
            batch = padded_batch([encoded[j] for j in chosen], self.tokenizer.pad_id).to(device)
            with autocast(device):
                logits = self.model(batch).logits
            probs[chosen] = logits.float().softmax(-1).cpu()
        self.model.train(training)
        return probs

    def predict(self, texts: Sequence[str]) -> list[dict]:
        """A dict per text: `text`, `label`, and `probabilities` by label."""
        labels = self.model.labels
        return [
            {
                "text": text,
                "label": labels[max(range(len(row)), key=row.__getitem__)],
                "probabilities": dict(zip(labels, row, strict=True)),
            }
            for text, row in zip(texts, self.probabilities(texts).tolist(), strict=True)
        ]


def evaluate(classifier: Classifier, data: ClassificationData, step: int = 0) -> Eval:
    """Accuracy, macro F1 and mean cross-entropy; the details hold labels, confusion matrix (rows: truth) and, for
    each example in order, the probabilities."""
    labels = classifier.model.labels
    probs = classifier.probabilities([example.text for example in data.examples])
    truth = torch.tensor([labels.index(example.label) for example in data.examples])
    predicted = probs.argmax(-1)
    classes = list(range(len(labels)))
    return Eval(
        step,
        metrics={
            "accuracy": (predicted == truth).double().mean().item(),
            "macro_f1": float(f1_score(truth, predicted, labels=classes, average="macro", zero_division=0.0)),
            "loss": -probs.gather(1, truth[:, None]).clamp_min(1e-12).log().mean().item(),
        },
        details={
            "labels": labels,
            "confusion": confusion_matrix(truth, predicted, labels=classes).tolist(),
            "probabilities": probs.tolist(),
        },
    )


def split_dev(
    data: ClassificationData, share: float = 0.2, seed: int = 0
) -> tuple[ClassificationData, ClassificationData]:
    """Train and dev from one file, each class divided alike; every class keeps an example in train."""
    rng = torch.Generator().manual_seed(seed)
    dev: set[int] = set()
    for label in data.labels:
        members = [i for i, example in enumerate(data.examples) if example.label == label]
        count = min(round(share * len(members)), len(members) - 1)
        dev.update(members[i] for i in torch.randperm(len(members), generator=rng)[:count].tolist())
    parts: tuple[list[Example], list[Example]] = ([], [])
    for i, example in enumerate(data.examples):
        parts[i in dev].append(example)
    if not parts[1]:
        raise ValueError("too few examples to set some aside for measuring: give at least five of a class")
    return ClassificationData(parts[0], data.skipped), ClassificationData(parts[1])
