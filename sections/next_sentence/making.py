"""How pairs are made: the user's documents, cut into pairs, and one of them step by step."""

import html

import streamlit as st

from sections.next_sentence import documents, random_share
from sections.next_sentence.follow import follow, html_table, segments_of
from sections.next_sentence.subject import Inputs
from ui.lesson import Lesson
from ui.model_cache import language_read, load
from ui.source import show_source
from ui.state import follow_link, set_url, url_int
from ui.text import shorten
from ui.translations import _, ngettext, pgettext

PAIRS = 30  # most pairs shown
SNIPPET = 70  # most characters of a segment in the table


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.predictions.next_sentence import decisions, documents_in
    from minibert.text.documents import DataError, split_sentences
    from minibert.text.segment_pairs import segment_pairs, truncate_pair
    from minibert.text.store import TokenStore

    model = inputs.model
    lesson.show("How pairs are made", title=False)
    text, max_length, short, seed = documents.read(lesson, language_read(model))
    tokenizer = load(model).tokenizer
    own = documents_in(text)
    try:
        store = TokenStore.build(own, tokenizer)
    except DataError:
        st.info(_("Type or paste some text."), icon=":material/edit:")
        return
    sentences = [sentence for lines in own for line in lines for sentence in split_sentences(line)]
    made = decisions(store, max_length, seed, short / 100)
    if len(store) < 2:
        st.warning(
            _("There is only one document: no random B can be drawn. Put a blank line where the next one begins."),
            icon=":material/looks_one:",
        )
    if not made:
        return
    made.sort(key=lambda one: (one.document, one.chunk[0][0]))
    chosen = _show_pairs(made, store, tokenizer)
    follow(made[chosen], store, sentences, tokenizer, max_length)
    lesson.show("Why more than half are random")
    random_share.show(text, model, max_length, short, seed)
    show_source(segment_pairs, find="random_next", label=_("The code that made the pairs"))
    show_source(truncate_pair, label=_("The code that cuts a pair to length"))


def _answer(random_next: bool) -> str:
    return _("random") if random_next else pgettext("a sentence", "next")


def _show_pairs(made: list, store, tokenizer) -> int:
    """All pairs as a table; returns the index of the pair to follow."""
    random = sum(one.random_next for one in made)
    st.markdown(
        ngettext("**{n} pair**", "**{n} pairs**", len(made)).format(n=len(made))
        + _(": ")
        + _("{next} with the true continuation, **{random} with a random B ({share:.0%})**.").format(
            next=len(made) - random, random=random, share=random / len(made)
        )
    )
    shown = min(len(made), PAIRS)
    if follow_link("pair") or st.session_state.get("pair") not in range(shown):
        st.session_state["pair"] = url_int("pair", 1, 1, shown) - 1
    chosen = st.pills(
        _("Follow a pair"),
        range(shown),
        format_func=lambda i: f"{i + 1} · {_answer(made[i].random_next)}",
        key="pair",
        required=True,
    )
    set_url("pair", chosen + 1, default=1)
    rows = []
    for i, one in enumerate(made[:shown]):
        texts = [shorten(tokenizer.decode(store.ids[part].tolist()), SNIPPET) for part in segments_of(one)]
        cells = [
            f'<td class="ns-n">{i + 1}</td><td class="ns-n">{one.document + 1}</td>',
            *(f"<td><bdi>{html.escape(text)}</bdi></td>" for text in texts),
            f'<td class="ns-role">{html.escape(_answer(one.random_next))}</td>',
            f'<td class="ns-n">{len(one.pair.a) + len(one.pair.b) + 3}</td>',
        ]
        rows.append(f'<tr class="{"ns-chosen" if i == chosen else ""}">{"".join(cells)}</tr>')
    heads = ["", _("document"), "A", "B", _("label"), _("tokens")]
    with st.expander(_("All pairs as a table"), icon=":material/table_rows:"):
        st.html(html_table(heads, "".join(rows)))
        if shown < len(made):
            st.caption(_("The first {shown} of {n}.").format(shown=shown, n=len(made)))
    return chosen
