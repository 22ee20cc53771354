"""Tokens and ids: the model's input, and the span of the text that each token comes from."""

import streamlit as st

from minibert.tokenizer import Explanation, Tokenizer
from plots.tokenization import origins
from sections.tokenization.drawn import kind, shown
from ui.lesson import TEXT_WIDTH
from ui.limits import count_unknown
from ui.source import show_source
from ui.state import follow_link, set_url, url_int
from ui.text import literal, shorten, visible
from ui.translations import _, ngettext

MOST_TOKENS = 300  # most tokens drawn in one row


def show(e: Explanation, tokenizer: Tokenizer) -> None:
    encoding = e.encoding
    tokens, count = encoding.tokens[:MOST_TOKENS], len(encoding)
    unknown = count_unknown(encoding)[0]
    with st.container(horizontal=True, gap="large", key="counts"):
        for label, value in (
            (_("characters"), len(e.text)),
            (_("words between spaces"), len(e.text.split())),
            (_("tokens, with [CLS] and [SEP]"), count),
            (_("of them [UNK]"), unknown),
        ):
            st.metric(label, f"{value:,}")
    if follow_link("token") or "token" not in st.session_state:
        st.session_state["token"] = url_int("token", 2, 1, len(tokens))
    st.session_state["token"] = min(st.session_state["token"], len(tokens))
    place = st.container()
    chosen = st.slider(_("Token"), 1, len(tokens), key="token") - 1
    set_url("token", chosen + 1, default=2)
    last = max((end for _start, end in encoding.offsets[: len(tokens)]), default=0)
    cut = count > len(tokens)
    rest = ngettext("… and {n:,} more token", "… and {n:,} more tokens", count - len(tokens)).format(
        n=count - len(tokens)
    )
    text = e.text[:last] if cut else e.text
    with place:
        st.html(
            origins(
                shown(text) + (["…"] if cut else []),
                [visible(token) for token in tokens],
                [kind(token) for token in tokens],
                encoding.offsets[: len(tokens)],
                encoding.ids[: len(tokens)],
                chosen=chosen,
                more=rest if cut else "",
                labels=(_("your text"), _("tokens and their ids")),
            )
        )
    st.markdown(about_token(e, chosen))
    words = _("Put together again, the ids say: {text}. What the steps took away does not come back.")
    st.markdown(
        words.format(text=f"“{literal(shorten(tokenizer.decode(encoding.ids, skip_special=True), 400))}”"),
        width=TEXT_WIDTH,
    )
    show_source(Tokenizer.encode)


def about_token(e: Explanation, chosen: int) -> str:
    encoding = e.encoding
    token = literal(visible(encoding.tokens[chosen]))
    start, end = encoding.offsets[chosen]
    what = _("Token {n}: **{token}**, id **{id:,}**").format(n=chosen + 1, token=token, id=encoding.ids[chosen])
    if encoding.words[chosen] is None:
        role = {"[CLS]": _("added in front: its vector will stand for the whole text")}.get(
            encoding.tokens[chosen], _("added at the end of the text")
        )
        return _("{token} – {told}.").format(token=what, told=role)
    one = _("from character {start:,} of your text, “{text}”")
    several = _("from characters {start:,} to {end:,} of your text, “{text}”")
    where = (one if end - start == 1 else several).format(
        start=start + 1, end=end, text=literal(shorten(e.text[start:end], 60))
    )
    return _("{token} – {told}.").format(token=what, told=where)
