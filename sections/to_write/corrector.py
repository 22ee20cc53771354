"""BERT as a corrector: pre-trained only, fine-tuned, and with a detector; on the user's own misspelled text."""

import html

import streamlit as st

from sections.to_write import misspelled
from sections.to_write.subject import MAX_CHARS, SHIPPED, Subject
from ui.figures import figure
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.runs import going, live, manager, own_runs, settled, show_refusal, state_rows, submit, weights_to_begin_with
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _

KIND = "to_write-corrector"  # of runs


def languages() -> dict[str, str]:
    return {"en": _("English, of the toy world"), "zh": _("Chinese")}


def kinds() -> dict[str, str]:
    return {"soft_masked": "Soft-Masked BERT", "plain": _("BERT, fine-tuned")}


def show(lesson: Lesson, seen: Subject) -> None:
    from minibert.masking.misspelling import Misspeller
    from minibert.seq2seq.corrector import Corrector, soft_masked

    manager().warm_up()
    lesson.show("BERT as a corrector", title=False)
    language = choice("language", _("Language"), languages())
    text = sentence_input(
        f"wrong-{language}",
        lesson.examples_called("wrong" if language == "en" else "wrong_zh"),
        max_chars=MAX_CHARS,
        label=_("A text with slips of spelling"),
    )
    start = misspelled.start(language)
    for title, folder in correctors(language, start):
        st.markdown(f"**{literal(title)}**")
        show_corrected(corrected_by(str(folder), (folder / "model.safetensors").stat().st_mtime_ns, text))
    train(language, start, text)
    lesson.show("The mixture")
    show_source(Corrector.forward, "soft_masked", label=_("Soft-Masked BERT"))
    show_source(soft_masked, label=_("The formula"))
    show_source(Misspeller.misspell, label=_("How misspellings are made"))


def correctors(language: str, start) -> list[tuple[str, object]]:
    """The correctors: BERT as pre-trained, the shipped one, and this browser's own."""
    found = [(_("BERT as it was pre-trained"), start)]
    if language == "en":
        found.append((_("Soft-Masked BERT, shipped"), SHIPPED / "corrector"))
    for run in own_runs(f"{KIND}/{language}")[:2][::-1]:
        folder = run.result / "corrector"
        if settled(run) and (folder / "model.safetensors").is_file():
            found.append((_("{title}, yours").format(title=run.title), folder))
    return found


@st.cache_data(show_spinner=False, max_entries=200)
def corrected_by(folder: str, version: int, text: str) -> dict:
    from minibert.toy.corrections import correction_sample

    return correction_sample(*loaded(folder, version), text)


@st.cache_resource(show_spinner=False, max_entries=6)
def loaded(folder: str, version: int):
    from minibert.seq2seq.corrector import Corrector

    return Corrector.load(folder)


def show_corrected(told: dict) -> None:
    """One column per token: the input, P(wrong), and the correction; safe HTML."""
    if not told["tokens"]:
        return
    columns = []
    for place, (token, said) in enumerate(zip(told["tokens"], told["said"], strict=True)):
        word, share = said[0]
        p = None if told["suspicion"] is None else told["suspicion"][place]
        css = "new" if word != token else "same"
        doubt = "–" if p is None else f"p {p:.2f}"
        columns.append(
            f"<li><span><bdi>{html.escape(visible(token))}</bdi></span>"
            f'<span class="p" style="--p:{p or 0:.2f}">{doubt}</span>'
            f'<span class="{css}"><bdi>{html.escape(visible(word))}</bdi>&nbsp;{share:.0%}</span></li>'
        )
    label = html.escape(_("what is read, how likely it is wrong, and what should stand there, token by token"))
    st.html(f'<ol class="mb-fix" aria-label="{label}">{"".join(columns)}</ol>')


def train(language: str, start, text: str) -> None:
    """The button, and the runs for this language."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        steps = st.slider(_("Steps"), 50, 600, 200, 50, key="corrector-steps", width=240)
        if st.button(_("Train both correctors"), type="primary", icon=":material/play_arrow:", key="train-corrector"):
            begin(language, start, int(steps), text)
    show_refusal()
    runs = own_runs(f"{KIND}/{language}")[:2]
    if runs:
        live(
            tuple(run.id for run in runs),
            draw,
            lambda found: state_rows(going(found), speed),
        )
    else:
        st.markdown(_("**No run yet.** The first point stands here some seconds after the click."))


def begin(language: str, start, steps: int, text: str) -> None:
    from minibert.toy.corrections import CorrectorSettings

    for kind, title in kinds().items():
        settings = CorrectorSettings(kind, steps, batch_size=16 if language == "zh" else 32, held_out=150)
        submit(
            "minibert.toy.corrections:train_corrector",
            settings,
            weights_to_begin_with(start),
            watch=[text],
            title=title,
            kind=f"{KIND}/{language}/{kind}",
            **misspelled.material(language),
        )


def speed(step: dict) -> str:
    return _(" · step {step:,} · {speed:,.0f} tokens/s").format(step=step["step"], speed=step["tokens_per_second"])


def draw(runs: list) -> None:
    """Correction F1 by step."""
    from plots.to_write import over_steps

    lines = {
        run.title: [(e["step"], e["metrics"]["correction_f1"]) for e in run.events() if e["event"] == "eval"]
        for run in runs
    }
    lines = {name: marks for name, marks in lines.items() if marks}
    if lines:
        told = "; ".join(f"{name}: {marks[-1][1]:.0%}" for name, marks in lines.items())
        figure(
            over_steps(lines, (_("step"), _("sentences corrected, F1"))),
            _("Sentences corrected, F1, of those they have not learned from. Last: {told}.").format(told=told),
            "corrector-learned",
        )
