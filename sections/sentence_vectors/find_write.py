"""SimBERT: a shipped one finds the desk's questions with the same meaning, and writes new ones; one is trained live."""

import os
from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.sentence_vectors.subject import MAX_CHARS, PREFIX, Inputs
from ui.figures import figure
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.live_runs import answers_of, follow_runs, metrics_by_step, with_cosines
from ui.predict import predict
from ui.runs import by_title, evals, manager, own_runs, show_refusal, submit, weights_to_begin_with
from ui.samples import questions
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _

SHIPPED, VOCABULARY = CHECKPOINTS / "simbert" / "zh", "mini-zh"  # VOCABULARY: the model it was trained from
FOUND, DRAWS = 4, 8


@st.cache_resource(show_spinner=False)
def loaded():
    """Shared by all sessions, never changed."""
    from minibert import checkpoint

    return checkpoint.load(SHIPPED).eval(), checkpoint.load_tokenizer(SHIPPED)


@st.cache_data(show_spinner=False, max_entries=1)
def desk_vectors():
    from minibert.sentence_vectors.simbert import cls_vectors

    model, tokenizer = loaded()
    return cls_vectors(model.bert, tokenizer, [question for question, _standard in questions("zh")])


@st.cache_data(show_spinner=False, max_entries=200)
def found_and_written(text: str) -> tuple[list[tuple[int, float]], list[tuple[str, float]]]:
    from minibert.inside.geometry.vectors import nearest
    from minibert.sentence_vectors.simbert import cls_vectors, paraphrases

    model, tokenizer = loaded()
    query = cls_vectors(model.bert, tokenizer, [text])[0]
    return nearest(desk_vectors(), query, FOUND), paraphrases(model, tokenizer, text, draws=DRAWS)


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.sentence_vectors.simbert import retrieval_loss

    lesson.show("Find and write", title=False)
    shipped(lesson)
    train(lesson, inputs)
    lesson.show("What it learns from")
    show_source(retrieval_loss)


@st.fragment
def shipped(lesson: Lesson) -> None:
    from plots.sentence_vectors import SearchHit, nearest_bars

    text = sentence_input(
        "question",
        lesson.examples_called("zh"),
        max_chars=MAX_CHARS,
        label=_("A question, in Chinese: it is found, and written anew"),
    ).strip()
    if not any(map(str.isalnum, text)):
        st.info(_("Type a question."), icon=":material/edit:")
        return
    warn_unread_text(VOCABULARY, text)
    with st.spinner(_("Reading and writing …")):
        results, written = found_and_written(text)
    desk = questions("zh")
    first = desk[results[0][0]][1]
    rows = [SearchHit(desk[i][0], cosine, desk[i][1] == first) for i, cosine in results]
    for title, kind, some, searched in (
        (_("It finds: “{line}”").format(line=first), "simbert-found", rows, len(desk)),
        (_("It writes"), "simbert-written", [SearchHit(one, cosine, True) for one, cosine in written], DRAWS),
    ):
        if not some:
            st.info(_("All it has written is the question itself."), icon=":material/edit_off:")
            continue
        figure(
            nearest_bars(some, title, _("cosine of [CLS], the best {k} of {n}").format(k=len(some), n=searched)),
            _("{title}. {lines}").format(
                title=title, lines=_("; ").join(f"{visible(row.line, spaces=False)} {row.cosine:.2f}" for row in some)
            ),
            kind,
            data=[{_("sentence"): row.line, _("cosine"): round(row.cosine, 3)} for row in some],
        )
    words = _(
        "Blue: asks the same as the nearest, by the desk’s list; and what is written, the best of {n} drafts by "
        "their own cosine with the question."
    )
    st.caption(words.format(n=DRAWS))


STARTS = {"en": "mini-en", "zh": "mini-zh"}
KIND = f"{PREFIX}-simbert"
LOSSES = {"both": {}, "finds": {"writes": False}, "writes": {"finds": False}}
FIND_PAIRS, WRITE_PAIRS = 300, 40  # test pairs of LCQMC, to find and to write


def kinds() -> dict[str, str]:
    return {"both": "SimBERT", "finds": _("finding alone"), "writes": _("writing alone")}


def train(lesson: Lesson, inputs: Inputs) -> None:
    manager().warm_up()
    lesson.show("Let one learn")
    sources = {"desk": _("the desk’s questions")}
    if inputs.language == "zh" and lcqmc():
        sources["lcqmc"] = "LCQMC"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        who = choice("simbert", _("Who learns"), {**kinds(), "each": _("Each loss, and both")}, box=240)
        source = choice("source", _("Learns from"), sources, box=220) if len(sources) > 1 else "desk"
        steps = st.slider(_("Steps"), 20, 300, 100, 20, key="simbert-steps", width=220)
        if st.button(_("Train"), type="primary", icon=":material/play_arrow:", key="train-simbert"):
            for name in LOSSES if who == "each" else (who,):
                begin(name, source, int(steps), inputs)
    show_refusal()
    runs = [run for run in own_runs(KIND) if run.kind.endswith(inputs.language)][2::-1]
    hint = _("**No run yet.** Press *Train*: within half a minute it writes questions of the desk’s kind.")
    guessed = runs and predict(
        "overfits",
        _("100 steps on so few questions: which does it go on to write better?"),
        [_("Those it learns from"), _("Those held out"), _("Both alike")],
        0,
    )
    follow_runs(runs, draw if guessed else lambda runs: None, hint, message=[inputs.text])


def lcqmc() -> tuple[Path, Path] | None:
    """Development set (for training) and test set of LCQMC; None without the data."""
    files = tuple(
        Path(os.environ.get("MINIBERT_DATA", ""), "tasks", "zh", "lcqmc", name) for name in ("dev.txt", "test.txt")
    )
    return files if all(file.is_file() for file in files) else None


def parts_of(desk: tuple[tuple[str, str], ...]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(training, held out): the last question of each standard question is held out."""
    last = {standard: question for question, standard in desk}
    held = [(question, standard) for standard, question in last.items()]
    return [one for one in desk if one not in held], held


def begin(name: str, source: str, steps: int, inputs: Inputs) -> None:
    from minibert.sentence_vectors.simbert import SimBertSettings, group_questions

    desk = questions(inputs.language)
    learned, held = parts_of(desk)
    groups = group_questions(learned)
    first = {standard: question for question, standard in reversed(learned)}
    evaluation = {
        "desk": learned,
        "held_out": held,
        "pairs": [(first[standard], question) for question, standard in held],
        "learned": [(group[0], group[-1]) for group in groups],
    }
    if source == "lcqmc":
        from minibert.sentence_vectors.inference import pairs_labelled

        groups, test = (pairs_labelled(file) for file in lcqmc())
        some = [(text, str(number)) for number, pair in enumerate(test[:FIND_PAIRS]) for text in pair]
        evaluation = {
            "held_out": some[::2],
            "desk": some[1::2],
            "pairs": test[:WRITE_PAIRS],
            "learned": groups[:WRITE_PAIRS],
        }
    settings = SimBertSettings(**LOSSES[name], steps=steps, evaluate_every=max(2, steps // 10))
    submit(
        "minibert.sentence_vectors.simbert_run:train_simbert",
        settings,
        weights_to_begin_with(CHECKPOINTS / STARTS[inputs.language]),
        groups,
        **evaluation,
        probe_inputs=[inputs.text],
        title=kinds()[name] if source == "desk" else f"{kinds()[name]} · LCQMC",
        kind=f"{KIND}/{name}-{inputs.language}",
    )


def draw(runs: list) -> None:
    """Retrieval accuracy and nats per token by step, in training and held-out questions; each run's current output."""
    from plots.sentence_vectors import found_and_written

    marks = by_title(runs, evals)
    if not marks:
        return
    titles = (_("held-out questions that find one of their own"), _("nats a token of the question written"))
    looks = (_("learned from"), _("held out"))
    template = _(
        "{name}: found {found:.0%}, nats {nats_learned:.1f} of those learned from, {nats:.1f} of those held out"
    )
    listed = _("; ").join(template.format(name=name, **results[-1][1]) for name, results in marks.items())
    figure(
        found_and_written(
            marks, titles, looks, listed if len(marks) == 1 else _("{n} runs").format(n=len(marks)), _("step")
        ),
        _("SimBERT as it learns. {told}.").format(told=listed),
        "found-and-written",
        wide=True,
        data=metrics_by_step(marks),
    )
    for run in runs:
        if answers := answers_of(run):
            answer = answers[-1]
            st.markdown(
                _("**{title}**, “{text}” – finds: {found}  \nwrites: {written}").format(
                    title=literal(run.title),
                    text=literal(visible(answer["text"], spaces=False)),
                    found=with_cosines(answer["nearest"][:2]),
                    written=with_cosines(answer["written"][:2]) or _("the question itself"),
                )
            )
