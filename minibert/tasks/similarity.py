"""Similarity of two texts as a number: STS-B, 0 (unrelated) to 5 (the same)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

from minibert.tasks.guess import Sureness
from minibert.tasks.pairs import PAIR_COLUMNS, names_two_texts
from minibert.tasks.sequences import SequenceTask
from minibert.tasks.tables import Source, header_of, rows_of, table, with_header

COLUMNS = {**PAIR_COLUMNS, "score": ("score", "similarity", "label")}
LOWEST, HIGHEST = 0.0, 5.0
STSB_TEST = {"score": 4, "first text": 5, "second text": 6}  # the columns of sts-test.tsv, which has no header


@dataclass(frozen=True)
class ScoredPair:
    """Two texts and how alike they are, 0–5; None if unknown."""

    text: str
    pair: str
    score: float | None = None
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[str, ...]:
        return ()


def read_stsb_test(source: Source) -> list[ScoredPair]:
    """STS-B's sts-test.tsv: no header, the score in column 5; some lines name the sources of their texts at the end."""
    header = ["genre", "filename", "year", "old_index", "score", "sentence1", "sentence2"]
    return examples_of(table(source.text, source.name, source), STSB_TEST, source, header)


def read_score_last(source: Source) -> list[ScoredPair]:
    at = {"first text": 0, "second text": 1, "score": 2}
    return examples_of(table(source.text, source.name, source), at, source, width=3)


def examples_of(rows, at, source, header=(), width=None) -> list[ScoredPair]:
    examples = []
    for row in rows_of(rows, at, source, header, width):
        try:
            score = float(row.cells["score"])
        except ValueError:
            score = math.nan
        if not LOWEST <= score <= HIGHEST:
            why = f"the score is {row.cells['score']!r}, not a number from {LOWEST:g} to {HIGHEST:g}"
            source.problem(row.line, at["score"] + 1, why)
            continue
        examples.append(ScoredPair(row.cells["first text"], row.cells["second text"], score, row.extra))
    return examples


class Similarity(SequenceTask):
    name = "similarity"
    order = 30
    example_type = ScoredPair
    answer = "score"
    metric = "pearson"
    example_input: ClassVar = {"text": "A boy plays in the snow.", "pair": "A child is outside."}
    problem = "regression"
    readers: ClassVar = {
        "header": with_header(COLUMNS, "score", examples_of),
        "stsb-test": read_stsb_test,
        "score-last": read_score_last,
    }
    columns: ClassVar = COLUMNS

    def recognises(self, form) -> Sureness:
        if names_two_texts(form.header):
            return Sureness.HEADER if "score" in form.header else Sureness.NO
        scored = len(form.header) in (7, 9) and re.fullmatch(r"\d(\.\d+)?", form.header[STSB_TEST["score"]])
        return Sureness.COLUMNS if scored else Sureness.NO

    def guess_format(self, text, name) -> str | None:
        _, first = next(table(text, name))
        if {"sentence1", "score"} & set(header_of(first)) or len(first) not in (3, 7, 9):
            return "header"
        return "score-last" if len(first) == 3 else "stsb-test"

    def labels(self, data) -> list[str]:
        return ["score"]

    def target(self, example, labels) -> Any:
        return None if example.score is None else [example.score]

    def target_word(self, example) -> str:
        return "" if example.score is None else f"{example.score:g}"

    def decode(self, outputs, features, examples, labels, options) -> list[dict]:
        """The model's output as it is; it may lie a little outside 0–5."""
        return [
            {**self.texts_by_name(example), "score": float(output["logits"][0])}
            for example, output in zip(examples, outputs, strict=True)
        ]

    def plain(self, answer) -> str:
        return f"{answer['score']:.3f}  {answer['text']} | {answer['pair']}"

    def grade(self, prediction, example) -> float:
        return max(0.0, 1 - abs(prediction["score"] - example.score) / (HIGHEST - LOWEST))

    def score(self, predictions, examples) -> dict[str, float]:
        """Pearson and Spearman correlation, from scipy; 0 where all answers or all scores are the same."""
        from scipy.stats import pearsonr, spearmanr

        truth, answers = [example.score for example in examples], [answer["score"] for answer in predictions]
        errors = [(a - t) ** 2 for a, t in zip(answers, truth, strict=True)]
        scores = {"pearson": 0.0, "spearman": 0.0}
        if len(set(truth)) > 1 and len(set(answers)) > 1:
            scores = {
                "pearson": float(pearsonr(truth, answers).statistic),
                "spearman": float(spearmanr(truth, answers).statistic),
            }
        return {**scores, "mean_squared_error": math.fsum(errors) / len(errors)}
