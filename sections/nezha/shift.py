"""The same sentence further to the right: the effect on a score, and which model still predicts the masked word."""

from functools import partial
from pathlib import Path

import streamlit as st

from sections.nezha.subject import MOST_FRONT, Inputs, in_front
from ui.figures import bars_in_words, figure
from ui.lesson import Lesson
from ui.pairs import ModelPair, networks
from ui.predict import predict
from ui.text import literal, tokens_html, visible
from ui.translations import _

TOP = 4
STEP = 20  # words from one point of the curve to the next


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("Words in front", title=False)
    if not inputs.tokens:
        return
    tokenizer = networks(inputs.pair)[2]
    hidden = [tokenizer.vocab[i] for i in inputs.ids]
    hidden[inputs.word] = "[MASK]"
    front = [f"…+{len(inputs.front)}"] if inputs.front else []
    kinds = ["faded"] * len(front) + ["mask" if n == inputs.word else "plain" for n in range(len(hidden))]
    st.html(tokens_html(front + hidden, kinds=kinds, label=_("what both read")))
    word = visible(inputs.tokens[inputs.word])
    finds = [finds_it(inputs, which, len(inputs.front)) for which in ("nezha", "bert")]
    options = [_("both"), _("only NEZHA"), _("only BERT"), _("neither")]
    right = [(True, True), (True, False), (False, True), (False, False)].index(tuple(finds))
    question = _("“{word}” is hidden, and {n} words stand in front. Which model still ranks it first?")
    if not predict(
        "shift",
        question.format(word=literal(word), n=len(inputs.front)),
        options,
        right,
        about=f"{inputs.text}\n{inputs.word}\n{len(inputs.front)}\n{inputs.furthest}\n{inputs.pair.name}",
    ):
        return
    answers(inputs, word)
    curve(inputs, word)
    scores(inputs)
    lesson.show("What stays and what moves")


def shares(inputs: Inputs, which: str, count: int):
    """The probabilities of "nezha" or "bert" for the chosen word, hidden, behind `count` words. (V,)"""
    pair, furthest = inputs.pair, inputs.furthest if which == "nezha" else None
    return _shares(pair, pair.version, which, tuple(inputs.ids), inputs.word, count, furthest)


@st.cache_resource(show_spinner=False, max_entries=1_000, hash_funcs={Path: str})
def _shares(
    pair: ModelPair, version: int, which: str, ids: tuple[int, ...], word: int, count: int, furthest: int | None
):
    from minibert.inside.relatives.distances import expected

    nezha, bert, tokenizer = networks(pair)
    row = [tokenizer.cls_id, *in_front(pair, count), *ids, tokenizer.sep_id]
    return expected(nezha if which == "nezha" else bert, row, 1 + count + word, tokenizer.mask_id, furthest)


def finds_it(inputs: Inputs, which: str, count: int) -> bool:
    return int(shares(inputs, which, count).argmax()) == inputs.ids[inputs.word]


def answers(inputs: Inputs, word: str) -> None:
    """The predictions of both models, without and with words in front."""
    from plots.masking import Blank, expected_tokens

    vocab, blanks = networks(inputs.pair)[2].vocab, []
    for which, title in (("bert", "BERT"), ("nezha", "NEZHA")):
        for count, where in ((0, _("alone")), (len(inputs.front), _("{n} in front").format(n=len(inputs.front)))):
            best = shares(inputs, which, count).topk(TOP)
            names = [visible(vocab[i]) for i in best.indices.tolist()]
            roles = {n: "true" for n, i in enumerate(best.indices.tolist()) if i == inputs.ids[inputs.word]}
            blanks.append(
                Blank(_("{name}, {where}").format(name=title, where=where), names, best.values.tolist(), roles=roles)
            )
    listed = _(". ").join(map(bars_in_words, blanks))
    figure(
        partial(
            expected_tokens,
            blanks,
            columns=2,
            axis=_("probability"),
            title=_("What each would write for “{word}”").format(word=word),
        ),
        _("What each would write for “{word}”. {told}.").format(word=word, told=listed),
        "shift-answers",
        wide=True,
    )


def curve(inputs: Inputs, word: str) -> None:
    """The probability of the right word by number of words in front."""
    from plots.nezha import over_scales

    counts = list(range(0, MOST_FRONT + 1, STEP))
    lines = {
        title: [float(shares(inputs, which, n)[inputs.ids[inputs.word]]) for n in counts]
        for which, title in (("bert", "BERT"), ("nezha", "NEZHA"))
    }
    listed = _("; ").join(
        f"{name}{_(': ')}{_(', ').join(f'{n} {share:.0%}' for n, share in zip(counts, values, strict=True))}"
        for name, values in lines.items()
    )
    fig = partial(
        over_scales,
        lines,
        [str(n) for n in counts],
        len(inputs.front) / STEP,
        (_("words in front"), _("share of the right word")),
    )
    figure(
        fig,
        _("P(“{word}”) as words are put in front. {told}.").format(word=word, told=listed),
        "shift-curve",
        data=[
            {_("in front"): n, **{name: f"{values[i]:.1%}" for name, values in lines.items()}}
            for i, n in enumerate(counts)
        ],
    )


def scores(inputs: Inputs) -> None:
    """One attention score of layer 1 in both models, alone and with words in front."""
    from minibert.inside.relatives.distances import score

    words = [place for place, token in enumerate(inputs.tokens) if token[0].isalnum() and place != inputs.word]
    other = max([n for n in words if n < inputs.word] or words or [inputs.word])  # the nearest word before it
    rows = []
    for title, model in zip(("NEZHA", "BERT"), networks(inputs.pair)[:2], strict=True):
        head, values = min(inputs.head, model.config.num_attention_heads - 1), []
        for front in ((), inputs.front):
            pair = (1 + len(front) + inputs.word, 1 + len(front) + other)
            values.append(f"{score(model, inputs.row(front), 0, head, pair):.4f}")
        rows.append({"": title, _("alone"): values[0], _("with words in front"): values[1]})
    a, b = (literal(visible(inputs.tokens[n])) for n in (inputs.word, other))
    words = _("The score of “{a}” for “{b}”, layer 1, head {head}")
    st.markdown(f"**{words.format(a=a, b=b, head=inputs.head + 1)}**")
    st.table(rows)
