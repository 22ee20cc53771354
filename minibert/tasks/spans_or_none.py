"""Answers that are spans of a passage, or none: SQuAD 2.0 (Devlin et al. 2019, §4.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from minibert.tasks.guess import Sureness
from minibert.tasks.span_scores import mean, score_answer
from minibert.tasks.spans import SpanExample, Spans, questions
from minibert.tasks.tables import Source

IMPOSSIBLE = re.compile(r'"is_impossible"\s*:\s*true')


def read_squad2(source: Source) -> list[SpanExample]:
    """SQuAD 2.0: `is_impossible` marks the questions without an answer."""
    return [example for _, example in questions(source)]


class SpansOrNone(Spans):
    """SQuAD 2.0: "no answer" is the span at [CLS]; it is predicted if its score exceeds the best other span's by more
    than the threshold, which is tuned on the dev set, as in the paper (§4.3). A run is evaluated on the same dev set,
    so its figures are slightly too good: `f1` equals `best_f1` there."""

    name = "span-or-none"
    order = 70
    readers: ClassVar = {"squad2": read_squad2}
    may_be_none = True
    tune_on = "dev"
    example_input: ClassVar = {"question": "Who wrote it?", "context": "The letter lay on the table, unsigned."}

    def recognises(self, form) -> Sureness:
        return Sureness.SYNTAX if form.is_json and IMPOSSIBLE.search(form.text) else Sureness.NO

    def score(self, predictions, examples) -> dict[str, float]:
        """Exact match and F1 over all questions; has_answer_…: over those with an answer; no_answer_accuracy: share of
        the others left unanswered; best_f1: with the best threshold for these examples, as the official script."""
        results = [score_answer(p["answer"], e) for p, e in zip(predictions, examples, strict=True)]
        has = [result for result, example in zip(results, examples, strict=True) if example.answers]
        has_not = [em for (em, _), example in zip(results, examples, strict=True) if not example.answers]
        best_f1, _ = best_null_threshold(predictions, examples)
        return {
            "exact_match": mean([em for em, _ in results]),
            "f1": mean([f1 for _, f1 in results]),
            "has_answer_exact_match": mean([em for em, _ in has]),
            "has_answer_f1": mean([f1 for _, f1 in has]),
            "no_answer_accuracy": mean(has_not),
            "best_f1": best_f1,
        }

    def trivial(self, examples) -> float | None:
        """F1 of never giving an answer."""
        return sum(not one["answers"] for one in examples) / len(examples) if examples else None

    def tune(self, predictions, examples, labels) -> dict[str, Any]:
        return {"null_threshold": best_null_threshold(predictions, examples)[1]}


def best_null_threshold(predictions: Sequence[dict], examples: Sequence[SpanExample]) -> tuple[float, float]:
    """(F1, threshold): the threshold for `null_difference` that gives the best F1 on these examples."""
    rows = sorted(
        (p["null_difference"], score_answer(p["best_answer"], e)[1], float(not e.answers))
        for p, e in zip(predictions, examples, strict=True)
    )
    total = sum(silent for _, _, silent in rows)  # nothing is answered
    best, threshold = total, rows[0][0] - 1.0 if rows else 0.0
    for i, (difference, answered, silent) in enumerate(rows):
        total += answered - silent
        last = i + 1 == len(rows)
        if total > best and (last or rows[i + 1][0] > difference):
            best = total
            threshold = difference + 1.0 if last else (difference + rows[i + 1][0]) / 2
    return (best / len(rows) if rows else 0.0), threshold
