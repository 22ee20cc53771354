"""A whole Transformer trained live: its learning curve, and what it writes so far."""

import pandas as pd
import streamlit as st

from sections.encoder_decoder import saying
from sections.encoder_decoder.subject import MAX_CHARS, Inputs, finding
from sections.encoder_decoder.trained import KIND, LONGEST, say_cut, task_names, usable
from ui.figures import figure
from ui.inputs import choice, pick
from ui.lesson import Lesson
from ui.runs import live, manager, own_runs, show_refusal, state_rows, submit
from ui.source import show_source
from ui.text import literal
from ui.translations import _

ENOUGH = 0.99  # of the sentences held out


def show(lesson: Lesson, inputs: Inputs) -> None:
    """Settings and the button; the run's progress; then its answer to the class's sentence, step by step."""
    from minibert.toy.seq2seq import Seq2SeqSettings, split_words

    manager().warm_up()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        task = choice("task", _("Say the words …"), task_names())
        with st.container(width=190):
            blocks = pick("blocks", _("Blocks on each side"), ["1", "2"])
        if st.button(_("Train"), type="primary", icon=":material/play_arrow:", key="train"):
            _begin(lesson, Seq2SeqSettings(task=task, layers=1 + blocks), inputs.text)
    show_refusal()
    words = split_words(inputs.text)
    say_cut(words, LONGEST)
    runs = own_runs(KIND)
    if runs:
        run = _chosen(runs)
        if not run.over and st.session_state.get("asked") != (run.id, inputs.text):
            st.session_state["asked"] = (run.id, inputs.text)
            run.send([inputs.text, *lesson.examples])
        live((run.id,), _draw, lambda found: state_rows(found, _speed))
        if usable(run):
            saying.show(lesson, run, words)
    else:
        with st.container(border=True):
            st.markdown(_("**No run yet.** Press *Train*: in less than a minute it says your sentence."))
    lesson.show("Train a whole Transformer", title=False)
    _sources()


def _sources() -> None:
    from minibert.seq2seq.decoder import CrossAttention, DecoderBlock

    show_source(DecoderBlock, "self.cross", label=_("The decoder's block: BERT's, with one step more"))
    show_source(
        CrossAttention, "memory", label=_("Cross-attention: BERT's attention, with keys and values from elsewhere")
    )


def _chosen(runs: list):
    """The run to look at, newest first."""
    names = {run.id: run for run in runs}
    if st.session_state.get("run") not in names:
        st.session_state["run"] = runs[0].id
    if len(runs) > 1:
        st.selectbox(_("Run"), list(names), format_func=lambda i: _title(names[i], runs), key="run")
    return names[st.session_state["run"]]


def _title(run, runs: list) -> str:
    return _("{n}. {title}").format(n=len(runs) - runs.index(run), title=run.title)


def _begin(lesson: Lesson, settings, text: str) -> None:
    probe_inputs = [text[:MAX_CHARS], *lesson.examples]
    run = submit(
        "minibert.toy.seq2seq:train_seq2seq",
        settings,
        probe_inputs=probe_inputs,
        title=task_names()[settings.task],
        kind=KIND,
    )
    if run is not None:
        st.session_state["run"], st.session_state["asked"] = run.id, (run.id, text)


def _speed(step: dict) -> str:
    return _(" · {seconds:.0f} s · {speed:,.0f} tokens/s").format(
        seconds=step["seconds"], speed=step["tokens_per_second"]
    )


def _draw(runs: list) -> None:
    for run in runs:
        _learning(run)


def _learning(run) -> None:
    """The learning curve, and what the run writes so far."""
    measured, begun = run.latest("eval"), run.latest("started")
    if not measured:
        return
    from minibert.toy.seq2seq import SPECIALS
    from plots.encoder_decoder import Learning, learning

    events = run.events()
    metrics, settings = measured["metrics"], begun["settings"]
    reached = _first_at(events, ENOUGH)
    words = sum(entry not in SPECIALS for entry in begun["details"]["words"])
    finding(
        _("After {step} steps {right:.1%} of the sentences it never trained on are right in every word").format(
            step=measured["step"], right=metrics["sequence_accuracy"]
        )
    )
    st.markdown(
        _("{parameters:,} weights, {words} words. {n} sentences were held out.").format(
            parameters=begun["details"]["parameters"], words=words, n=settings["held_out"]
        )
        + (_(" 99 % were reached after **{s:.0f} s** of training.").format(s=reached) if reached is not None else "")
    )
    titles = (_("Training loss"), _("Right, of the sentences held out"), _("step"))
    figure(
        learning(Learning.of(events), titles, (_("words"), _("whole sentences")), settings["steps"]),
        _(
            "Training loss, and the share of words and of whole sentences that are right. Now: {words:.1%}, {all:.1%}."
        ).format(words=metrics["token_accuracy"], all=metrics["sequence_accuracy"]),
        "ed-learning",
        data=lambda: [{_("step"): e["step"], **e["metrics"]} for e in events if e["event"] == "eval"],
    )
    if sample := run.latest("sample"):
        _sample(sample)


def _first_at(events: list[dict], share: float) -> float | None:
    """Seconds of training until the share of right sentences first reached `share`; None if it never did."""
    seconds = 0.0
    for event in events:
        if event["event"] == "step":
            seconds = event["seconds"]
        elif event["event"] == "eval" and event["metrics"]["sequence_accuracy"] >= share:
            return seconds
    return None


def _sample(sample: dict) -> None:
    """The run's current answers to the user's sentence and the examples."""
    rows = {" ".join(answer["source"]): answer for answer in sample["answers"]}  # an example may be the sentence
    st.table(
        pd.DataFrame(
            {
                _("it reads"): [literal(source) for source in rows],
                _("it says, after step {n}").format(n=sample["step"]): [
                    literal(" ".join(answer["answer"])) or "–" for answer in rows.values()
                ],
                "": ["✓" if answer["answer"] == answer["target"] else "✗" for answer in rows.values()],
            }
        ).set_index(_("it reads"))
    )
