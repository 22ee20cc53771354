"""Multiple choice: endings (SWAG), answers about a story (MCTest), warrants (ARCT) (Devlin et al. 2019, §4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, ClassVar

from minibert.tasks.base import Task
from minibert.tasks.data import TaskDataError
from minibert.tasks.features import Features, padded
from minibert.tasks.given import any_text, extra_given, fields, some_text, texts_listed
from minibert.tasks.guess import Sureness
from minibert.tasks.input_rows import InputRow
from minibert.tasks.metadata import metadata_numbers
from minibert.tasks.sequences import encode_texts, softmax, text_row
from minibert.tasks.tables import (
    LABEL_COLUMNS,
    Source,
    column,
    columns,
    decoded,
    header_of,
    lines_of,
    rows_of,
    table,
)

if TYPE_CHECKING:
    from minibert.heads import TaskBatch

LETTERS = "ABCDEFGH"


@dataclass(frozen=True)
class ChoiceExample:
    """A context, a question or sentence start that each choice continues (may be empty), and the choices.

    label: index of the right choice; None if unknown.
    """

    context: str
    question: str
    choices: tuple[str, ...]
    label: int | None = None
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[str, ...]:
        """The letter of the right choice; the counts show how even its positions are."""
        return () if self.label is None else (LETTERS[self.label],)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What the model reads: the context, and the question with each choice."""
        return [(self.context, f"{self.question} {choice}".strip()) for choice in self.choices]


def read_swag(source: Source) -> list[ChoiceExample]:
    """SWAG: sent1 is the context, sent2 (may be missing) the start of the sentence that ending0 … complete."""
    (_, header), *rows = table(source.text, source.name, source)
    names = [name for name in header_of(header) if name.startswith("ending") and name[6:].isdecimal()]
    endings = sorted(names, key=lambda name: int(name[6:]))
    if [int(name[6:]) for name in endings] != list(range(len(endings))) or len(endings) < 2:
        raise source.fail(f"endings must be numbered ending0, ending1 …, each once, not {', '.join(names)}", 1)
    wanted = {"context": ("sent1", "context"), "label": ("label",)}
    if {"sent2", "question"} & set(header_of(header)):
        wanted["start"] = ("sent2", "question")
    if len(endings) > len(LETTERS):
        raise TaskDataError(f"{source.name}: {len(endings)} endings; at most {len(LETTERS)} choices can be told apart")
    at = columns(header, {**wanted, **{name: (name,) for name in endings}}, source)
    examples = []
    for row in rows_of(rows, at, source, header, len(header), may_be_empty=("start",)):
        label = row.cells["label"]
        if not label.isdecimal() or int(label) >= len(endings):
            why = f"the label is {label!r}, not a number from 0 to {len(endings) - 1}"
            source.problem(row.line, at["label"] + 1, why)
            continue
        choices = tuple(row.cells[name] for name in endings)
        examples.append(ChoiceExample(row.cells["context"], row.cells.get("start", ""), choices, int(label), row.extra))
    return examples


def read_arct(source: Source) -> list[ChoiceExample]:
    """ARCT: which warrant makes the claim follow from the reason?"""
    (_, header), *rows = table(source.text, source.name, source)
    wanted = {name: (name,) for name in ("warrant0", "warrant1", "reason", "claim")}
    at = columns(header, {**wanted, "label": ("correctlabelw0orw1",)}, source)
    examples = []
    for row in rows_of(rows, at, source, header, len(header)):
        if row.cells["label"] not in ("0", "1"):
            source.problem(row.line, at["label"] + 1, f"the label is {row.cells['label']!r}, not 0 or 1")
            continue
        context = f"{row.cells['reason']} {row.cells['claim']}"
        choices = (row.cells["warrant0"], row.cells["warrant1"])
        examples.append(ChoiceExample(context, "", choices, int(row.cells["label"]), row.extra))
    return examples


def read_mctest(source: Source) -> list[ChoiceExample]:
    """MCTest: one story per line, with questions of four answers each; the .ans file beside it has the right letters.

    Without that file the examples have no label. Questions may be empty, as in the statements files.
    """
    answers = next((content for name, content in source.beside.items() if name.endswith(".ans")), None)
    lines = None if answers is None else [line for _, line in lines_of(decoded(answers, "answers")) if line.strip()]
    examples = []
    number = 0
    for line, cells in table(source.text, source.name, source):
        story, right = number, None if lines is None or number >= len(lines) else lines[number].split("\t")
        number += 1
        if not mctest_width(len(cells)):
            source.problem(
                line, len(cells) + 1, f"{len(cells)} columns where id, properties, story, 5 a question stand"
            )
            continue
        if lines is not None and right is None:
            source.problem(line, None, f"the answers end after line {len(lines)}")
            continue
        text = cells[2].replace("\\newline", " ").replace("\\tab", " ").strip()
        for question, start in enumerate(range(3, len(cells), 5)):
            letter = None if right is None else right[question].strip() if question < len(right) else ""
            choices = tuple(cell.strip() for cell in cells[start + 1 : start + 5])
            empty = next((i for i, choice in enumerate(choices) if not choice), None)
            if not text:
                source.problem(line, 3, "the story is empty")
            elif empty is not None:
                source.problem(line, start + 2 + empty, "the answer is empty")
            elif letter is not None and (len(letter) != 1 or letter not in "ABCD"):
                why = f"line {story + 1} of the answers has {letter!r} for question {question + 1}, not A, B, C or D"
                source.problem(line, start + 1, why)
            else:
                label = None if letter is None else "ABCD".index(letter)
                kind, _, question_text = cells[start].rpartition(":")  # "one:" or "multiple:" sentences are needed
                extra = {"id": cells[0], "kind": kind.strip()}
                examples.append(ChoiceExample(text, question_text.strip(), choices, label, extra))
    return examples


def mctest_width(cells: int) -> bool:
    """Whether a line can be a story: id, properties, story, and five cells per question."""
    return cells >= 8 and (cells - 3) % 5 == 0


@dataclass(frozen=True)
class ChoiceFeatures(Features):
    """One question: ids and segments hold a row for each choice."""

    ids: list[Any]

    @property
    def length(self) -> int:
        return max(map(len, self.ids))


class Choices(Task):
    """One score per choice, softmax over the choices."""

    name = "choice"
    order = 80
    example_type: ClassVar[type] = ChoiceExample
    architecture = "BertForMultipleChoice"
    pooled = True
    two_texts = True
    metric = "accuracy"
    readers: ClassVar = {"swag": read_swag, "mctest": read_mctest, "arct": read_arct}
    endings: ClassVar[tuple[str, ...]] = ("csv", "tsv")
    companions: ClassVar[tuple[str, ...]] = ("*.ans",)
    example_input: ClassVar = {
        "context": "Tom took his umbrella.",
        "question": "Why?",
        "choices": ["It was raining.", "He was hungry."],
    }
    given_texts: ClassVar[tuple[str, ...]] = ("question", "context", "choices")

    def beside(self, name) -> list[str]:
        """MCTest's answers; X.statements.tsv shares X.ans with X.tsv."""
        return super().beside(name.removesuffix(".tsv").removesuffix(".statements") + ".tsv")

    def recognises(self, form) -> Sureness:
        if {"ending0", "warrant0"} & set(form.header):
            return Sureness.HEADER
        mctest = mctest_width(len(form.header)) and column(form.header, LABEL_COLUMNS) is None
        return Sureness.COLUMNS if mctest else Sureness.NO

    def guess_format(self, text, name) -> str | None:
        rows = list(table(text, name))
        header = header_of(rows[0][1])
        if "warrant0" in header:
            return "arct"
        return "mctest" if mctest_width(len(header)) and "ending0" not in header else "swag"

    def example(self, given) -> Any:
        values = given if isinstance(given, Mapping) else {}
        context, choices = values.get("context"), values.get("choices", ())
        if not isinstance(context, str) or not texts_listed(choices) or not 2 <= len(choices) <= len(LETTERS):
            raise ValueError(
                f"the input must be an object with a context, 2 to {len(LETTERS)} choices (texts), perhaps a question"
            )
        return ChoiceExample(context, str(given.get("question", "")), tuple(choices), extra=extra_given(given))

    def labels(self, data) -> list[str]:
        return ["score"]

    def features(self, tokenizer, examples, labels, options) -> list[Any]:
        owners = [i for i, example in enumerate(examples) for _ in example.choices]
        texts = [pair for example in examples for pair in example.pairs]
        rows = iter(encode_texts(tokenizer, texts, [examples[i] for i in owners], options))
        result = []
        for i, example in enumerate(examples):
            ids, segments = map(list, zip(*(next(rows) for _ in example.choices), strict=True))
            numbers = metadata_numbers(example.extra, options)
            result.append(ChoiceFeatures(i, ids, segments, example.label, numbers))
        return result

    def rows(self, tokenizer, example, labels, options) -> list[InputRow]:
        """One row per choice."""
        (features,) = self.features(tokenizer, [example], labels, options)
        rows = []
        for number, (pair, ids) in enumerate(zip(example.pairs, features.ids, strict=True)):
            right = None if example.label is None else number == example.label
            rows.append(replace(text_row(tokenizer, pair, ids, options), right=right))
        return rows

    def batch(self, features, pad_id) -> TaskBatch:
        """(B, C, T); `choices` is False for rows that pad a question with fewer choices, None without such rows."""
        import torch

        from minibert.heads import TaskBatch

        most = max(len(row.ids) for row in features)
        rows = [
            Features(0, ids, segments, None, row.metadata)
            for row in features
            for ids, segments in islice(
                chain(zip(row.ids, row.segments, strict=True), repeat((row.ids[0][:1], [0]))), most
            )
        ]
        flat = padded(rows, pad_id)
        shaped: dict[str, Any] = {
            name: None if value is None else value.unflatten(0, (len(features), most)) for name, value in flat.items()
        }
        real = torch.arange(most) < torch.tensor([[len(row.ids)] for row in features])
        return TaskBatch(**shaped, **self.targets(features), choices=None if real.all() else real)

    def inputs(self, example) -> dict[str, Any]:
        """The texts beside the choices, as part of a prediction."""
        return {"context": example.context, "question": example.question}

    def decode(self, outputs, features, examples, labels, options) -> list[dict]:
        answers = []
        for example, output in zip(examples, outputs, strict=True):
            choices = list(example.choices)
            probs = softmax(output["logits"][: len(choices)]).tolist()
            best = probs.index(max(probs))
            said = {"choices": choices, "label": best, "answer": choices[best], "probabilities": probs}
            answers.append({**self.inputs(example), **said})
        return answers

    def plain(self, answer) -> str:
        return f"{answer['answer']}  {answer['probabilities'][answer['label']]:.3f}"

    def score(self, predictions, examples) -> dict[str, float]:
        from sklearn.metrics import accuracy_score

        truth, answers = [example.label for example in examples], [answer["label"] for answer in predictions]
        return {"accuracy": float(accuracy_score(truth, answers))}

    def grade(self, prediction, example) -> float:
        return float(prediction["label"] == example.label)

    def trivial(self, examples) -> float | None:
        """Expected accuracy of a random choice."""
        return sum(1 / len(one["choices"]) for one in examples) / len(examples) if examples else None

    def input_schema(self, most, columns=()) -> dict:
        text = some_text(most)
        choices = {"type": "array", "items": text, "minItems": 2, "maxItems": len(LETTERS)}
        return fields({"context": text, "choices": choices}, columns, question=any_text(most))

    def texts(self, example) -> list[str | tuple[str, ...]]:
        return [example.context]

    def with_texts(self, example, texts, origins) -> Any:
        return replace(example, context=texts[0])
