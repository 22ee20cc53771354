"""`predict`: say which of two probabilities will be higher, run the model, and explain the result.

The points are for the explanation: a prediction is required, a right one is not.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, NamedTuple

from examination.choose import AnswerOption, dealt, read_choices
from examination.entry import BankError, Entry
from examination.task import ExamQuestion, ExamTask, Mark, Wrong, mark_of, no_answer, texts
from examination.words import _

SIDES = ("first", "second")


class ExperimentRun(NamedTuple):
    """The probability of `word` in `text`: at its [MASK], or at token `at` (from 0, [CLS] being 0).

    off: heads that are switched off, (layer, head) from 0.
    """

    text: str
    word: str
    at: int | None
    off: tuple[tuple[int, int], ...]


class PredictExperiment(NamedTuple):
    runs: tuple[ExperimentRun, ExperimentRun]
    higher: str  # one of SIDES: the answer of the model in this repository; tests check it


@dataclass(frozen=True)
class PredictSettings:
    model: str
    experiments: tuple[PredictExperiment, ...]
    choices: tuple[AnswerOption, ...]
    show: int


class PredictAnswer(NamedTuple):
    predicted: str | None = None  # one of SIDES
    explanation: int | None = None


@dataclass(frozen=True)
class PredictTask(ExamTask):
    model: str
    experiment: PredictExperiment
    choices: tuple[AnswerOption, ...]


def read(entry: Entry) -> PredictSettings:
    experiments = []
    for table in entry.tables("experiment", 1):
        runs = tuple(_read_run(table.table_of(side)) for side in SIDES)
        experiments.append(PredictExperiment(runs, table.one_of("higher", SIDES)))
        table.close()
    choices = read_choices(entry)
    show = entry.integer("show", len(choices), 2, len(choices))
    return PredictSettings(entry.text("model", "mini-en"), tuple(experiments), choices, show)


def _read_run(table: Entry) -> ExperimentRun:
    off = table.texts("off", optional=True)
    heads = []
    for head in off:
        layer, _dot, number = head.partition(".")
        if not (layer.isdigit() and number.isdigit() and int(layer) and int(number)):
            raise table.error(f'`off` has {head!r}; write layer and head from 1 on, such as "2.3"')
        heads.append((int(layer) - 1, int(number) - 1))
    text = table.text("text")
    at = table.integer("at", low=0, high=100) if table.has("at") else None
    if (at is None) != ("[MASK]" in text):
        raise table.error("`text` needs one [MASK]; or `at`, the number of a token, if it has none")
    run = ExperimentRun(text, table.text("word"), at, tuple(heads))
    table.close()
    return run


def generate(question: ExamQuestion, rng: random.Random, values: dict[str, str]) -> PredictTask:
    settings: PredictSettings = question.settings
    experiment = rng.choice(settings.experiments)
    first, second = experiment.runs
    values = values | {"text": first.text, "other": second.text, "word": first.word, "second_word": second.word}
    choices = dealt(settings.choices, settings.show, values, question.where, rng)
    right = next(index for index, choice in enumerate(choices) if choice.correct)
    return PredictTask(
        question,
        *texts(question, values),
        PredictAnswer(experiment.higher, right),
        (
            *(Wrong(PredictAnswer(experiment.higher, i), choice.why) for i, choice in enumerate(choices) if i != right),
            Wrong(PredictAnswer(None, right), "explained without a prediction"),
            Wrong(PredictAnswer(experiment.higher), "predicted without an explanation"),
        ),
        settings.model,
        experiment,
        choices,
    )


def mark(task: PredictTask, answer: PredictAnswer | None) -> Mark:
    if answer is None or answer.predicted not in SIDES:
        return no_answer(task)
    if not isinstance(answer.explanation, int) or not 0 <= answer.explanation < len(task.choices):
        return mark_of(task, 0, _("Predicted, but not explained."))
    choice = task.choices[answer.explanation]
    return mark_of(task, choice.correct, choice.why)


def probabilities(loaded: Any, task: PredictTask) -> tuple[float, float]:
    """The model's probabilities in the two runs. loaded: has a `model` and its `tokenizer`."""
    first, second = (_probability(loaded, run, task.question.where) for run in task.experiment.runs)
    return first, second


def _probability(loaded: Any, run: ExperimentRun, where: str) -> float:
    from minibert.inside.explanations.interventions import fill_in, switched_off
    from minibert.inside.model_input import ModelInput
    from minibert.model import no_tap

    reading = ModelInput.of(loaded.tokenizer, run.text)
    at = run.at if run.at is not None else reading.tokens.index("[MASK]")
    if run.word not in loaded.tokenizer.ids or at >= len(reading.ids):
        raise BankError(f"{where}: {run.word!r} is no single token of the model, or there is no token {at}")
    tap = switched_off(run.off) if run.off else no_tap
    return fill_in(loaded.model, reading.batch(), at, tap)[0, loaded.tokenizer.ids[run.word]].item()


def as_text(task: PredictTask, answer: PredictAnswer | None) -> str:
    if answer is None or answer.predicted is None:
        return ""
    predicted = _("the first is higher") if answer.predicted == "first" else _("the second is higher")
    explained = task.choices[answer.explanation].text if answer.explanation is not None else "–"
    return f"{predicted}\n{explained}"
