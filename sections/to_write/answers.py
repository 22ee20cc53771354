"""A writing task: questions about little stories; models trained live answer the user's own question."""

import streamlit as st

from sections.to_write.subject import ANSWERS, MAX_CHARS, SHIPPED, Inputs, network
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.live_runs import follow_runs, show_over_steps
from ui.pairs import warn_unknown
from ui.runs import by_title, evals, manager, own_runs, show_refusal, submit, weights_to_begin_with
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
    warn_unknown(network(SHIPPED / "answers")[1].encode(text).tokens)  # the words that both learn to read
    hint = _("**No run yet.** Press *Train*: in less than a minute they answer your question in a sentence.")
    follow_runs(own_runs(ANSWERS)[:4], draw, hint, message=[text])
    lesson.show("What is learned")
    show_source(batch_of, "hidden", label=_("What is hidden of an answer"))
    show_source(train_answers, "train_and_evaluate", label=_("The training"))


def begin(lesson: Lesson, who: str, steps: int, text: str) -> None:
    from minibert.toy.answers import AnswerSettings

    probe_inputs = [text, *lesson.examples_called("questions")][:1]
    for name in ("bert", "unilm") if who == "both" else (who,):
        submit(
            "minibert.toy.answers:train_answers",
            AnswerSettings(steps),
            weights_to_begin_with(SHIPPED / name),
            probe_inputs=probe_inputs,
            title=kinds()[name],
            kind=f"{ANSWERS}/{name}",
        )


def draw(runs: list) -> None:
    """The share of right answers by step, and each run's current answer."""
    lines = by_title(runs, lambda run: [(step, metrics["answers"]) for step, metrics in evals(run)])
    if not lines:
        return
    alt = _("Answers to questions that they have not learned from, over the steps. Last: {told}.")
    show_over_steps(lines, _("answers right in every word"), alt, "answers-learned", name=_("run"))
    for run in runs:
        if sample := run.latest("sample"):
            words = with_shares(sample["answers"][0])
            st.markdown(f"**{literal(run.title)}** ({_('step {n}').format(n=sample['step'])}){_(': ')}{words}")


def with_shares(answer: dict) -> str:
    """The words of an answer with their probabilities, as Markdown."""
    words = zip(answer["words"], answer["shares"], strict=True)
    return " ".join(f"{literal(visible(word))} {share:.0%}" for word, share in words)
