"""The central picture: a word's attention as arcs, then a row, the matrix, and the vector mixed from it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from sections.attention.subject import Inputs, drawn, go_to, picked_row, square, trace
from ui.figures import in_words
from ui.inputs import state
from ui.inspected_model import head_name
from ui.page import picture
from ui.player import playing
from ui.predict import predict
from ui.projector import projecting
from ui.state import follow_link, set_url, url_int
from ui.text import literal, visible
from ui.translations import _
from ui.window import say_drawn

KEY = "attention-picture"
_STAGE = "attention-stage"
MOST_GUESSES = 4  # options of the prediction question
MOST_NAMED = 6  # words named below the picture
HTML = """<div class="mb-arcs"><p class="finding"></p><div class="way"></div>
<svg role="img" tabindex="0"></svg><p class="said" aria-live="polite"></p></div>"""


def stages() -> list[str]:
    return [_("Arcs"), _("Row"), _("Matrix"), _("New vector")]


def stage() -> int:
    """Index of the drawn stage in `stages`; in the link as `view`, counted from 1."""
    if follow_link("view") or _STAGE not in st.session_state:
        st.session_state[_STAGE] = url_int("view", 1, 1, len(stages())) - 1
    set_url("view", st.session_state[_STAGE] + 1, default=1)
    return st.session_state[_STAGE]


def show(inputs: Inputs) -> None:
    """Draw the picture for the chosen word."""
    import torch

    from minibert.inside.heads.arithmetic import all_probs, take_apart

    reading = inputs.reading.padded(0)
    record = trace(inputs.subject, reading)
    one = take_apart(inputs.subject.model, reading.batch(), record, inputs.layer, inputs.head)
    row = min(picked_row(inputs), len(reading.tokens) - 1)
    seen = drawn(inputs, row)
    with picture():
        say_drawn(reading.length, len(seen.rows))
        revealed = _guessed(inputs, reading.tokens, one.probs[row].tolist(), row, seen.rows)
        probs = one.probs if revealed else torch.zeros_like(one.probs)
        if revealed:
            findings = [finding(reading.tokens, one.probs[i].tolist(), i, inputs) for i in seen.rows]
        else:
            findings = [_("Where does “{word}” look?").format(word=visible(token)) for token in seen.tokens]
        _component()(
            key=KEY,
            data={
                "tokens": [visible(token) for token in seen.tokens],
                "rows": seen.rows,
                "probs": [[round(p, 4) for p in line] for line in seen.square(probs).tolist()],
                "values": [[round(v, 3) for v in line] for line in seen.of(one.value).tolist()],
                "mixed": [[round(v, 3) for v in line] for line in seen.of(one.mixed).tolist()],
                "row": seen.at(row),
                "stage": stage(),
                "asked": not revealed,
                "large": projecting(),
                "findings": findings,
                "words": {
                    "stages": stages(),
                    **playing(),
                    "said": said(len(seen.rows) < reading.length),
                    "new": _("new vector"),
                },
            },
            on_stage_change=_to_stage,
            on_clicked_change=_clicked,
        )
    if revealed:
        with st.container(
            horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="measure"
        ):
            measure(inputs, all_probs(record)[:, 0], row)
    if revealed:
        in_words(findings[seen.at(row)], f"{KEY}-words", lambda: square(one.probs, reading.tokens))


def _guessed(inputs: Inputs, tokens: tuple[str, ...], shares: list[float], row: int, shown: tuple[int, ...]) -> bool:
    """Ask which of the distant content words the head attends to most; True if its attention may be shown. shown: the
    places drawn."""
    from minibert.inside.heads.telling import content_words

    words: dict[str, float] = {}  # a repeated word counts with its largest share
    for place in (place for place in content_words(tokens, row) if place in shown):
        words[tokens[place]] = max(words.get(tokens[place], 0), shares[place])
    most = sorted(words, key=lambda word: -words[word])[:MOST_GUESSES]
    options = [word for word in words if word in most]  # in their order in the sentence
    if len(options) < 2:
        return True
    question = _("Which of these does “{word}” take most from, in {head}?").format(
        word=literal(visible(tokens[row])), head=head_name(inputs.layer, inputs.head)
    )
    about = f"{inputs.subject.title} {inputs.text} {inputs.second} {inputs.layer} {inputs.head} {row}"
    return predict("arcs", question, [visible(word) for word in options], options.index(most[0]), about=about)


def said(cut: bool) -> list[str]:
    """What each stage shows, one line each; the arrow keys move between them. cut: only some tokens are drawn."""
    row = _("The same shares side by side: one row of numbers that add up to 1.")
    if cut:
        row = _("The same shares side by side. With those of the tokens not drawn they add up to 1.")
    return [
        _("Each arc is a share: the thicker, the more of that word comes in. Click another word, or press →."),
        row,
        _("Every word has such a row: together they are the head's attention matrix. Click a row or a cell."),
        _("Each word's value vector, as wide as its share; added up, they are the new vector."),
    ]


def finding(tokens: tuple[str, ...], shares: list[float], row: int, inputs: Inputs) -> str:
    """Where most of a word's attention goes, as a sentence."""
    most = sorted(range(len(shares)), key=lambda j: -shares[j])[:3]
    places = _(", ").join(_("{share:.0%} from {token}").format(share=shares[j], token=visible(tokens[j])) for j in most)
    return _("{head}: “{word}” takes {told}").format(
        head=head_name(inputs.layer, inputs.head).capitalize(), word=visible(tokens[row]), told=places
    )


def measure(inputs: Inputs, probs, row: int) -> None:
    """This head's share beside the largest share of any head for the word, and a button that opens that head."""
    from minibert.inside.heads.telling import content_words, telling_head

    tokens = inputs.reading.tokens[: inputs.reading.length]
    best = telling_head(probs, tokens, row)
    if best is None:
        return
    layer, head, share = best
    words = content_words(tokens, row)
    here = probs[inputs.layer, inputs.head, row, words].sum().item()
    named = list(dict.fromkeys(f"*{literal(tokens[j])}*" for j in words))
    names = _(", ").join([*named[:MOST_NAMED], *["…"] * (len(named) > MOST_NAMED)])
    place = {"n": probs.size(0) * probs.size(1), "word": literal(tokens[row]), "words": names}
    if (layer, head) == (inputs.layer, inputs.head):
        text = _("Of all {n} heads, this one takes most for *{word}* from words not next to it ({words}): {share:.0%}.")
        st.caption(text.format(share=share, **place))
        return
    text = _(
        "For *{word}* this head takes {here:.0%} from words not next to it ({words}); {best} most of {n}: {share:.0%}."
    )
    st.caption(text.format(here=here, best=head_name(layer, head), share=share, **place), width="stretch")
    label = _("Show {head}").format(head=head_name(layer, head))
    if st.button(label, icon=":material/search:", key="best-head", on_click=go_to, args=(layer, head)):
        st.rerun()  # layer and head are chosen outside this fragment


def _to_stage() -> None:
    stage = (st.session_state.get(KEY) or {}).get("stage")
    if isinstance(stage, (int, float)) and 0 <= stage < len(stages()):
        st.session_state[_STAGE] = int(stage)


def _clicked() -> None:
    cell = (st.session_state.get(KEY) or {}).get("clicked")
    if isinstance(cell, dict):
        for name in ("row", "column"):
            if isinstance(cell.get(name), (int, float)) and cell[name] >= 0:
                st.session_state[state(name)] = int(cell[name])


def _component():
    """Register on every run: the registry lives as long as the server, and any page may be opened first."""
    folder = Path(__file__).parent
    css, js = (folder.joinpath(f"arcs.{end}").read_text(encoding="utf-8") for end in ("css", "js"))
    return st.components.v2.component("minibert_attention_arcs", html=HTML, css=css, js=js)
