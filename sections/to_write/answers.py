"""A writing task: questions about little stories; models trained live answer the user's own question."""

import streamlit as st

from sections.to_write.subject import ANSWERS, MAX_CHARS, SHIPPED, Inputs
from ui.figures import figure
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.runs import (
    by_title,
    evals,
    going,
    live,
    manager,
    own_runs,
    send_input,
    show_refusal,
    state_rows,
    submit,
    weights_to_begin_with,
)
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _


def kinds() -> dict[str, str]:
    return {"both": _("UniLM and BERT"), "unilm": "UniLM", "bert": "BERT"}


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.toy.answers import batch_of, train_answers

    manager().warm_up()
    lesson.show("Ask and answer", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        who = choice("who", _("Who learns"), kinds())
        steps = st.slider(_("Steps"), 50, 600, 300, 50, key="answer-steps", width=240)
        if st.button(_("Train"), type="primary", icon=":material/play_arrow:", key="train-answers"):
            begin(lesson, who, int(steps), inputs.read)
    show_refusal()
    text = sentence_input(
        "question",
        lesson.examples_called("questions"),
        max_chars=MAX_CHARS,
        label=_("A question of yours, answered while they train"),
    )
    runs = own_runs(ANSWERS)[:4]
    if not runs:
        st.markdown(_("**No run yet.** Press *Train*: in less than a minute they answer your question in a sentence."))
    else:
        send_input(runs, [text])
        live(tuple(run.id for run in runs), draw, lambda found: state_rows(going(found), speed))
    lesson.show("What is learned")
    show_source(batch_of, "hidden", label=_("What is hidden of an answer"))
    show_source(train_answers, "train_and_evaluate", label=_("The training"))


def begin(lesson: Lesson, who: str, steps: int, text: str) -> None:
    from minibert.toy.answers import AnswerSettings

    watch = [text, *lesson.examples_called("questions")][:1]
    for name in ("bert", "unilm") if who == "both" else (who,):
        submit(
            "minibert.toy.answers:train_answers",
            AnswerSettings(steps),
            weights_to_begin_with(SHIPPED / name),
            watch=watch,
            title=kinds()[name],
            kind=f"{ANSWERS}/{name}",
        )


def speed(step: dict) -> str:
    return _(" · step {step:,} · {speed:,.0f} tokens/s").format(step=step["step"], speed=step["tokens_per_second"])


def draw(runs: list) -> None:
    """The share of right answers by step, and each run's current answer."""
    from plots.to_write import over_steps

    lines = by_title(runs, lambda run: [(step, metrics["answers"]) for step, metrics in evals(run)])
    if not lines:
        return
    told = "; ".join(f"{name}: {marks[-1][1]:.0%}" for name, marks in lines.items())
    figure(
        over_steps(lines, (_("step"), _("answers right in every word"))),
        _("Answers to questions that they have not learned from, over the steps. Last: {told}.").format(told=told),
        "answers-learned",
        data=[
            {_("run"): name, _("step"): step, _("right"): f"{share:.1%}"}
            for name, marks in lines.items()
            for step, share in marks
        ],
    )
    for run in runs:
        if said := run.latest("sample"):
            one = said["answers"][0]
            words = " ".join(f"{literal(visible(w))} {p:.0%}" for w, p in zip(one["words"], one["shares"], strict=True))
            st.markdown(f"**{literal(run.title)}** ({_('step {n}').format(n=said['step'])}): {words}")
