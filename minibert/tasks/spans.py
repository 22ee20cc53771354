"""Answers that are spans of a passage: SQuAD 1.1 (Devlin et al. 2019, §4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from minibert.tasks.base import Task
from minibert.tasks.features import Features
from minibert.tasks.given import any_text, extra_given, fields, some_text, text_given
from minibert.tasks.guess import Sureness
from minibert.tasks.input_rows import END, START, InputRow, row_of, with_cut
from minibert.tasks.metadata import metadata_numbers, metadata_prefix
from minibert.tasks.sequences import softmax
from minibert.tasks.span_scores import mean, score_answer
from minibert.tasks.tables import LONGEST_TEXT, Source
from minibert.tasks.tagging import owners
from minibert.text.json_values import JsonError, json_value


@dataclass(frozen=True)
class Answer:
    """An answer's text and its start in the passage; None if the text is not found at the offset in the file."""

    text: str
    start: int | None


@dataclass(frozen=True)
class SpanExample:
    """A question about a passage. answers: () if the passage holds no answer; None if unknown."""

    id: str
    question: str
    context: str
    answers: tuple[Answer, ...] | None = None
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[str, ...]:
        return () if self.answers is None else ("answer" if self.answers else "no answer",)

    @property
    def place(self) -> tuple[int, int] | None:
        """(start, end) of the first answer that is found at its offset, in characters: the target of training."""
        return next(((a.start, a.start + len(a.text)) for a in self.answers or () if a.start is not None), None)


def read_squad(source: Source) -> list[SpanExample]:
    """SQuAD 1.1: every question has an answer; one without is a problem and skipped."""
    examples = []
    for path, example in questions(source):
        if example.answers:
            examples.append(example)
        else:
            source.problem(None, path, "the question has no answer: the task span-or-none reads such questions")
    return examples


def questions(source: Source) -> Iterator[tuple[str, SpanExample]]:
    """(path, example) of each question of a SQuAD file. An answer not found at its offset is a problem; it counts for
    scoring but is not trained on."""
    try:
        root = json_value(source.text)
    except JsonError as error:
        raise source.fail(str(error), error.line) from None
    articles = root.get("data") if isinstance(root, dict) else None
    if not isinstance(articles, list):
        raise source.fail('expected SQuAD\'s JSON: an object with a list "data" of articles with paragraphs')
    seen: set[str] = set()
    for a, article in enumerate(articles):
        for p, paragraph in listed(source, article, "paragraphs", f"data[{a}]"):
            path = f"data[{a}].paragraphs[{p}]"
            context = paragraph.get("context") if isinstance(paragraph, dict) else None
            if not isinstance(context, str) or not context.strip():
                source.problem(None, path, "there is no context")
                continue
            if len(context) > LONGEST_TEXT:
                why = f"the context has {len(context):,} characters; at most {LONGEST_TEXT:,} are read"
                source.problem(None, path, why)
                continue
            for q, entry in listed(source, paragraph, "qas", path):
                here = f"{path}.qas[{q}]"
                question = entry.get("question") if isinstance(entry, dict) else None
                if not isinstance(question, str) or not question.strip():
                    source.problem(None, here, "there is no question")
                    continue
                if len(question) > LONGEST_TEXT:
                    source.problem(None, here, f"the question has {len(question):,} characters")
                    continue
                answers = answers_of(source, entry, context, here)
                if answers is None:
                    continue
                name = str(entry.get("id", here))
                if name in seen:
                    source.problem(None, here, f"the id {name!r} has occurred before")
                seen.add(name)
                extra = {"title": str(article["title"])} if "title" in article else {}
                yield here, SpanExample(name, question.strip(), context, answers, extra)


def listed(source: Source, parent, name: str, path: str) -> Iterator[tuple[int, Any]]:
    """(index, member) of the list `name` in an object; a problem if there is no such list."""
    values = parent.get(name) if isinstance(parent, dict) else None
    if isinstance(values, list):
        yield from enumerate(values)
    else:
        source.problem(None, path, f'there is no list "{name}"')


def answers_of(source: Source, entry: dict, context: str, path: str) -> tuple[Answer, ...] | None:
    """The answers to a question; None, with a problem recorded, if they are unusable."""
    if entry.get("is_impossible") is True:
        return ()
    given = entry.get("answers")
    if not isinstance(given, list):
        source.problem(None, path, 'there is no list "answers"')
        return None
    answers = []
    for n, one in enumerate(given):
        here = f"{path}.answers[{n}]"
        text, start = (one.get("text"), one.get("answer_start")) if isinstance(one, dict) else (None, None)
        if not isinstance(text, str) or not text.strip() or not isinstance(start, int) or isinstance(start, bool):
            source.problem(None, here, "an answer needs a text and a whole number answer_start")
            continue
        found = context[start : start + len(text)] if start >= 0 else ""
        if found != text:
            why = f"the answer {text[:60]!r} does not stand at {start}, where the context has {found[:60]!r}"
            source.problem(None, here, f"{why}; not trained on")
        answers.append(Answer(text, start if found == text else None))
    if given and not answers:
        return None
    return tuple(answers)


@dataclass(frozen=True)
class SpanFeatures(Features):
    """One window of a passage. first: position in the row of its first passage token · tokens: which passage tokens it
    holds (from, to) · offsets: (start, end) of each in the context · owned: whether no other window shows it better.

    target: positions in the row of the answer's first and last token; (0, 0), the [CLS], if the answer is not inside.
    """

    first: int = 0
    tokens: tuple[int, int] = (0, 0)
    offsets: tuple[tuple[int, int], ...] = ()
    owned: tuple[bool, ...] = ()


class Spans(Task):
    """SQuAD 1.1: the best span s ≤ e of at most `max_answer` tokens, over all windows."""

    name = "span"
    order = 60
    example_type = SpanExample
    answer = "answers"
    parts: ClassVar = {"answers": Answer}
    architecture = "BertForQuestionAnswering"
    too_long = "windows"
    metric = "f1"
    readers: ClassVar = {"squad": read_squad}
    endings = ("json",)
    by_line = False
    may_be_none = False
    example_input: ClassVar = {
        "question": "Where was Ada born?",
        "context": "Ada Lovelace was born in London in 1815.",
    }
    given_texts = ("question", "context")
    bulky = ("offsets", "start_probabilities", "end_probabilities")

    def recognises(self, form) -> Sureness:
        return Sureness.SYNTAX if form.is_json else Sureness.NO

    def guess_format(self, text, name) -> str | None:
        return next(iter(self.readers))

    def example(self, given) -> Any:
        extra = extra_given(given)
        question, context = text_given(given, "question", "context")
        return SpanExample(extra.get("id", ""), question, context, extra=extra)

    def labels(self, data) -> list[str]:
        return ["start", "end"]

    def features(self, tokenizer, examples, labels, options) -> list[Any]:
        questions = tokenizer.encode_bulk([metadata_prefix(e.extra, options) + e.question for e in examples])
        contexts = list(dict.fromkeys(example.context for example in examples))  # several questions share one
        passages = dict(zip(contexts, tokenizer.encode_bulk_with_offsets(contexts), strict=True))
        rows = []
        for i, (example, question) in enumerate(zip(examples, questions, strict=True)):
            ids, offsets = passages[example.context]
            question = question[: options.max_question]
            room = options.max_length - len(question) - 3
            if room < 1:
                raise ValueError(
                    f"max_length {options.max_length} has no room beside a question of {len(question)} tokens"
                )
            windows = passage_windows(len(ids), room, min(options.doc_stride, room))
            owner = owners(windows, len(ids))
            span = token_span(offsets, example.place)
            numbers = metadata_numbers(example.extra, options)
            for number, (start, end) in enumerate(windows):
                first = len(question) + 2
                row = [tokenizer.cls_id, *question, tokenizer.sep_id, *ids[start:end], tokenizer.sep_id]
                target = None
                if span is not None and start <= span[0] and span[1] < end:
                    target = [first + span[0] - start, first + span[1] - start]
                elif span is not None or example.answers == ():
                    target = [0, 0]
                rows.append(
                    SpanFeatures(
                        i,
                        row,
                        [0] * first + [1] * (len(row) - first),
                        target,
                        numbers,
                        first,
                        (start, end),
                        tuple(offsets[start:end]),
                        tuple(owner[token] == number for token in range(start, end)),
                    )
                )
        return rows

    def rows(self, tokenizer, example, labels, options) -> list[InputRow]:
        """One row per window; what was cut from the question is shown before the [SEP] that ends it."""
        windows = self.features(tokenizer, [example], labels, options)
        total = max(features.tokens[1] for features in windows)
        (question,) = tokenizer.encode_bulk([metadata_prefix(example.extra, options) + example.question])
        rows = []
        for features in windows:
            targets = [""] * features.length
            for letter, place in zip((START, END), features.target or (), strict=False):
                targets[place] = f"{targets[place]} {letter}".strip()
            row = row_of(tokenizer, features.ids, features.segments, targets)
            row = with_cut(tokenizer, row, features.first - 1, question[options.max_question :], 0)
            rows.append(replace(row, tokens_of=(*features.tokens, total)))
        return rows

    def decode(self, outputs, features, examples, labels, options) -> list[dict]:
        """For each example: the best answer with its place, the `n_best` spans, and P(start) and P(end) of every
        passage token, from the window with the most context around it."""
        windows: list[list] = [[] for _ in examples]
        for output, row in zip(outputs, features, strict=True):
            windows[row.example].append((output["logits"].astype(np.float64), row))
        return [self.answered(example, rows, options) for example, rows in zip(examples, windows, strict=True)]

    def answered(self, example: SpanExample, windows: Sequence[tuple[np.ndarray, SpanFeatures]], options) -> dict:
        null_score = min(float(logits[0].sum()) for logits, _ in windows)
        null = min((logits[0] for logits, _ in windows), key=lambda pair: pair.sum())  # (2,)
        candidates: dict[tuple[int, int], float] = {}
        offsets, scores = [], []
        for logits, row in windows:
            inside = logits[row.first : row.first + len(row.offsets)]  # (passage tokens, 2)
            for place, score in best_spans(inside, np.array(row.owned, dtype=bool), options.max_answer, options.n_best):
                span = (row.offsets[place[0]][0], row.offsets[place[1]][1])
                candidates[span] = max(score, candidates.get(span, -np.inf))
            for token, owned in enumerate(row.owned):
                if owned:
                    offsets.append(row.offsets[token])
                    scores.append(inside[token])
        ranked = sorted(candidates.items(), key=lambda item: -item[1])[: options.n_best]
        listed: list[tuple] = [(example.context[a:b], a, b, score) for (a, b), score in ranked]
        if self.may_be_none or not listed:
            listed = sorted([*listed, ("", None, None, null_score)], key=lambda one: -one[3])
        probs = softmax(np.array([one[3] for one in listed])).tolist()
        n_best = [
            {"answer": text, "start": start, "end": end, "probability": probability}
            for (text, start, end, _), probability in zip(listed, probs, strict=True)
        ]
        found = next((one for one in n_best if one["start"] is not None), None)
        difference = null_score - ranked[0][1] if ranked else float("inf")
        if found is None or (self.may_be_none and difference > options.null_threshold):
            said = next(one for one in n_best if one["start"] is None)
        else:
            said = found
        pool = np.array([*scores, null] if self.may_be_none or not scores else scores)  # (tokens, 2)
        start_probs, end_probs = softmax(pool[:, 0]), softmax(pool[:, 1])
        tokens = len(offsets)
        result = {
            "question": example.question,
            **said,
            "n_best": n_best,
            "offsets": [list(place) for place in offsets],
            "start_probabilities": start_probs[:tokens].tolist(),
            "end_probabilities": end_probs[:tokens].tolist(),
        }
        if example.id:
            result["id"] = example.id
        if self.may_be_none:
            result |= {
                "null_difference": difference,
                "null_threshold": options.null_threshold,
                "best_answer": found["answer"] if found else "",
                "null_probabilities": [float(start_probs[-1]), float(end_probs[-1])],
            }
        return result

    def plain(self, answer) -> str:
        return f"{answer['answer'] or '–'}  {answer['probability']:.3f}"

    def score(self, predictions, examples) -> dict[str, float]:
        """Exact match and F1, the best over the reference answers, as the official scripts count them (0–1)."""
        results = [score_answer(p["answer"], e) for p, e in zip(predictions, examples, strict=True)]
        return {"exact_match": mean([em for em, _ in results]), "f1": mean([f1 for _, f1 in results])}

    def grade(self, prediction, example) -> float:
        """Its F1."""
        return score_answer(prediction["answer"], example)[1]

    def input_schema(self, most, columns=()) -> dict:
        text = some_text(most)
        return fields({"question": text, "context": text}, columns, id=any_text(most))


def passage_windows(tokens: int, room: int, stride: int) -> list[tuple[int, int]]:
    """(first token, token after the last) of windows of `room` tokens, a new one every `stride`, to the end."""
    windows, start = [], 0
    while True:
        windows.append((start, min(start + room, tokens)))
        if start + room >= tokens:
            return windows
        start += stride


def token_span(offsets: Sequence[tuple[int, int]], place: tuple[int, int] | None) -> tuple[int, int] | None:
    """(first token, last token) of the tokens that overlap the characters `place`; None if there are none."""
    if place is None:
        return None
    inside = [i for i, (start, end) in enumerate(offsets) if start < place[1] and place[0] < end]
    return (inside[0], inside[-1]) if inside else None


def best_spans(logits: np.ndarray, owned: np.ndarray, longest: int, count: int) -> list[tuple[tuple[int, int], float]]:
    """The `count` spans s ≤ e of at most `longest` tokens with the highest S + E, best first; s must be owned.

    logits: (tokens, 2).
    """
    tokens = len(logits)
    if not tokens:
        return []
    scores = np.full((min(longest, tokens), tokens), -np.inf)  # (length − 1, s)
    for more in range(len(scores)):
        scores[more, : tokens - more] = logits[: tokens - more, 0] + logits[more:, 1]
    scores[:, ~owned] = -np.inf
    flat = scores.ravel()
    top = np.argsort(-flat, kind="stable")[:count] if count >= flat.size else np.argpartition(-flat, count - 1)[:count]
    top = top[np.argsort(-flat[top], kind="stable")]
    spans = [(divmod(int(i), tokens), float(flat[i])) for i in top if np.isfinite(flat[i])]
    return [((start, start + more), score) for (more, start), score in spans]
