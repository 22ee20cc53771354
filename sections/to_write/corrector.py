"""BERT as a corrector: pre-trained only, fine-tuned, and with a detector; on the user's own misspelled text."""

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS
from minibert.text.json_values import json_object
from sections.to_write.subject import MAX_CHARS, SHIPPED
from ui.inputs import choice, sentence_input
from ui.lesson import LESSONS, Lesson
from ui.limits import say_left_out, say_unknown
from ui.live_runs import follow_runs, show_over_steps
from ui.runs import by_title, evals, manager, own_runs, settled, show_refusal, submit, weights_to_begin_with
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _

KIND = "to_write-corrector"  # of runs
LONGEST_SENTENCE = 36  # characters


def languages() -> dict[str, str]:
    return {"en": _("English, of the toy world"), "zh": _("Chinese")}


def kinds() -> dict[str, str]:
    return {"soft_masked": "Soft-Masked BERT", "plain": _("BERT, fine-tuned")}


def show(lesson: Lesson, inputs: None) -> None:
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
    start = first_weights(language)
    if not text.strip():
        st.info(_("Type a sentence."), icon=":material/edit:")
    correction = None
    if language == "zh":
        st.caption(
            _(
                "No Chinese corrector is shipped: {model} answers here, which was only pre-trained. *Train both "
                "correctors* makes two, and their answers then stand here as well."
            ).format(model=start.name)
        )
    for title, folder in correctors(language, start) if text.strip() else ():
        st.markdown(f"**{literal(title)}**")
        correction = corrected_by(str(folder), (folder / "model.safetensors").stat().st_mtime_ns, text)
        show_corrected(correction)
    if correction:  # the same words to each of them
        say_unknown(correction["tokens"].count("[UNK]"), len(correction["tokens"]), "BERT")
        say_left_out(correction["left_out"])
    train(language, start, text)
    lesson.show("The mixture")
    show_source(Corrector.forward, "soft_masked", label=_("Soft-Masked BERT"))
    show_source(soft_masked, label=_("The formula"))
    show_source(Misspeller.misspell, label=_("How misspellings are made"))


def correctors(language: str, start) -> list[tuple[str, object]]:
    """The correctors: BERT as pre-trained, the shipped one, and this browser's own."""
    results = [(_("BERT as it was pre-trained"), start)]
    if language == "en":
        results.append((_("Soft-Masked BERT, shipped"), SHIPPED / "corrector"))
    for run in own_runs(f"{KIND}/{language}")[:2][::-1]:
        folder = run.result / "corrector"
        if settled(run) and (folder / "model.safetensors").is_file():
            results.append((_("{title}, yours").format(title=run.title), folder))
    return results


@st.cache_data(show_spinner=False, max_entries=200)
def corrected_by(folder: str, version: int, text: str) -> dict:
    from minibert.toy.corrections import correction_sample

    return correction_sample(*loaded(folder, version), text)


@st.cache_resource(show_spinner=False, max_entries=6)
def loaded(folder: str, version: int):
    from minibert.seq2seq.corrector import Corrector

    return Corrector.load(folder)


def show_corrected(correction: dict) -> None:
    """One column per token: the input, P(wrong), and the correction; safe HTML."""
    if not correction["tokens"]:
        return
    columns = []
    for place, (token, predictions) in enumerate(zip(correction["tokens"], correction["said"], strict=True)):
        word, share = predictions[0]
        p = None if correction["suspicion"] is None else correction["suspicion"][place]
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
    hint = _("**No run yet.** The first point stands here some seconds after the click.")
    follow_runs(own_runs(f"{KIND}/{language}")[:2], draw, hint)


def begin(language: str, start, steps: int, text: str) -> None:
    from minibert.toy.corrections import CorrectorSettings

    for kind, title in kinds().items():
        settings = CorrectorSettings(kind, steps, batch_size=16 if language == "zh" else 32, held_out=150)
        submit(
            "minibert.toy.corrections:train_corrector",
            settings,
            weights_to_begin_with(start),
            probe_inputs=[text],
            title=title,
            kind=f"{KIND}/{language}/{kind}",
            **sentences_of(language),
        )


def draw(runs: list) -> None:
    """Correction F1 by step."""
    if lines := by_title(runs, lambda run: [(step, metrics["correction_f1"]) for step, metrics in evals(run)]):
        alt = _("Sentences corrected, F1, of those they have not learned from. Last: {told}.")
        show_over_steps(lines, _("sentences corrected, F1"), alt, "corrector-learned", name=_("run"), value="F1")


# --- what it learns from ----------------------------------------------------------------------------------------------


def chinese_sentences() -> list[str]:
    """Distinct sentences of the course's Chinese data sets, in a fixed shuffled order."""
    data = LESSONS / "data"
    lines = (data / "reviews-zh" / "train.tsv").read_text(encoding="utf-8").splitlines()[1:]
    texts = [line.split("\t")[0] for line in lines]
    for block in (data / "words-zh" / "sentences.txt").read_text(encoding="utf-8").split("\n\n"):
        texts.append("".join(line.split()[0] for line in block.splitlines() if line.split()))
    for name in ("train.json", "dev.json"):
        for one in json_object(data / "questions-zh" / name)["data"]:
            for paragraph in one["paragraphs"]:
                texts += [paragraph["context"], *(each["question"] for each in paragraph["qas"])]
    cut = [part for text in texts for part in re.findall(r"[^。！？\n]+[。！？]?", text)]
    results = list(dict.fromkeys(part.strip() for part in cut if 4 <= len(part.strip()) <= LONGEST_SENTENCE))
    return sorted(results, key=lambda text: (sum(map(ord, text)) * 2_654_435_761) % 2**32)


def first_weights(language: str) -> Path:
    return CHECKPOINTS / "mini-zh" if language == "zh" else SHIPPED / "bert"


def sentences_of(language: str) -> Mapping[str, Sequence[str] | Mapping[str, Sequence[str]]]:
    """Arguments of `train_corrector` besides its settings."""
    if language != "zh":
        return {}
    from minibert.masking.misspelling import read_confusions

    return {"sentences": chinese_sentences(), "alike": read_confusions(LESSONS / "to_write" / "alike.zh.tsv")}
