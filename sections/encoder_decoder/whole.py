"""The central picture: encoder and decoder drawn once, whole; the lit half reads, fills in, or writes word by word."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from plots.grammar import MASK
from sections.encoder_decoder import films
from sections.encoder_decoder.subject import Inputs
from sections.encoder_decoder.trained import gpt, say_cut, say_repeated, say_unknown, task_names, writer
from ui.errors import translated
from ui.figures import in_words, legend
from ui.inputs import choice, chosen
from ui.lesson import Lesson
from ui.model_cache import version_of
from ui.model_registry import title_of
from ui.model_widgets import warn_untrained
from ui.page import picture
from ui.player import controls, moving
from ui.predict import predict
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _
from ui.window import say_drawn

KEY = "halves"
_HTML = """<div class="moving" role="group" tabindex="0"><p class="said" aria-live="polite"></p>
<div class="way"></div><svg role="img"></svg></div>"""


def halves() -> dict[str, str]:
    return {"both": _("Both: Transformer"), "encoder": _("Encoder: BERT"), "decoder": _("Decoder: GPT")}


def lit() -> str:
    """The half that is lit, even before it is drawn."""
    return chosen("half", halves(), "both")


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """The switch, the picture, and a note on the model that wrote in it."""
    from minibert.checkpoint import CheckpointError
    from minibert.toy.seq2seq import split_words

    words = split_words(inputs.text)
    with picture():
        half = choice("half", _("Which half is lit"), halves(), wrap=True, bare=True)
        if (half == "encoder") != (inputs.model is not None):
            st.rerun()  # the model stands outside this fragment
        try:
            model, own = writer() if half == "both" else (None, False)
            alone = films.decoder(inputs.text) if half == "decoder" else None
        except CheckpointError as error:
            st.error(_("What writes here cannot be read: {error}").format(error=literal(translated(error))))
            st.markdown(_("Train one of your own under *Train a Transformer*, or see what the encoder does alone."))
            return
        if not words:
            st.info(_("There is no word to read. Type a sentence above."), icon=":material/edit:")
        elif half == "encoder":
            count, *drawn = films.blanks(*_reading(inputs))
            _draw(half, inputs, films.encoder(title_of(inputs.model), count, *drawn))
            say_drawn(count, len(drawn[0]), follows=False)
        elif half == "decoder":
            _draw(half, inputs, alone)
        else:
            read = words[: model.longest]
            film = films.both(model, read)
            film = film if _guessed(inputs, read, film) else replace(film, steps=film.steps[:1], table=[])
            _draw(half, inputs, film, model)
    if words:
        _legend(half)
    if words and half == "encoder":
        warn_untrained(inputs.model)
    elif words and half == "decoder":
        _about_gpt(alone)
    elif words:
        _about(model, own, words)
    lesson.show("The question", title=False)
    _source(half)


def _guessed(inputs: Inputs, words: list[str], film: films.Film) -> bool:
    """Ask for the first word that will be written; True if it may be shown."""
    said = film.steps[1]["word"]
    options = list(dict.fromkeys([*map(visible, (words[0], words[len(words) // 2], words[-1])), said]))
    if len(options) < 2:
        return True
    question = _("Which word does it write first?")
    return predict("writes", question, options, options.index(said), about=f"{inputs.text} {said}")


def _reading(inputs: Inputs) -> tuple[str, int, str]:
    return inputs.model, version_of(inputs.model), inputs.text


def _draw(half: str, inputs: Inputs, film: films.Film, model: object = None) -> None:
    from plots.encoder_decoder import CROSS, LOOK, SELF

    last = film.steps[-1]["finding"]
    alt = _("Encoder and decoder side by side. Lit: {lit}. {finding}.").format(lit=halves()[half], finding=last)
    moving(KEY, Path(__file__).parent, _HTML)(
        key=KEY,
        data={
            "identity": f"{half}\n{inputs.text}\n{inputs.model if model is None else id(model)}\n{len(film.steps)}",
            "half": half,
            "sources": film.sources,
            "reads": film.reads,
            "given": film.given,
            "steps": film.steps,
            "rows": film.rows,
            "names": {
                "encoder": [_("Encoder"), _("BERT’s half")],
                "cross": [_("Cross-attention")],
                "decoder": [_("Decoder"), _("GPT’s half")],
                "reads": _("reads"),
                "writes": _("writes"),
                "fills": _("fills in"),
            },
            "hues": {"own": LOOK[SELF][0], "cross": LOOK[CROSS][0], "mask": MASK},
            "controls": controls(_("Steps so far"), _("step {n} of {last}")),
            "alt": alt,
        },
    )
    in_words(alt, f"{KEY}-words", film.table)


def _legend(half: str) -> None:
    from plots.encoder_decoder import CROSS, LOOK, SELF

    within = (LOOK[SELF][0], "━", _("self-attention, within a half: the thicker, the more"))
    over = (LOOK[CROSS][0], "━", _("cross-attention, from the decoder to what the encoder has read"))
    legend([within, over] if half == "both" else [within])


def _about(model, own: bool, words: list[str]) -> None:
    """Which model writes here, and what it cannot know."""
    notes = {
        True: _("Your newest run writes here: a Transformer of {n:,} weights, trained for “{task}”."),
        False: _(
            "A small Transformer of {n:,} weights writes here. It knows {words:,} words, no punctuation and no "
            "emoji, and one task: to write them in reverse. That stands for translating: every word has to be looked "
            "up at another place."
        ),
    }[own]
    count = sum(weight.numel() for weight in model.model.parameters())
    st.caption(notes.format(n=count, task=task_names()[model.task], words=len(model.words.entries)))
    say_cut(words, model.longest)
    say_unknown(model, words)
    say_repeated(model, words)


def _about_gpt(film: films.Film) -> None:
    """Which decoder writes here, and what it cannot know."""
    model, tokenizer = gpt()
    note = _(
        "A small GPT of {n:,} weights writes here. It was trained alone, on little stories made of {words} words, to "
        "predict each next word from those before it. It is given your first {given} words; the end of a story is left "
        "out of what it may write."
    )
    count = sum(weight.numel() for weight in model.parameters())
    words = len(tokenizer.vocab) - len(tokenizer.special_ids)
    st.caption(note.format(n=count, words=words, given=len(film.given)))
    if any(one["word"] == "[UNK]" for one in film.given):
        st.info(_("A word that is not in its stories is [UNK] to it."), icon=":material/help:")


def _source(half: str) -> None:
    if half == "encoder":
        from minibert.inside.predictions.cloze import expectations

        show_source(expectations, "mlm_logits")
    elif half == "decoder":
        from minibert.inside.predictions.generation import go_on
        from minibert.relatives.left_to_right import earlier_tokens

        show_source(go_on, "argmax")
        show_source(earlier_tokens, "causal_mask", label=literal(_("The mask that hides what follows")))
    else:
        from minibert.seq2seq.decoder import greedy
        from minibert.toy.seq2seq import EncoderDecoder

        show_source(greedy, "argmax")
        show_source(EncoderDecoder.decode, "memory", label=literal(_("The decoder, with what the encoder has read")))
