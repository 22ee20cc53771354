"""Shared by tasks that predict one class: probability bars, confusion matrix, most confident mistakes."""

from collections.abc import Mapping, Sequence

import streamlit as st

from ui.cases import WRONG, case, paragraph, percent, safe
from ui.figures import figure
from ui.tasks.base import Review, TaskView, read_at, wrong_of
from ui.text import literal
from ui.translations import _

IN_ORDER = 6  # up to so many classes keep their order; more are sorted by probability
BARS = 30  # at most
CLASSES = 24  # at most, for a readable confusion matrix


class ClassView(TaskView):
    """One class for the whole input."""

    head_lines = "self.classifier"

    def asked(self, example, labels, options) -> str:
        if example.label not in labels:
            return _("Predicted from {where}: one class of {count}.").format(where=read_at(options), count=len(labels))
        return _("Predicted from {where}: the class **{label}**, number {n} of {count}.").format(
            where=read_at(options), label=literal(example.label), n=labels.index(example.label) + 1, count=len(labels)
        )

    def headline(self, answer) -> tuple[str, float | None]:
        return answer["label"], answer["probabilities"][answer["label"]]

    def show_answer(self, given, answer, key) -> None:
        words, p = self.headline(answer)
        st.markdown(
            _("The answer is **{label}**, with a probability of {p}.").format(label=literal(words), p=f"{p:.1%}")
        )
        class_bars(answer["probabilities"], answer["label"], f"{key}-bars")

    def review(self, pairs, evaluation, key) -> Review:
        confusion_matrix(evaluation["confusion"], evaluation["labels"], f"{key}-confusion")
        wrong = [(example, said) for example, said in pairs if not said["grade"]]
        wrong.sort(key=lambda pair: -pair[1]["probabilities"][pair[1]["label"]])
        items = [self.mistake(example, said) for example, said in wrong]
        return wrong_of(len(items), len(pairs), _("the surest mistakes first")), items

    def mistake(self, example: Mapping, said: Mapping) -> str:
        body = "".join(paragraph(example[name]) for name in self.fields)
        answer = f"{safe(said['label'])} {WRONG} · {percent(said['probabilities'][said['label']])}"
        return case(body, [(_("truth"), safe(example["label"])), (_("answer"), answer)])


def class_bars(probabilities: Mapping[str, float], chosen: str, key: str) -> None:
    """Class probabilities; many classes sorted, the likeliest first."""
    from plots.answers import probability_bars

    names = list(probabilities)
    if len(names) > IN_ORDER:
        names = sorted(names, key=lambda name: -probabilities[name])[:BARS]
    fig = probability_bars(
        names, [probabilities[name] for name in names], {names.index(chosen)}, title=_("probability")
    )
    listed = _("; ").join(f"{name}{_(': ')}{probabilities[name]:.1%}" for name in names[:IN_ORDER])
    figure(
        fig,
        _("The probability of each class: {listed}.").format(listed=listed),
        key=key,
        data=lambda: [{_("class"): name, _("probability"): p} for name, p in probabilities.items()],
    )


def confusion_matrix(matrix: Sequence[Sequence[int]], labels: Sequence[str], key: str) -> None:
    """matrix[true][predicted]; of more than CLASSES classes, those with the most mistakes are drawn."""
    from plots.attention import literal
    from plots.confusion import confusion

    right, total = sum(matrix[i][i] for i in range(len(labels))), sum(map(sum, matrix))
    rows = [{_("truth"): labels[i], **dict(zip(labels, row, strict=True))} for i, row in enumerate(matrix)]
    if len(labels) > CLASSES:
        st.caption(_("Of {all} classes, the {n} with the most mistakes are drawn.").format(all=len(labels), n=CLASSES))
        mistakes = [sum(row) + sum(other[i] for other in matrix) - 2 * row[i] for i, row in enumerate(matrix)]
        drawn = sorted(sorted(range(len(labels)), key=lambda i: -mistakes[i])[:CLASSES])
        labels, matrix = [labels[i] for i in drawn], [[matrix[i][j] for j in drawn] for i in drawn]
    fig = confusion(matrix, [literal(label) for label in labels], (_("answer"), _("truth")))
    alt = _("Confusion matrix, a row for each true class, a column for each answer: {right} of {total} right.")
    figure(fig, alt.format(right=right, total=total), key=key, data=rows)
