"""Models with saved steps of their training; a model at one of them: its predictions, a head, its embeddings."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from sections.pretraining.trainings import logged
from ui.figures import figure
from ui.inputs import pick, sentence_input
from ui.model_registry import available_models
from ui.runs import own_models
from ui.text import literal
from ui.translations import _
from ui.window import around, say_drawn, with_first


@dataclass(frozen=True)
class ModelWithSteps:
    """A model with its saved steps, oldest first; the last is the model itself, with path None."""

    name: str
    title: str
    directory: Path
    steps: tuple[tuple[str, Path | None], ...]  # label of the step, and its file


def pasts() -> list[ModelWithSteps]:
    from minibert.training.snapshots import listed

    found_ones = []
    for info in available_models(fill=True):
        if info.directory is None:
            continue
        saved_steps = listed(info.directory)
        if saved_steps:
            last = next((event["step"] for event in reversed(logged(info.directory)) if event["event"] == "step"), None)
            steps = [(f"{one.step:,}", one.path) for one in saved_steps]
            end = (_("the end") if last is None else f"{last:,}", None)
            found_ones.append(ModelWithSteps(info.name, info.title, info.directory, (*steps, end)))
    own = {run.id: i for i, run in enumerate(own_models())}
    return sorted(found_ones, key=lambda past: own.get(past.name, len(own)))  # newest run first, shipped models last


@dataclass(frozen=True)
class SavedStep:
    """One saved step of a model; `version` changes when the model is replaced."""

    directory: Path
    path: Path | None
    version: int


def moments(past: ModelWithSteps) -> list[SavedStep]:
    version = (past.directory / "model.safetensors").stat().st_mtime_ns
    return [SavedStep(past.directory, path, version) for _label, path in past.steps]


@st.cache_resource(show_spinner=False, max_entries=4)  # each entry is a model; loading another is fast
def model_at(moment: SavedStep):
    """The model at that step; shared by all sessions, never changed."""
    from minibert import checkpoint
    from minibert.model import BertForPreTraining
    from minibert.training import snapshots

    if moment.path is None:
        return checkpoint.load(moment.directory, kind=BertForPreTraining)
    saved = next(one for one in snapshots.listed(moment.directory) if one.path == moment.path)
    return snapshots.load(moment.directory, saved)


MAX_TOKENS = 20  # drawn of the sentence: more are illegible from the back row
MAX_WORDS = 24
TOY_WORDS = "anna lucy nora ben jack omar she he her his tired happy sad lunch soup pie red blue green"
WORDS = "king queen man woman boy girl he she one two three four london paris france river sea good bad"


@st.cache_data(show_spinner=False, max_entries=400)
def expected_at(moment: SavedStep, ids: tuple[int, ...], place: int):
    """The probabilities over the vocabulary at one position, (V,)."""
    from minibert.inside.predictions.cloze import expectations

    return expectations(model_at(moment), list(ids), [place])[0].exp().numpy()


@st.cache_resource(show_spinner=False, max_entries=16)
def embeddings_at(moment: SavedStep):
    """The token embeddings, (V, H); (V, E) for an ALBERT. Kept, as one edit asks for those of every step."""
    return model_at(moment).bert.embeddings.token.weight.detach().numpy()


def answers_then(saved_steps: list[SavedStep], tokenizer, encoding, at: int, labels: list[str]) -> None:
    from plots.masking import Blank, expected_tokens
    from plots.pretraining import answers_over_steps

    st.markdown("### " + _("What it answers"))
    places = [i for i, number in enumerate(encoding.ids) if number == tokenizer.mask_id]
    if not places:
        st.info(_("Write `[MASK]` where a word is to be guessed."), icon=":material/edit:")
        return
    probs = [expected_at(moment, tuple(encoding.ids), places[0]) for moment in saved_steps]  # (V,) each
    ids = probs[at].argsort()[::-1][:5].tolist()
    words, bars = [tokenizer.vocab[i] for i in ids], probs[at][ids].tolist()
    with st.grid(2, min_column_width=360, key="then-answers") as grid:
        left, right = grid.container(key="then-answers-left"), grid.container(key="then-answers-right")
    with left:
        listed = _(", ").join(f"{word} {p:.1%}" for word, p in zip(words, bars, strict=True))
        figure(
            partial(
                expected_tokens,
                [Blank(_("at step {step}").format(step=labels[at]), words, bars)],
                axis=_("probability"),
            ),
            _("Likeliest at the blank, at step {step}: {told}.").format(step=labels[at], told=listed),
            "then-bars",
        )
    with right:
        series = {word: [p[i].item() for p in probs] for word, i in zip(words, ids, strict=True)}
        figure(
            partial(answers_over_steps, labels, series, at, (_("step"), _("probability"))),
            _("How likely these five were at every kept step. At the end: {told}.").format(
                told=_(", ").join(f"{word} {line[-1]:.1%}" for word, line in series.items())
            ),
            "then-lines",
            data=lambda: {_("step"): labels, **series},
        )


def head_then(model, tokenizer, encoding) -> None:
    import torch

    from minibert.inside.heads.arithmetic import record
    from minibert.model import Batch
    from plots.attention import attention_matrix

    st.markdown("### " + _("Where a head looks"))
    config = model.config
    with st.container(horizontal=True):
        layer = pick("layer", _("Layer"), [str(n + 1) for n in range(config.num_hidden_layers)], width=130)
        head = pick("head", _("Head"), [str(n + 1) for n in range(config.num_attention_heads)], width=130)
    activations = record(model.bert, Batch(torch.tensor([encoding.ids])))
    probs = activations[f"blocks.{layer}.attn.probs"][0, head]  # (T, T)
    row = next((i for i, number in enumerate(encoding.ids) if number == tokenizer.mask_id), 0)
    target = int(probs[row].argmax())
    alt = _("Attention of layer {layer}, head {head}. From {row} most goes to {column}: {share:.1%}.").format(
        layer=layer + 1,
        head=head + 1,
        row=encoding.tokens[row],
        column=encoding.tokens[target],
        share=probs[row, target].item(),
    )
    shown = list(with_first(around(len(encoding), MAX_TOKENS, row)))
    say_drawn(len(encoding), len(shown), follows=False)
    tokens, drawn = [encoding.tokens[i] for i in shown], probs[shown][:, shown]
    figure(attention_matrix(tokens, drawn, axes=_("from ↓ · to →"), scale=1.0), alt, "then-head")


def embeddings_then(saved_steps: list[SavedStep], tokenizer, at: int, labels: list[str], toy: bool) -> None:
    import numpy as np

    from minibert.inside.geometry.projection import principal_plane
    from plots.pretraining import word_map

    st.markdown("### " + _("Where its words lie"))
    key, start = ("toy-words", TOY_WORDS) if toy else ("words", WORDS)
    text = sentence_input(key, [], default=start, label=_("Words of the vocabulary"), max_chars=400)
    index = {token: number for number, token in enumerate(tokenizer.vocab)}
    words_given = list(dict.fromkeys(text.lower().split()))
    known = [word for word in words_given if word in index]
    words = known[:MAX_WORDS]
    if len(words) < len(known):
        st.caption(_("The first {n} words are drawn.").format(n=MAX_WORDS))
    if unknown := [word for word in words_given if word not in index]:
        st.caption(
            _("Not one token in this vocabulary, so left out: {words}").format(
                words=literal(_(", ").join(unknown[:12]))
            )
        )
    if len(words) < 3:
        st.info(_("Give at least three words that are tokens of this model."), icon=":material/edit:")
        return
    ids = tuple(index[word] for word in words)
    tables = [embeddings_at(moment)[list(ids)] for moment in saved_steps]  # (N, H) each
    plane = principal_plane(tables[-1])
    places = np.stack([plane.project(table) for table in tables])  # (S, N, 2)
    titles = tuple(_("component {n}: {share:.0%}").format(n=n, share=part) for n, part in enumerate(plane.explained, 1))
    figure(
        partial(word_map, words, places, at, titles, name_start=_("step {step}").format(step=labels[0])),
        _(
            "Embeddings of {n} words at step {step}, on the plane in which they differ most at the end ({share:.0%} of "
            "their variance there). Lines: the way since the first kept step."
        ).format(n=len(words), step=labels[at], share=sum(plane.explained)),
        "then-words",
        wide=True,
        data=lambda: {_("word"): words, "x": places[at, :, 0], "y": places[at, :, 1]},
    )
