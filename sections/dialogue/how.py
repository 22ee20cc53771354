"""The user's sentence on its way through DIET: features, attention, the CRF's tags, and similarity to each intent."""

from functools import partial

import numpy as np
import streamlit as st

from sections.dialogue.subject import Inputs, predictor
from ui.figures import figure
from ui.inputs import pick
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _

MOST_WORDS = 24
FEW_WORDS = 8  # for as many a phone has room
SHOWN_GRAMS = 40


@st.cache_data(show_spinner=False, max_entries=64)
def looked_into(text: str) -> dict:
    """For the sentence: its words, their features, attention, tag probabilities, and the best path."""
    import torch

    from minibert.diet.rows import diet_batch

    diet = predictor()
    example = diet.task.example(text)
    (row,) = diet.features([example])
    batch, activations = diet_batch([row]), {}

    def tap(name, x):
        activations[name] = x
        return x

    with torch.no_grad():
        output = diet.model(batch, tap)
    emissions = output.emissions.float()
    return {
        "words": list(example.words),
        "features": [[diet.sparse.names[number] for number in place] for place in row.sparse[:-1]],
        "probs": activations["blocks.1.attn.probs"][0].mean(0).numpy(),
        "tags": diet.model.crf.marginals(emissions, batch.words)[0].numpy(),
        "path": diet.model.crf.best(emissions, batch.words)[0],
        "alone": emissions[0].argmax(-1).tolist(),
        "similarities": output.similarities[0].numpy(),
    }


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.diet.crf import Crf
    from minibert.diet.model import sampled_softmax_loss
    from minibert.diet.sparse import n_grams

    lesson.show("How it works", title=False)
    if not inputs.answers:
        st.info(_("Say something."), icon=":material/edit:")
        return
    inside = looked_into(inputs.text)
    words = inside["words"]
    st.markdown("### " + _("1 · Features of each word"))
    features(inside)
    show_source(n_grams)
    st.markdown("### " + _("2 · Two layers of attention"))
    attention(inside)
    st.markdown("### " + _("3 · A chain of tags"))
    if len(words) > MOST_WORDS:
        st.caption(_("The first {n} words are drawn.").format(n=MOST_WORDS))
    chain(inside)
    show_source(Crf.best)
    st.markdown("### " + _("4 · A point among the intents"))
    lesson.show("A point among the intents", title=False)
    st.dataframe(
        [
            {_("intent"): name, _("similarity"): round(float(value), 2)}
            for value, name in sorted(
                zip(inside["similarities"].tolist(), predictor().labels["intents"], strict=True), reverse=True
            )
        ],
        hide_index=True,
        width=420,
    )
    show_source(sampled_softmax_loss)


def features(inside: dict) -> None:
    from minibert.diet.sparse import WORD

    words = [visible(word, spaces=False) for word in inside["words"]]
    i = pick("word", _("A word"), words) if len(words) > 1 else 0
    named = inside["features"][i]
    known = [text for kind, text in named if kind == WORD]
    grams = [text.replace(" ", "␣") for kind, text in named if kind != WORD]
    line = (
        _("“{word}” is a word of the training texts: a feature of its own.")
        if known
        else _("“{word}” was never seen: it has no feature of its own, only those of its letter strings.")
    )
    st.markdown(line.format(word=literal(inside["words"][i])))
    st.code(" ".join(grams[:SHOWN_GRAMS]) + (" …" if len(grams) > SHOWN_GRAMS else "") or "–", None, wrap_lines=True)
    st.caption(
        _(
            "{n} known strings of up to five letters; ␣ is where the word begins or ends. All are ones, all others of "
            "{all:,} features are zeros; beside them stand the {dense} numbers of frozen mini-en."
        ).format(n=len(grams), all=len(predictor().sparse), dense=predictor().dense.size)
    )


def attention(inside: dict) -> None:
    from plots.dialogue import share_matrix

    names = [*(visible(word, spaces=False) for word in inside["words"][:MOST_WORDS]), "__CLS__"]
    places = [*range(len(names) - 1), len(inside["words"])]
    probs = np.asarray(inside["probs"])[np.ix_(places, places)]
    most = int(probs[-1, :-1].argmax()) if len(names) > 1 else 0
    summary = _("__CLS__ looks most at “{word}”").format(word=names[most])
    figure(
        partial(share_matrix, names, probs, summary),
        _("Second layer, mean of the heads: rows look at columns. {summary}.").format(summary=summary),
        "diet-attention",
        wide=len(names) > FEW_WORDS,
    )
    st.caption(_("Attention uses learned vectors for the distances −5 … 5; there are no positions."))


def chain(inside: dict) -> None:
    from plots.dialogue import step_matrix, tag_path

    tags, path = predictor().labels["tags"], inside["path"][:MOST_WORDS]
    probs = np.asarray(inside["tags"])[:MOST_WORDS]
    rows = sorted({0, *path, *np.argsort(-probs.max(0))[:5].tolist()})
    words = [visible(word, spaces=False) for word in inside["words"][:MOST_WORDS]]
    path_tags = [tags[tag] for tag in path]
    moved = sum(a != b for a, b in zip(inside["path"], inside["alone"], strict=True))
    summary = _("The likeliest path; without the chain {n} words would have another tag").format(n=moved)
    if not moved:
        summary = _("The likeliest path; without the chain no word would have another tag")
    figure(
        partial(tag_path, words, [tags[i] for i in rows], probs[:, rows], [rows.index(i) for i in path], summary),
        _("How probable each tag is at each word, and the likeliest path. {listed}.").format(
            listed=_("; ").join(f"{word} {tag}" for word, tag in zip(words, path_tags, strict=True))
        ),
        "tag-path",
        wide=len(words) > FEW_WORDS,
        data=[{_("word"): word, _("tag"): tag} for word, tag in zip(words, path_tags, strict=True)],
    )
    if st.toggle(_("Which tag follows which"), key="steps"):
        steps = predictor().model.crf.steps.detach().float().numpy()
        low = np.unravel_index(steps.argmin(), steps.shape)
        summary = _("Least liked: {b} after {a}").format(a=tags[low[0]], b=tags[low[1]])
        figure(
            partial(step_matrix, tags, steps, (_("tag before"), _("tag behind it")), summary),
            _("The learned score of each step from tag to tag. {summary}.").format(summary=summary),
            "tag-steps",
            wide=True,
        )
