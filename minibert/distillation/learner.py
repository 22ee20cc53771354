"""The student in training: a `Learner` whose targets are its teacher's answers and activations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from minibert.distillation import losses
from minibert.distillation.reading import ActivationTap, TokenAlignment, uniform_layers, word_indices
from minibert.finetune.batches import TrainingBatch
from minibert.finetune.distillation import Distillation
from minibert.finetune.learner import Learner
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import TrainingRows, WrapLearner
from minibert.finetune.settings import FinetuneSettings
from minibert.heads import HeadOutput, TaskBatch
from minibert.model import initialize, no_tap
from minibert.tasks import Features
from minibert.tasks.features import padded

SOFT = {
    "single_label_classification": losses.soft_label_loss,
    "multi_label_classification": losses.soft_multilabel_loss,
}


class Distiller(Learner):
    """`answers` are the teacher's logits for every row of the training data, computed once: all that soft labels need,
    also with another vocabulary. The losses inside the models cost a forward pass of the teacher per batch. The learned
    projections (`maps`) are discarded after training; the teacher is frozen."""

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
        theirs = {row.example: row for row in teacher.features(examples)}
        self.ours, self.theirs = rows, [theirs[row.example] for row in rows]
        logits = [torch.from_numpy(output["logits"]) for output in teacher.outputs(self.theirs)[0]]
        order = [teacher.labels.index(label) for label in student.labels]
        self.answers = torch.stack(logits)[:, order].to(next(learner.model.parameters()).device)  # (N, C)
        config, other = learner.model.config, teacher.model.config
        self.layers = uniform_layers(config, other)
        self.same = student.tokenizer.vocab == teacher.tokenizer.vocab
        width, theirs_wide = config.hidden_size, other.hidden_size
        mapped = [name for name in ("hidden", "embeddings", "cosine") if getattr(distillation, name)]
        self.maps = nn.ModuleDict({name: nn.Linear(width, theirs_wide, bias=False) for name in mapped})
        initialize(self.maps, config.initializer_range)
        self.to(self.answers.device)

    def forward(self, batch: TrainingBatch) -> dict[str, Tensor]:
        weights, inside = self.distillation.weights, bool(self.distillation.inside)
        ours = ActivationTap(tuple(self.layers), len(self.layers))
        output: HeadOutput = self.model(batch, ours if inside else no_tap)
        terms = {"labels": output.loss, "soft": self.soft(output.logits, self.answers[batch.rows])}
        if inside:
            terms |= self.inside(batch, ours)
        terms = {name: loss for name, loss in terms.items() if weights[name]}
        return {
            "loss": sum(weights[name] * loss for name, loss in terms.items()),
            **{f"{name}_loss": loss for name, loss in terms.items()},
        }

    def soft(self, logits: Tensor, answers: Tensor) -> Tensor:
        if self.model.problem == "regression":
            return losses.regression_loss(logits, answers)
        return SOFT[self.model.problem](logits, answers, self.distillation.temperature)

    def inside(self, batch: TrainingBatch, ours: ActivationTap) -> dict[str, Tensor]:
        """The losses on scores and vectors inside the models, by name."""
        wanted = self.distillation
        chosen = batch.rows.tolist()
        theirs = ActivationTap(tuple(self.layers.values()), self.teacher.model.config.num_hidden_layers)
        rows = [self.theirs[i] for i in chosen]
        given = TaskBatch(**padded(rows, self.teacher.tokenizer.pad_id)).to(batch.ids.device)
        with torch.no_grad():
            self.teacher.model.bert(given, theirs)
        both, terms = self.together(batch, chosen, rows, given.ids.size(1)), {}
        real = both.real.to(batch.ids.device)
        if wanted.attention:
            scores = [both.scores(ours.scores(m), theirs.scores(n)) for m, n in self.layers.items()]
            terms["attention"] = torch.stack([losses.attention_loss(*pair, real) for pair in scores]).mean()
        if wanted.hidden:
            vectors = [
                both.vectors(self.maps["hidden"](ours.hidden(m)), theirs.hidden(n)) for m, n in self.layers.items()
            ]
            terms["hidden"] = torch.stack([losses.hidden_loss(*pair, real) for pair in vectors]).mean()
        if wanted.embeddings:
            mapped = self.maps["embeddings"](ours.embeddings)
            terms["embeddings"] = losses.hidden_loss(*both.vectors(mapped, theirs.embeddings), real)
        if wanted.cosine:
            mapped = self.maps["cosine"](ours.hidden(ours.last))
            terms["cosine"] = losses.cosine_loss(*both.vectors(mapped, theirs.hidden(theirs.last)), real)
        heads = self.model.config.num_attention_heads
        for name, parts in (("attention_relation", ("query", "key")), ("value_relation", ("value", "value"))):
            if getattr(wanted, name):
                (x, other_x), (y, other_y) = (both.vectors(ours.part(one), theirs.part(one)) for one in parts)
                terms[name] = losses.relation_loss((x, y), (other_x, other_y), heads, real)
        return terms

    def together(self, batch: TrainingBatch, chosen: list[int], rows: list[Features], width: int) -> TokenAlignment:
        """Align the tokens of both models in a batch, by words if they differ."""
        mine = [self.ours[i] for i in chosen]
        if self.same and all(a.ids == b.ids for a, b in zip(mine, rows, strict=True)):
            real = batch.padding if batch.padding is not None else torch.ones_like(batch.ids, dtype=torch.bool)
            return TokenAlignment(None, None, real)
        return TokenAlignment.of(
            [word_indices(row.ids, self.student.tokenizer) for row in mine],
            [word_indices(row.ids, self.teacher.tokenizer) for row in rows],
            (batch.ids.size(1), width),
        )


def taught_by(teacher: str | Path) -> WrapLearner:
    """For `finetune`: the student of the model in this folder, which is fine-tuned for the same task. If the settings
    have no `distillation`, it learns from soft labels alone."""

    def wrap(learner: Learner, student: Predictor, rows: TrainingRows, settings: FinetuneSettings) -> Distiller:
        if settings.vat_weight:
            raise ValueError("with a teacher nothing is learned by smoothness: choose one")
        known = Predictor.from_directory(teacher)
        known.model.to(next(learner.model.parameters()).device)
        return Distiller(learner, student, known, rows.rows, rows.examples, settings.distillation or Distillation())

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
