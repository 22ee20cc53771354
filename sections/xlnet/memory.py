"""Memory: a row of the user's text, with the row before it in memory, and without."""

from functools import partial

import streamlit as st

from sections.xlnet.subject import Inputs
from ui.figures import bars_in_words, figure
from ui.inputs import example_pills, numbered, pick, sentence_input
from ui.lesson import Lesson
from ui.limits import say_left_out, say_unknown
from ui.pairs import ModelPair, networks
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _, pgettext

MOST, TOP = 20, 4  # most tokens per row; predictions drawn


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.relatives.parts.segment_memory import read_on

    lesson.show("The row before", title=False)
    show_predictions(inputs.pair, *two_rows(lesson, inputs.pair))
    lesson.show("What the memory holds")
    show_source(read_on, find="longer =", label=_("A row behind its memory, layer by layer"))


def two_rows(lesson: Lesson, pair: ModelPair) -> list[tuple[int, ...]]:
    """The ids of the two rows of text; an example fills both."""
    ready = list(zip(lesson.examples_called("before"), lesson.examples_called("behind"), strict=True))
    labels = {"before": _("A row, which stays in the memory"), "behind": _("The next row, one word of it hidden")}
    texts, rows = [], []
    for column, key, start in zip(st.columns(2, gap="medium"), labels, ready[0], strict=True):
        with column:
            texts.append(sentence_input(key, [], label=labels[key], default=start, max_chars=200))
            rows.append(tuple(networks(pair)[2].encode(texts[-1], add_special=False).ids))
            say_left_out(len(rows[-1]) - MOST)
    shown = ready.index(tuple(texts)) if tuple(texts) in ready else None
    example_pills("rows", [literal(" | ".join(one)) for one in ready], shown, partial(use_example, ready))
    return [row[:MOST] for row in rows]


def use_example(ready: list[tuple[str, str]], index: int) -> None:
    st.session_state["before"], st.session_state["behind"] = ready[index]


def show_predictions(pair: ModelPair, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """One word of the second row: its prediction with the first row in memory and without, and its attention."""
    from plots.masking import Blank, expected_tokens
    from plots.xlnet import looked_at

    tokenizer = networks(pair)[2]
    if not first or not second:
        st.info(_("Type a word in each row."), icon=":material/edit:")
        return
    words = [[visible(tokenizer.vocab[i]) for i in ids] for ids in (first, second)]
    say_unknown([*first, *second].count(tokenizer.unk_id), len(first) + len(second), "XLNet")
    gains = [predictions(pair, pair.version, first, second, place) for place in range(len(second))]
    most = max(range(len(second)), key=lambda place: gains[place][0][1] - gains[place][1][1])
    place = pick("place", _("The hidden word"), numbered(words[1]), default=most, width=260)
    (with_memory, here), (alone, without), shares = gains[place]
    word = words[1][place]
    st.markdown(
        _("P(“{word}”) with the first row in the memory: **{here:.1%}**; without it: **{without:.1%}**.").format(
            word=literal(word), here=here, without=without
        )
    )
    titles = (_("with memory"), _("without memory"))
    blanks = [
        Blank(title, [visible(tokenizer.vocab[i]) for i, _p in top], [p for _i, p in top])
        for title, top in zip(titles, (with_memory, alone), strict=True)
    ]
    listed = _("; ").join(map(bars_in_words, blanks))
    figure(
        partial(expected_tokens, blanks, columns=2, axis=_("probability")),
        _("What is expected in the place of “{word}”. {said}.").format(word=word, said=listed),
        "memory-expected",
        wide=True,
    )
    memory = sum(shares[: len(first)])
    title = _("Where “{word}” is predicted, {share:.0%} of the last layer’s attention goes to the memory").format(
        word=word, share=memory
    )
    names = (pgettext("of XLNet", "memory"), _("its own row"), _("attention"))
    figure(
        partial(looked_at, words[0], words[1], shares, place, names, title),
        _("{title}. {told}.").format(
            title=title, told=_(", ").join(f"{w} {p:.0%}" for w, p in zip(words[0] + words[1], shares, strict=True))
        ),
        "memory-attention",
        wide=True,
    )
    st.caption(_("Mean of the heads. The word’s own place is empty: the query does not see the word."))


@st.cache_data(show_spinner=False, max_entries=300, hash_funcs={ModelPair: lambda pair: pair.name})
def predictions(pair: ModelPair, version: int, first: tuple[int, ...], second: tuple[int, ...], place: int):
    """((likeliest (id, P), P of the word) with memory, the same without, attention of the last layer (M + T,))"""
    from minibert.inside.relatives.memory_reach import expected_behind

    model, results, shares = networks(pair)[0], [], []
    for memory in (first, ()):
        probs, attention = expected_behind(model, memory, second, place)
        best = probs.topk(TOP)
        results.append(
            (list(zip(best.indices.tolist(), best.values.tolist(), strict=True)), float(probs[second[place]]))
        )
        shares.append(attention[-1].mean(0).tolist())
    return *results, shares[0]
