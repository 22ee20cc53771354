"""BART as a model: it trains live to restore noised text, the user's own too."""

import html
import random

import streamlit as st

from sections.to_write import noises
from sections.to_write.subject import MAX_CHARS
from ui.inputs import choice, seed_input, sentence_input
from ui.lesson import Lesson
from ui.limits import say_left_out
from ui.live_runs import follow_runs, show_over_steps
from ui.runs import evals, manager, own_runs, settled, show_refusal, submit
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _

KIND = "to_write-bart"  # the `kind` of its runs
MOST_RUNS = 3
BEAM = 4  # beam width


def titles() -> dict[str, str]:
    """Short names of the noises; BART's final choice comes first."""
    return {
        "both": _("infilling and permutation"),
        "infilling": _("infilling"),
        "masking": _("masking"),
        "deletion": _("deletion"),
        "permutation": _("permutation"),
        "rotation": _("rotation"),
    }


def measures() -> dict[str, str]:
    return {
        "tokens": _("tokens, those before given"),
        "lost": _("of them, those that were lost"),
        "whole": _("whole texts, written alone"),
    }


def show(lesson: Lesson, inputs: None) -> None:
    from minibert.seq2seq import bart
    from minibert.toy.denoising import batch_of, train_bart

    manager().warm_up()
    lesson.show("BART as a model", title=False)
    text = sentence_input(
        "spoiled",
        lesson.examples_called("spoiled"),
        max_chars=MAX_CHARS,
        label=_("A text to be restored, in words of the toy world"),
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        noise = choice("noise", _("Spoiled by"), titles(), box=230)
        seed = seed_input(1)
        steps = st.slider(_("Steps"), 50, 600, 300, 50, key="bart-steps", width=160)
        if st.button(_("Train"), type="primary", icon=":material/play_arrow:", key="train-bart"):
            begin(noise, int(steps), text, seed)
    show_refusal()
    runs = own_runs(KIND)[:MOST_RUNS]
    restored(text, noise, seed, [run for run in runs if settled(run) and (run.result / "bart").is_dir()])
    hint = _("**No run yet.** Press *Train*: in less than a minute a BART writes your text back.")
    follow_runs(runs, draw, hint, speed=step_and_loss, message=[[text, seed]])
    lesson.show("How to read the restoring")
    show_source(batch_of, "target =", label=_("What the encoder reads, and what the decoder predicts"))
    show_source(bart.BartForConditionalGeneration.decode, label=_("The table of tokens is the output, too"))
    show_source(train_bart, "batches", label=_("The training"))
    lesson.show("The same text on both sides")
    show_source(bart.BartForSequenceClassification, "shifted", label=_("Classification"))


def begin(noise: str, steps: int, text: str, seed: int) -> None:
    from minibert.toy.denoising import DenoisingSettings

    submit(
        "minibert.toy.denoising:train_bart",
        DenoisingSettings(noise, steps),
        probe_inputs=[(text, seed)],
        title=_("BART, {noise}").format(noise=titles()[noise]),
        kind=f"{KIND}/{noise}",
    )


def step_and_loss(step: dict) -> str:
    return _(" · step {step:,} · loss {loss:.2f}").format(step=step["step"], loss=step["loss"])


@st.cache_resource(show_spinner=False, max_entries=6)
def loaded(folder: str, version: int):
    from minibert.toy.denoising import load

    return load(folder)


def restored(text: str, noise: str, seed: int, runs: list) -> None:
    """The noised text, and its restoration by this browser's models."""
    from minibert.masking.noises import NOISES
    from minibert.toy.denoising import LONGEST, restoration_sample, tokens_of, toy_tokenizer

    tokens = tokens_of(text, toy_tokenizer())
    if not tokens:
        st.info(_("Type a sentence."), icon=":material/edit:")
        return
    say_left_out(len(toy_tokenizer().encode(text)) - 2 - LONGEST)
    if "[UNK]" in tokens:
        st.caption(_("[UNK]: not a word of the toy world, which is all that such a BART reads."))
    beam = bool(runs) and st.toggle(_("Beam search"), key="bart-beam", bind="query-params")
    rows = [noises.row(_("What the encoder reads"), NOISES[noise](tokens, random.Random(seed)))]
    for run in runs:
        folder = run.result / "bart"
        model = loaded(str(folder), (folder / "model.safetensors").stat().st_mtime_ns)
        written = restoration_sample(*model, text, noise, seed, BEAM if beam else 1)["said"]
        rows.append(said_row(_("{title}, {n} steps").format(title=run.title, n=run.latest("done")["step"]), written))
    st.html(f'<ol class="mb-noises">{"".join(rows)}</ol>')


def said_row(title: str, written: list) -> str:
    """A BART's output as safe HTML: restored tokens bold and blue, tokens foreign to the text outlined."""
    words = {"found": _("lost, and found again"), "wrong": _("not in the text"), "kept": _("read, and written again")}
    cells = [
        f'<span class="{how}" title="{html.escape(words[how])}"><bdi>{html.escape(visible(token))}</bdi>'
        + (f"<small>{p:.0%}</small>" if how != "kept" else "")
        + "</span>"
        for token, p, how in written
    ]
    return f"<li><strong>{html.escape(title)}</strong><p>{' '.join(cells)}</p></li>"


def draw(runs: list) -> None:
    """The newest run's current output, its metrics by step, and the last metrics of all runs."""
    newest = runs[0]
    if not newest.over and (sample := newest.latest("sample")):
        title = _("{title}, step {n}").format(title=newest.title, n=sample["step"])
        st.html(f'<ol class="mb-noises">{said_row(title, sample["answers"][0]["said"])}</ol>')
    lines = {
        words: [(step, metrics[name]) for step, metrics in evals(newest) if name in metrics]
        for name, words in measures().items()
    }
    if lines := {words: points for words, points in lines.items() if points}:
        alt = _("{title}: what is right of held-out texts, over the steps. Last: {last}.")
        alt = alt.format(title=newest.title.replace("{", "{{").replace("}", "}}"), last="{told}")
        show_over_steps(lines, _("right"), alt, "bart-learned", name=_("measure"))
    if len(runs) > 1:
        compare(runs)


def compare(runs: list) -> None:
    rows = []
    for run in runs:
        if mark := run.latest("eval"):
            shares = {words: mark["metrics"].get(name) for name, words in measures().items()}
            told = {words: "–" if share is None else f"{share:.0%}" for words, share in shares.items()}
            rows.append({_("run"): literal(run.title), _("step"): mark["step"], **told})
    st.table(rows)
