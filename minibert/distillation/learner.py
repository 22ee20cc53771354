"""The student in training: a `Learner` whose targets are the teacher's predictions and activations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from minibert.distillation import losses
from minibert.distillation.activations import ActivationTap, TokenAlignment, uniform_layers, word_indices
from minibert.finetune.batches import TrainingBatch
from minibert.finetune.distillation import Distillation
from minibert.finetune.learner import Learner
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import TrainingRows, WrapLearner
from minibert.finetune.settings import FinetuneSettings
from minibert.heads import TaskBatch
from minibert.model import initialize, no_tap
from minibert.tasks import Features
from minibert.tasks.features import padded

SOFT = {
    "single_label_classification": losses.soft_label_loss,
    "multi_label_classification": losses.soft_multilabel_loss,
}


class Distiller(Learner):
    """teacher_logits: for every row of the training data, computed once: all that soft labels need, also with another
    vocabulary. The losses on activations cost a forward pass of the teacher per batch. The learned projections
    (`maps`) are discarded after training; the teacher is frozen."""

    def __init__(
        self,
        learner: Learner,
        student: Predictor,
        teacher: Predictor,
        rows: Sequence[Features],
        examples: Sequence,
        distillation: Distillation,
    ):
        """rows: the student's features · examples: those they were made from."""
        check(learner, student, teacher)
        super().__init__(learner.model, learner.frozen)
        self.frozen.append(teacher.model)
        teacher.model.requires_grad_(False).eval()
        self.teacher, self.student, self.distillation = teacher, student, distillation
        rows_of = {row.example: row for row in teacher.features(examples)}
        self.student_rows, self.teacher_rows = rows, [rows_of[row.example] for row in rows]
        logits = [torch.from_numpy(output["logits"]) for output in teacher.outputs(self.teacher_rows)[0]]
        order = [teacher.labels.index(label) for label in student.labels]
        self.teacher_logits = torch.stack(logits)[:, order].to(next(learner.model.parameters()).device)  # (N, C)
        config, width = learner.model.config, teacher.model.config.hidden_size
        self.layers = uniform_layers(config, teacher.model.config)
        self.same_vocab = student.tokenizer.vocab == teacher.tokenizer.vocab
        mapped = [name for name in ("hidden", "embeddings", "cosine") if getattr(distillation, name)]
        self.maps = nn.ModuleDict({name: nn.Linear(config.hidden_size, width, bias=False) for name in mapped})
        initialize(self.maps, config.initializer_range)
        self.to(self.teacher_logits.device)

    def forward(self, batch: TrainingBatch) -> dict[str, Tensor]:
        tap = ActivationTap(tuple(self.layers), len(self.layers)) if self.distillation.inside else None
        output = self.model(batch, tap or no_tap)
        terms = {"labels": output.loss, "soft": self.soft_loss(output.logits, self.teacher_logits[batch.rows])}
        if tap is not None:
            terms |= self.activation_losses(batch, tap)
        weighted = {name: (weight, terms[name]) for name, weight in self.distillation.weights.items() if weight}
        total: Any = sum(weight * loss for weight, loss in weighted.values())
        return {"loss": total, **{f"{name}_loss": loss for name, (_, loss) in weighted.items()}}

    def soft_loss(self, logits: Tensor, teacher_logits: Tensor) -> Tensor:
        problem = str(self.model.problem)
        if problem == "regression":
            return losses.regression_loss(logits, teacher_logits)
        return SOFT[problem](logits, teacher_logits, self.distillation.temperature)

    def activation_losses(self, batch: TrainingBatch, student: ActivationTap) -> dict[str, Tensor]:
        """The losses on scores and vectors inside the models, by name."""
        weights, terms = self.distillation, {}
        teacher = ActivationTap(tuple(self.layers.values()), self.teacher.model.config.num_hidden_layers)
        rows = [self.teacher_rows[i] for i in batch.rows.tolist()]
        teacher_batch = TaskBatch(**padded(rows, self.teacher.tokenizer.pad_id)).to(batch.ids.device)
        with torch.no_grad():
            self.teacher.model.bert(teacher_batch, teacher)
        aligned = self.align(batch, rows, teacher_batch.ids.size(1))
        real = aligned.real.to(batch.ids.device)
        if weights.attention:
            scores = [aligned.scores(student.scores(m), teacher.scores(n)) for m, n in self.layers.items()]
            terms["attention"] = torch.stack([losses.attention_loss(*pair, real) for pair in scores]).mean()
        if weights.hidden:
            mapped = [(self.maps["hidden"](student.hidden(m)), teacher.hidden(n)) for m, n in self.layers.items()]
            vectors = [aligned.vectors(*pair) for pair in mapped]
            terms["hidden"] = torch.stack([losses.hidden_loss(*pair, real) for pair in vectors]).mean()
        if weights.embeddings:
            x = self.maps["embeddings"](student.embeddings)
            terms["embeddings"] = losses.hidden_loss(*aligned.vectors(x, teacher.embeddings), real)
        if weights.cosine:
            x = self.maps["cosine"](student.hidden(student.last))
            terms["cosine"] = losses.cosine_loss(*aligned.vectors(x, teacher.hidden(teacher.last)), real)
        heads = self.model.config.num_attention_heads
        for name, (first, second) in {"attention_relation": ("query", "key"), "value_relation": ("value",) * 2}.items():
            if getattr(weights, name):
                x, teacher_x = aligned.vectors(student.projection(first), teacher.projection(first))
                y, teacher_y = aligned.vectors(student.projection(second), teacher.projection(second))
                terms[name] = losses.relation_loss((x, y), (teacher_x, teacher_y), heads, real)
        return terms

    def align(self, batch: TrainingBatch, teacher_rows: list[Features], width: int) -> TokenAlignment:
        """Align the tokens of both models in a batch, by words if they differ. width: tokens of the teacher's batch."""
        rows = [self.student_rows[i] for i in batch.rows.tolist()]
        if self.same_vocab and all(a.ids == b.ids for a, b in zip(rows, teacher_rows, strict=True)):
            real = batch.padding if batch.padding is not None else torch.ones_like(batch.ids, dtype=torch.bool)
            return TokenAlignment(None, None, real)
        return TokenAlignment.of(
            [word_indices(row.ids, self.student.tokenizer) for row in rows],
            [word_indices(row.ids, self.teacher.tokenizer) for row in teacher_rows],
            (batch.ids.size(1), width),
        )


def taught_by(teacher: str | Path) -> WrapLearner:
    """For `finetune`: the student of the model in this folder, which is fine-tuned for the same task. Without a
    `distillation` in the settings it learns from soft labels alone."""

    def wrap(learner: Learner, student: Predictor, rows: TrainingRows, settings: FinetuneSettings) -> Distiller:
        if settings.vat_weight:
            raise ValueError("with a teacher nothing is learned by smoothness: choose one")
        predictor = Predictor.from_directory(teacher)
        predictor.model.to(next(learner.model.parameters()).device)
        return Distiller(learner, student, predictor, rows.rows, rows.examples, settings.distillation or Distillation())

    return wrap


def check(learner: Learner, student: Predictor, teacher: Predictor) -> None:
    """Raise ValueError if the teacher cannot teach this student."""
    if student.task.architecture != "BertForSequenceClassification":
        raise ValueError(f"the task {student.task.name} cannot be taught: it asks for more than one answer a text")
    if teacher.task.name != student.task.name:
        raise ValueError(f"the teacher has learned {teacher.task.name}, the student is to learn {student.task.name}")
    if unknown := set(student.labels) ^ set(teacher.labels):
        raise ValueError(f"teacher and student must have the same labels; only one of them has {min(unknown)!r}")
    if len(learner.losses):
        raise ValueError("with a teacher there is no masked-LM loss and no column learned beside: choose one")
    if student.options.metadata != teacher.options.metadata:
        raise ValueError("teacher and student must read the same columns beside the text")
