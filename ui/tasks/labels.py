"""Multi-label classification."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ui.cases import RIGHT, WRONG, case, paragraph, percent, safe
from ui.figures import figure
from ui.tasks.base import DataSet, Review, TaskView, Values, header_words, least_right, read_at, wrong_of
from ui.tasks.forms import one_text
from ui.text import literal, show_tokens
from ui.translations import _, ngettext

BARS = 30  # labels drawn at most


class MultilabelView(TaskView):
    name = "multilabel"
    section = "Several labels at once"
    head_lines = '"multi_label_classification"'
    small = Values(8, 16, 1e-3)
    fields = ("text",)

    def title(self) -> str:
        return _("Several labels")

    def expected(self) -> str:
        return _(
            "A header that names `text` and `labels`, labels with commas between; or GoEmotions with its `labels.txt`."
        )

    def formats(self) -> dict[str, str]:
        return {"header": header_words(), "goemotions": "GoEmotions"}

    def columns(self) -> dict[str, str]:
        return {"text": _("text"), "labels": _("labels, with commas between")}

    def metric_title(self) -> str:
        return _("micro F1")

    def floor_title(self) -> str:
        return _("always the commonest label")

    def sets(self) -> dict[str, DataSet]:
        note = _("eight labels; a third of the messages have more than one")
        hobbies = _("six hobbies; half of the texts have one, four in ten several, some none")
        return {
            "emotions": DataSet(self.name, ".tsv", _("Emotions"), note),
            "hobbies-zh": DataSet(
                self.name, ".tsv", _("Hobbies, Chinese"), hobbies, "zh", small=Values(16, 8, 1e-3, 32)
            ),
        }

    def form(self, example, key) -> dict[str, Any] | str | None:
        return one_text(example, key)

    def asked(self, example, labels, options) -> str:
        return _("Predicted from {where}: every label by itself, yes (1) or no (0).").format(where=read_at(options))

    def show_target(self, example, labels) -> None:
        if example.labels is None:
            return
        target = [int(label in example.labels) for label in labels]
        kinds = ["kept" if one else "plain" for one in target]
        st.markdown(_("The target of the loss, a number a label:"))
        show_tokens(labels, under=target, kinds=kinds, label=_("Labels"))

    def headline(self, answer) -> tuple[str, float | None]:
        """The labels, and the probability of the likeliest."""
        return _(", ").join(answer["labels"]) or _("no label"), max(answer["probabilities"].values())

    def show_answer(self, given, answer, key) -> None:
        from plots.answers import probability_bars

        found = answer["labels"]
        if found:
            words = ngettext("The label is **{labels}**.", "The labels are **{labels}**.", len(found))
            st.markdown(words.format(labels=literal(_(", ").join(found))))
        else:
            st.markdown(_("**No label** reaches its threshold."))
        probabilities, thresholds = answer["probabilities"], answer["thresholds"]
        names = sorted(probabilities, key=lambda name: -probabilities[name])[:BARS]
        fig = probability_bars(
            names,
            [probabilities[name] for name in names],
            {i for i, name in enumerate(names) if name in found},
            thresholds=[thresholds[name] for name in names],
            title=_("probability, each label by itself"),
            threshold_name=_("threshold"),
        )
        listed = _("; ").join(
            _("{label}: {p}, threshold {t}").format(
                label=name, p=f"{probabilities[name]:.1%}", t=f"{thresholds[name]:.1%}"
            )
            for name in names
        )
        rows = [
            {_("label"): name, _("probability"): probabilities[name], _("threshold"): thresholds[name]}
            for name in probabilities
        ]
        alt = _("The probability of each label. {listed}.").format(listed=listed)
        figure(fig, alt, key=f"{key}-labels", data=rows)

    def review(self, pairs, evaluation, key) -> Review:
        from plots.answers import label_scores

        scores = evaluation["by_label"]
        fig = label_scores(scores, "n = {n}", _("F1 of each label"))
        rows = [{_("label"): label, **values} for label, values in scores.items()]
        listed = _("; ").join(f"{label}{_(': ')}{values['f1']:.0%}" for label, values in scores.items())
        alt = _("F1 of each label, and how often it occurs. {listed}.").format(listed=listed)
        figure(fig, alt, key=f"{key}-labels", data=rows)
        items = [mistake(example, said) for example, said in least_right(pairs)]
        return wrong_of(len(items), len(pairs), _("the least right first"), partly=True), items


def mistake(example: Mapping, said: Mapping) -> str:
    truth, found, probs = example["labels"] or (), said["labels"], said["probabilities"]

    def listed(labels: Sequence[str], others: Sequence[str], wrong: str) -> str:
        parts = []
        for label in labels:
            p = f" {percent(probs[label])}" if label in probs else ""
            parts.append(f"{safe(label)}{p} {RIGHT if label in others else safe(wrong)}")
        return _(", ").join(parts) or safe(_("none"))

    return case(
        paragraph(example["text"]),
        [
            (_("truth"), listed(truth, found, f"{WRONG} {_('missed')}")),
            (_("answer"), listed(found, truth, f"{WRONG} {_('not meant')}")),
        ],
    )
