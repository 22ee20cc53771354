"""Prediction with a fine-tuned model: inputs in, JSON-able predictions out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from minibert import checkpoint
from minibert.heads import head_options
from minibert.tasks import Options, Task, task_named, task_of_head
from minibert.tasks.metadata import metadata_read
from minibert.text.batches import length_batches
from minibert.tokenizer import Tokenizer


class NotNumbersError(ValueError):
    """The model's output is not finite although its weights are: they are too large."""


@dataclass(frozen=True)
class Predictor:
    """A fine-tuned model and all it needs to predict: inputs in, JSON-able predictions out. model: a `TaskHead`, or a
    `Diet`."""

    model: Any
    tokenizer: Tokenizer
    task: Task
    options: Options

    @classmethod
    def from_directory(cls, directory: str | Path) -> Predictor:
        """Load what `save` wrote, or a model with a task head that transformers saved (with one text per input)."""
        model = checkpoint.load(directory)
        values = checkpoint.config_values(directory)
        suitable = task_of_head(type(model).__name__, getattr(model, "problem", ""))
        name = values.get("minibert_task") or (suitable.name if suitable else None)
        if name is None:
            raise checkpoint.CheckpointError(f"{directory} is not fine-tuned for a task: fine-tune it first")
        positions = model.config.longest
        try:
            task = task_named(name)
            options = Options.read({"max_length": positions, **values.get("minibert_options", {})})
            if type(model).__name__ != task.architecture:
                raise ValueError(f"the task {task.name} has no model like {type(model).__name__}")
            task.check_reading(options)
            if options.max_length > positions:
                raise ValueError(f"max_length is {options.max_length}, and the model has {positions} positions")
            if head_options(options)["metadata"] != model.options.metadata:
                raise ValueError("the model reads other metadata than minibert_options say")
            if options.thresholds is not None and len(options.thresholds) != len(model.labels):
                raise ValueError(f"{len(options.thresholds)} thresholds for {len(model.labels)} labels")
        except ValueError as error:
            raise checkpoint.CheckpointError(f"{directory}: {error}") from error
        return cls(model, checkpoint.load_tokenizer(directory), task, options)

    def save(self, directory: str | Path, dtype: torch.dtype | None = None) -> Path:
        """Write a directory for `from_directory`, and transformers if it has the head. dtype: of the saved weights."""
        notes = {"minibert_task": self.task.name, "minibert_options": asdict(self.options)}
        return checkpoint.save(directory, self.model, self.tokenizer, dtype=dtype, notes=notes)

    @property
    def labels(self) -> Any:
        return self.model.labels

    def features(self, examples: Sequence) -> list[Any]:
        return self.task.features(self.tokenizer, examples, self.labels, self.options)

    @torch.no_grad()
    def outputs(self, features: Sequence[Any], batch_size: int = 64) -> tuple[list[dict], float]:
        """(arrays of the model's output for each row, in order; the mean loss, 0 without targets). Rows of similar
        length share a batch."""
        device = next(self.model.parameters()).device
        training = self.model.training
        self.model.eval()
        results: list[dict] = [{} for _ in features]
        loss, num_targets = 0.0, 0
        for rows in length_batches([row.length for row in features], batch_size):
            arrays, batch_loss, count = self.batch_outputs([features[i] for i in rows], device)
            if not all(np.isfinite(x).all() for output in arrays for x in output.values()):
                raise NotNumbersError("the model answers with what is no finite number: it has learned nothing usable")
            loss, num_targets = loss + batch_loss * count, num_targets + count
            for i, output in zip(rows, arrays, strict=True):
                results[i] = output
        self.model.train(training)
        return results, loss / max(num_targets, 1)

    def batch_outputs(self, features: Sequence[Any], device: torch.device) -> tuple[list[dict], float, int]:
        """(the output of each row, the mean loss, the number of targets) of one batch."""
        batch = self.task.batch(features, self.tokenizer.pad_id)
        output = self.model(batch.to(device))
        tensors = {"logits": output.logits, "intent_logits": output.intent_logits}
        arrays = {name: x.float().cpu().numpy() for name, x in tensors.items() if x is not None}
        rows = [{name: x[i] for name, x in arrays.items()} for i in range(len(features))]
        return (rows, 0.0, 0) if output.loss is None else (rows, output.loss.item(), batch.num_targets)

    def answers(
        self, examples: Sequence, features: Sequence[Any] | None = None, batch_size: int = 64
    ) -> tuple[list[dict], float]:
        """(a prediction for each example, the mean loss). With metadata, a prediction has the values that were read."""
        features = self.features(examples) if features is None else features
        outputs, loss = self.outputs(features, batch_size)
        return self.decoded(outputs, features, examples), loss

    def decoded(self, outputs: Sequence[dict], features: Sequence[Any], examples: Sequence) -> list[dict]:
        """Decode the model's outputs into predictions."""
        predictions = self.task.decode(outputs, features, examples, self.labels, self.options)
        if self.options.metadata:
            values = [metadata_read(example.extra, self.options) for example in examples]
            predictions = [{**one, "metadata": read} for one, read in zip(predictions, values, strict=True)]
        return predictions

    def predict(self, inputs: Sequence[Any]) -> list[dict]:
        """A prediction for each input, in order. Inputs are those of `Task.example`; ValueError names a bad one."""
        examples = []
        for number, value in enumerate(inputs, 1):
            try:
                examples.append(self.task.example(value))
            except ValueError as error:
                raise ValueError(f"input {number}: {error}") from error
        return self.answers(examples)[0] if examples else []

    def stream(self, inputs: Iterable[Any], batch_size: int = 32, sorted_together: int = 1) -> Iterator[dict]:
        """Predictions for any number of inputs, as they come. A bad input raises ValueError, which names it, after the
        predictions for all inputs before it. sorted_together: batches read at once, whose inputs are sorted by length.
        """
        return self.stream_batches(in_batches(inputs, sorted_together * batch_size), batch_size)

    def stream_batches(self, batches: Iterable[Sequence[Any]], batch_size: int = 64) -> Iterator[dict]:
        """Like `stream`, but what comes together is predicted as soon as it arrives."""
        first = 1
        for inputs in batches:
            yield from self.until_bad(inputs, first, batch_size)
            first += len(inputs)

    def until_bad(self, inputs: Sequence[Any], first: int, batch_size: int) -> Iterator[dict]:
        """Predictions for the inputs before the first bad one, found by halving."""
        try:
            answers, _ = self.answers([self.task.example(value) for value in inputs], batch_size=batch_size)
        except ValueError as error:
            if len(inputs) == 1:
                raise ValueError(f"input {first}: {error}") from error
            middle = len(inputs) // 2
            yield from self.until_bad(inputs[:middle], first, batch_size)
            yield from self.until_bad(inputs[middle:], first + middle, batch_size)
        else:
            yield from answers

    def changed(self, **options: Any) -> Predictor:
        return replace(self, options=replace(self.options, **options))

    def tuned(self, examples: Sequence, features: Sequence[Any] | None = None) -> Predictor:
        """A copy with the thresholds that score best on these examples."""
        predictions, _ = self.answers(examples, features)
        return self.changed(**self.task.tune(predictions, examples, self.labels))


def in_batches(inputs: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of `size` inputs, and what is left. If reading an input raises ValueError, those before it come first."""
    batch: list[Any] = []
    try:
        for value in inputs:
            batch.append(value)
            if len(batch) == size:
                yield batch
                batch = []
    except ValueError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
