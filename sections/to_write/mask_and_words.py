"""The central picture: one of UniLM's four masks over two texts, and the second text written under it, step by step."""

from pathlib import Path

import streamlit as st

from plots.grammar import MASK
from plots.theme import BLUE, ORANGE
from sections.to_write import films
from sections.to_write.subject import SHIPPED, Subject, network
from ui.figures import in_words, legend
from ui.inputs import choice
from ui.page import picture
from ui.player import controls, moving
from ui.text import literal, visible
from ui.translations import _

KEY = "written"
_HTML = """<div class="moving" role="group" tabindex="0"><p class="said" aria-live="polite"></p>
<svg role="img"></svg><div class="way"></div></div>"""


def masks() -> dict[str, str]:
    return {
        "seq2seq": _("Read, then write (⅓)"),
        "both_ways": _("Both ways (⅓)"),
        "left_to_right": _("From the left (⅙)"),
        "right_to_left": _("From the right (⅙)"),
    }


@st.fragment
def show(seen: Subject) -> None:
    with picture():
        mask = choice("mask", _("The mask of a batch"), masks(), wrap=True, bare=True)
        found = films.film(seen, mask)
        if found is None:
            st.info(_("Type a sentence."), icon=":material/edit:")
            return
        draw(seen, mask, found)
    legend(
        [
            (BLUE, "■", _("sees a token that is read")),
            (ORANGE, "◆", _("sees one that is written")),
            (MASK, "▭", "[MASK]"),
        ]
    )
    others(found)
    if mask == "seq2seq" and seen.given is None:
        bert_writes(seen)


def draw(seen: Subject, mask: str, found: films.Film) -> None:
    last = found.steps[-1]["finding"]
    alt = _("Which token may look at which under the mask “{mask}”: a row looks at columns. {finding}.").format(
        mask=masks()[mask], finding=last
    )
    moving(KEY, Path(__file__).parent, _HTML)(
        key=KEY,
        data={
            "identity": f"{mask}\n{seen}",
            "tokens": [visible(token) for token in found.tokens],
            "source": found.source,
            "mask": found.mask,
            "steps": found.steps,
            "names": {"guesses": _("what it expects there"), "text": _("written so far")},
            "hues": {"read": BLUE, "own": ORANGE, "mask": MASK},
            "controls": controls(_("Tokens written"), _("step {n} of {last}")),
            "alt": alt,
        },
    )
    in_words(alt, f"{KEY}-words", lambda: table(found))


def table(found: films.Film) -> list[dict]:
    return [
        {
            _("written"): step["word"],
            _("probability"): "–" if step["p"] is None else f"{step['p']:.2%}",
            _("the likeliest"): ", ".join(f"{word} {p:.1%}" for word, p in step["guesses"]),
        }
        for step in found.steps
        if "row" in step
    ]


def others(found: films.Film) -> None:
    """The other texts found by beam search."""
    if found.others:
        told = " · ".join(f"{literal(text)} (ln P = {score:.2f})" for text, score in found.others)
        st.caption(_("Also found: {texts}").format(texts=told))


def bert_writes(seen: Subject) -> None:
    """The answer of a BERT fine-tuned on the same task with its only, bidirectional mask."""
    if seen.writer.name != "answers":
        return
    words, shares = bert_wrote(seen.read, (SHIPPED / "bert-answers" / "model.safetensors").stat().st_mtime_ns)
    said = " ".join(f"{literal(visible(word))} {p:.0%}" for word, p in zip(words, shares, strict=True))
    st.caption(_("**BERT**, fine-tuned on the same questions under its one mask, writes: {said}").format(said=said))


@st.cache_data(show_spinner=False, max_entries=200)
def bert_wrote(text: str, version: int) -> tuple[list[str], list[float]]:
    from minibert.toy.answers import answer_sample

    told = answer_sample(*network(SHIPPED / "bert-answers"), text)
    return told["words"], told["shares"]
