"""The central picture: one of UniLM's four masks over two texts, and the second text written under it, step by step."""

from pathlib import Path

import streamlit as st

from plots.attention import number
from plots.grammar import MASK
from plots.theme import BLUE, ORANGE
from sections.to_write import films
from sections.to_write.answers import with_shares
from sections.to_write.subject import MOST_GIVEN, MOST_READ, SHIPPED, Inputs, network, words_of
from ui.figures import in_words, legend
from ui.inputs import choice
from ui.limits import say_left_out
from ui.page import picture
from ui.pairs import warn_unknown
from ui.player import controls, moving
from ui.text import literal, visible
from ui.translations import _

KEY = "written"
_HTML = """<div class="moving" role="group" tabindex="0"><p class="said" aria-live="polite"></p>
<div class="way"></div><svg role="img"></svg></div>"""


def masks() -> dict[str, str]:
    return {
        "seq2seq": _("Read, then write (⅓)"),
        "both_ways": _("Both ways (⅓)"),
        "left_to_right": _("From the left (⅙)"),
        "right_to_left": _("From the right (⅙)"),
    }


@st.fragment
def show(inputs: Inputs) -> None:
    with picture():
        mask = choice("mask", _("The mask of a batch"), masks(), wrap=True, bare=True)
        results = films.film(inputs, mask)
        if results is None:
            st.info(_("Type a sentence."), icon=":material/edit:")
            return
        draw(inputs, mask, results)
    words, known = words_of(inputs.read, len(inputs.read)), network(inputs.writer.folder)[1].ids
    warn_unknown([word if word in known else "[UNK]" for word in words[:MOST_READ]])
    given = inputs.given or ""
    say_left_out(len(words) - MOST_READ)
    say_left_out(len(words_of(given, len(given))) - MOST_GIVEN)
    read, written = (BLUE, "■", _("sees a token that is read")), (ORANGE, "◆", _("sees one that is written"))
    legend([read, written, (MASK, "▭", "[MASK]")])
    others(results)
    if mask == "seq2seq" and inputs.given is None:
        bert_writes(inputs)


def draw(inputs: Inputs, mask: str, results: films.WritingSteps) -> None:
    last = results.steps[-1]["finding"]
    alt = _("Which token may look at which under the mask “{mask}”: a row looks at columns. {finding}.").format(
        mask=masks()[mask], finding=last
    )
    rows = {
        "identity": f"{mask}\n{inputs}",
        "tokens": [visible(token) for token in results.tokens],
        "source": results.source,
        "mask": results.mask,
        "steps": results.steps,
        "names": {"guesses": _("what it expects there"), "text": _("written so far")},
        "hues": {"read": BLUE, "own": ORANGE, "mask": MASK},
        "controls": controls(_("Tokens written"), _("step {n} of {last}")),
        "alt": alt,
    }
    moving(KEY, Path(__file__).parent, _HTML)(key=KEY, data=rows)
    in_words(alt, f"{KEY}-words", lambda: table(results))


def table(results: films.WritingSteps) -> list[dict]:
    return [
        {
            _("written"): step["word"],
            _("probability"): "–" if step["p"] is None else f"{step['p']:.2%}",
            _("the likeliest"): _(", ").join(f"{word} {p:.1%}" for word, p in step["guesses"]),
        }
        for step in results.steps
        if "row" in step
    ]


def others(results: films.WritingSteps) -> None:
    if results.others:
        listed = " · ".join(f"{literal(text)} (ln P = {number(score)})" for text, score in results.others)
        st.caption(_("Also found: {texts}").format(texts=listed))


def bert_writes(inputs: Inputs) -> None:
    """The answer of a BERT fine-tuned on the same task with its only, bidirectional mask."""
    if inputs.writer.name != "answers":
        return
    answer = bert_answer(inputs.read, (SHIPPED / "bert-answers" / "model.safetensors").stat().st_mtime_ns)
    words = _("**BERT**, fine-tuned on the same questions under its one mask, writes: {said}")
    st.caption(words.format(said=with_shares(answer)))


@st.cache_data(show_spinner=False, max_entries=200)
def bert_answer(text: str, version: int) -> dict:
    from minibert.toy.answers import answer_sample

    return answer_sample(*network(SHIPPED / "bert-answers"), text)
