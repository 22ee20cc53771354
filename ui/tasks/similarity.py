"""Similarity score of two texts (regression)."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from minibert.tasks.similarity import HIGHEST, LOWEST
from ui.cases import case, paragraph
from ui.figures import figure
from ui.tasks.base import DataSet, Review, TaskView, Values, header_words, read_at
from ui.tasks.forms import two_texts
from ui.text import visible
from ui.translations import _

WORST = 5  # marked in the scatter


class SimilarityView(TaskView):
    name = "similarity"
    section = "How alike two texts are"
    head_lines = '"regression"'
    small = Values(6, 16, 3e-4)
    fields = ("text", "pair")
    not_shares = ("pearson", "spearman", "mean_squared_error")

    def title(self) -> str:
        return _("Similarity")

    def expected(self) -> str:
        return _("TSV with a header that names `sentence1`, `sentence2` and a `score` from 0 to 5, as STS-B has it.")

    def formats(self) -> dict[str, str]:
        return {
            "header": header_words(),
            "stsb-test": _("STS-B, without a header"),
            "score-last": _("two texts, then a score"),
        }

    def columns(self) -> dict[str, str]:
        return {"first text": _("first text"), "second text": _("second text"), "score": _("score")}

    def metric_title(self) -> str:
        return _("Pearson correlation")

    def number_title(self) -> tuple[str, float]:
        return _("score"), HIGHEST

    def sets(self) -> dict[str, DataSet]:
        note = _("scores from 0, nothing shared, to 5, the same")
        return {"similarity": DataSet(self.name, ".tsv", _("How alike?"), note)}

    def form(self, example, key) -> dict[str, Any] | str | None:
        return two_texts(example, key)

    def asked(self, example, labels, options) -> str:
        if example.score is None:
            return _("Predicted from {where}: one number, 0 (unrelated) to 5 (the same).").format(
                where=read_at(options)
            )
        return _("Predicted from {where}: one number, **{score}** on a scale of 0 (unrelated) to 5 (the same).").format(
            where=read_at(options), score=f"{example.score:g}"
        )

    def headline(self, answer) -> tuple[str, float | None]:
        return _("{score} of 5").format(score=f"{answer['score']:.2f}"), answer["score"]

    def show_answer(self, given, answer, key) -> None:
        from plots.answers import similarity_scale

        score = answer["score"]
        words = _(
            "The similarity of the two texts is **{score}**, on a scale from 0 (unrelated) to 5 (the same)."
        ).format(score=f"{score:.2f}")
        if not LOWEST <= score <= HIGHEST:
            words += " " + _("(The layer gives any number: this one lies outside the scale.)")
        st.markdown(words)
        fig = similarity_scale(score, LOWEST, HIGHEST, (_("unrelated"), _("the same")))
        alt = _("A scale from 0, unrelated, to 5, the same; the answer is {s}.").format(s=f"{score:.2f}")
        figure(fig, alt, key=f"{key}-scale")

    def review(self, pairs, evaluation, key) -> Review:
        from plots.answers import similarity_scatter

        order = sorted(range(len(pairs)), key=lambda i: pairs[i][1]["grade"])
        truth, said = [example["score"] for example, _said in pairs], [said["score"] for _example, said in pairs]
        texts = [visible(f"{example['text']} | {example['pair']}", spaces=False) for example, _said in pairs]
        worst = order[:WORST]
        fig = similarity_scatter(truth, said, texts, worst, (_("truth"), _("answer")), HIGHEST)
        alt = _(
            "Truth against answer, a point a pair. Diamonds, with their distance: the {n} answers furthest from the "
            "truth."
        )
        rows = [
            {_("texts"): text, _("truth"): meant, _("answer"): told}
            for text, meant, told in zip(texts, truth, said, strict=True)
        ]
        figure(fig, alt.format(n=len(worst)), key=f"{key}-scatter", data=rows)
        return _("The answers furthest from the truth first:"), [mistake(*pairs[i]) for i in order]


def mistake(example: Mapping, said: Mapping) -> str:
    off = said["score"] - example["score"]
    rows = [
        (_("truth"), f"{example['score']:.2f}"),
        (_("answer"), f"{said['score']:.2f} ({off:+.2f})".replace("-", "−")),
    ]
    return case(paragraph(example["text"]) + paragraph(example["pair"]), rows)
