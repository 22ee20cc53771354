"""Evaluation of a fine-tuned model on labelled data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minibert.finetune.predictor import Predictor
from minibert.tasks import Features, TaskData
from minibert.tasks.given import input_key
from minibert.train import Eval


def predict_watched(predictor: Predictor, value: Any) -> dict:
    """The prediction for one watched input, with the input's key as `asked`; an `error` for an unusable input, so that
    the run goes on."""
    key = {"asked": input_key(value)}
    try:
        return {**predictor.predict([value])[0], **key}
    except ValueError as error:
        return {"input": value, "error": str(error), **key}


def evaluate(
    predictor: Predictor,
    data: TaskData,
    step: int = 0,
    *,
    features: Sequence[Features] | None = None,
    details_of: TaskData | None = None,
) -> Eval:
    """The task's metrics and the mean loss on `data`. The details hold the labels, the task's own details (a confusion
    matrix, scores by type …), and a prediction with its `grade` (0–1) for each example of `data`, or of `details_of`, a
    part of it."""
    predictions, loss = predictor.answers(data.examples, features)
    return evaluation_event(predictor, data, predictions, loss, step, details_of or data)


def evaluation_event(
    predictor: Predictor, data: TaskData, predictions: Sequence[dict], loss: float, step: int, details_of: TaskData
) -> Eval:
    """Like `evaluate`, from given predictions."""
    task = predictor.task
    metrics = {**task.score(predictions, data.examples), "loss": loss}
    details = task.details(predictions, data.examples, predictor.labels)
    prediction_of = {id(example): one for example, one in zip(data.examples, predictions, strict=True)}
    details |= {"labels": predictor.labels, "measured_on": len(data.examples)}
    details["predictions"] = [
        {k: v for k, v in prediction.items() if k not in task.bulky} | {"grade": task.grade(prediction, example)}
        for example in details_of.examples
        for prediction in [prediction_of[id(example)]]
    ]
    return Eval(step, metrics, details)


def unknown_labels(predictor: Predictor, data: TaskData) -> list[str]:
    """Labels of the data that the model cannot predict. Raises ValueError if it can predict none of them."""
    known = predictor.task.answerable(predictor.labels)
    unknown = [] if known is None else [label for label in data.labels if label not in known]
    if unknown and len(unknown) == len(data.labels):
        theirs, ours = ", ".join(unknown), ", ".join(known or ())
        raise ValueError(f"{data.name} has the labels {theirs}, and the model has none of them: it has {ours}")
    return unknown
