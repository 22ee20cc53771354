"""Multiple choice."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from minibert.tasks.choices import LETTERS
from ui.cases import RIGHT, WRONG, case, paragraph, percent
from ui.figures import figure
from ui.highlights import Highlight, marked_html
from ui.state import follow_link, set_url, url_int
from ui.tasks.base import DataSet, Review, TaskView, Values, read_at, wrong_of
from ui.tasks.forms import LONG, hint, text_field
from ui.text import shorten
from ui.translations import _

FEWEST, MOST = 2, len(LETTERS)  # choices


class ChoicesView(TaskView):
    name = "choice"
    section = "One of several choices"
    head_lines = "self.classifier"
    small = Values(6, 16, 3e-4)
    fields = ("context", "question", "count", *(f"choice{n}" for n in range(1, MOST + 1)))

    def title(self) -> str:
        return _("Multiple choice")

    def expected(self) -> str:
        return _("CSV as SWAG has it (`sent1`, `sent2`, `ending0` …, `label`), or MCTest’s `.tsv` with its `.ans`.")

    def formats(self) -> dict[str, str]:
        return {"swag": "SWAG", "mctest": "MCTest", "arct": "ARCT"}

    def floor_title(self) -> str:
        return _("a choice at random")

    def sets(self) -> dict[str, DataSet]:
        stories = _("four questions a story, four options each")
        return {
            "choices": DataSet(self.name, ".csv", _("What happens next?"), _("one ending out of four makes sense")),
            "stories": DataSet(self.name, ".tsv", _("Stories"), stories, small=Values(3, 8, 1e-4)),
        }

    def form(self, example, key) -> dict[str, Any] | str | None:
        context = text_field(
            f"{key}-context", _("Context"), example.context, most=LONG, multiline=len(example.context) > 80
        )
        question = text_field(
            f"{key}-question", _("What each choice goes on from (may be empty)"), example.question, multiline=False
        )
        count = f"{key}-count"
        start = len(example.choices)
        if follow_link(count) or count not in st.session_state:
            st.session_state[count] = url_int(count, start, FEWEST, MOST)
        choices = []
        for number in range(st.session_state[count]):
            default = example.choices[number] if number < start else ""
            label = _("Choice {letter}").format(letter=LETTERS[number])
            choices.append(text_field(f"{key}-choice{number + 1}", label, default, multiline=False))
        with st.container(horizontal=True):
            for words, icon, step, stop in (
                (_("Add a choice"), ":material/add:", 1, MOST),
                (_("Remove the last"), ":material/remove:", -1, FEWEST),
            ):
                st.button(
                    words,
                    icon=icon,
                    key=f"step{step}-{key}",
                    disabled=st.session_state[count] == stop,
                    on_click=change,
                    args=(count, step),
                )
        set_url(count, st.session_state[count], default=start)
        if not context.strip() or not all(choice.strip() for choice in choices):
            hint(_("Write a context and every choice, and the model answers."))
            return None
        return {"context": context, "question": question, "choices": choices}

    def asked(self, example, labels, options) -> str:
        return _(
            "Every choice makes a **row of its own**, with the same context in front. Predicted from {where} in each "
            "row: one score; softmax over the {n} scores."
        ).format(where=read_at(options), n=len(example.choices))

    def row_title(self, rows, number) -> str:
        sign = _(" · the right one ✓") if rows[number].right else ""
        return "**" + _("Choice {letter}").format(letter=LETTERS[number]) + "**" + sign

    def headline(self, answer) -> tuple[str, float | None]:
        letter = LETTERS[answer["label"]]
        return f"{letter} · {shorten(answer['answer'], 120)}", answer["probabilities"][answer["label"]]

    def show_answer(self, given, answer, key) -> None:
        from plots.answers import probability_bars

        chosen, probs = answer["label"], answer["probabilities"]
        st.markdown(
            _("The choice is **{letter}**, with a probability of {p} (softmax over the choices’ scores):").format(
                letter=LETTERS[chosen], p=f"{probs[chosen]:.1%}"
            )
        )
        st.html(choices_html(answer["choices"], chosen=chosen))
        letters = list(LETTERS[: len(probs)])
        fig = probability_bars(letters, probs, {chosen}, title=_("probability"))
        listed = _("; ").join(f"{letter}{_(': ')}{p:.1%}" for letter, p in zip(letters, probs, strict=True))
        rows = [{_("choice"): choice, _("probability"): p} for choice, p in zip(answer["choices"], probs, strict=True)]
        alt = _("The probability of each choice: {listed}.").format(listed=listed)
        figure(fig, alt, key=f"{key}-choices", data=rows)

    def review(self, pairs, evaluation, key) -> Review:
        from plots.answers import sureness

        right, wrong = [], []
        for example, said in pairs:
            (right if said["grade"] else wrong).append((said["probabilities"][said["label"]], example, said))
        fig = sureness(
            [p for p, *_rest in right],
            [p for p, *_rest in wrong],
            (_("right"), _("wrong")),
            (_("probability of the choice"), _("examples")),
        )
        alt = _("How sure the model was of its choices: {right} right and {wrong} wrong ones, by their probability.")
        rows = [
            {_("probability"): p, _("right"): good}
            for group, good in ((right, True), (wrong, False))
            for p, *_rest in group
        ]
        figure(fig, alt.format(right=len(right), wrong=len(wrong)), key=f"{key}-sure", data=rows)
        wrong.sort(key=lambda one: -one[0])
        items = [mistake(example, said) for _p, example, said in wrong]
        return wrong_of(len(items), len(pairs), _("the surest mistakes first")), items


def change(count: str, step: int) -> None:
    st.session_state[count] = min(MOST, max(FEWEST, st.session_state[count] + step))


def choices_html(choices: Sequence[str], chosen: int | None = None, truth: int | None = None) -> str:
    """The choices, lettered; the predicted one and, if known, the correct one are marked."""
    items = []
    for number, choice in enumerate(choices):
        notes = []
        if number == chosen:
            notes.append(_("chosen"))
        if number == truth:
            notes.append(f"{_('right')} {RIGHT}")
        hue = 5 if truth is not None and number == chosen != truth else 2 if number == truth else 0
        text = f"{LETTERS[number]} · {choice}"
        items.append(marked_html(text, [Highlight(0, len(text), " · ".join(notes), hue)] if notes else []))
    return "".join(items)


def mistake(example: Mapping, said: Mapping) -> str:
    body = paragraph(f"{example['context']} {example['question']}".strip())
    body += choices_html(example["choices"], chosen=said["label"], truth=example["label"])
    rows = [
        (_("truth"), f"{LETTERS[example['label']]} · {percent(said['probabilities'][example['label']])}"),
        (_("answer"), f"{LETTERS[said['label']]} {WRONG} · {percent(said['probabilities'][said['label']])}"),
    ]
    return case(body, rows)
