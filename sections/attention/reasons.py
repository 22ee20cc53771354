"""Weights and reasons: the attention on a token or of a head against the effect of changing it."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from sections.attention.subject import Inputs, Needs, show_guesses
from ui.figures import figure
from ui.first_views import first_view
from ui.inputs import choice, clicked, pick, state
from ui.inspected_model import InspectedModel, head_name, word_to_hide
from ui.lesson import Lesson
from ui.model_cache import language_read, load
from ui.model_registry import available_models
from ui.model_widgets import WELL_READ
from ui.text import literal, show_tokens
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.explanations.interventions import HeadEffects
    from minibert.inside.model_input import ModelInput


# A text and the word to hide: first where weight and effect disagree, then where they agree. Found by
# measuring every word of twenty sentences with minilm-en, and of twelve with mini-zh.
EXAMPLES = {
    "en": (("She deposited the money at the bank.", "she"), ("She deposited the money at the bank.", "money")),
    "zh": (("法国的首都是巴黎。", "法"), ("太阳从东边升起。", "升")),
}
MOST_MEASURED = 32  # tokens of the user's text
MODELS = {"en": WELL_READ, "zh": "mini-zh"}


@st.cache_data(show_spinner=False, max_entries=64)
def by_head(subject: InspectedModel, hidden: ModelInput, position: int) -> HeadEffects:
    """The effect of changing each head on the prediction at `position`."""
    import torch

    from minibert.inside.explanations.interventions import HeadEffects, head_effects

    def measure() -> dict[str, Any]:
        return {name: x.numpy() for name, x in vars(head_effects(subject.model, hidden.batch(), position)).items()}

    stored = first_view("attention", "heads", subject.name, [hidden.ids, hidden.segments, position], measure)
    return HeadEffects(**{name: torch.from_numpy(x) for name, x in stored.items()})


@st.cache_data(show_spinner=False, max_entries=64)
def by_token(subject: InspectedModel, hidden: ModelInput, position: int) -> tuple[Any, Any]:
    """The attention each token gets from `position`, and the effect of hiding it on the prediction there."""
    from minibert.inside.explanations.interventions import token_effects

    return token_effects(subject.model, hidden.batch(), position)


def needs() -> Needs:
    return Needs.MODEL


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("A weight is not an explanation", title=False)
    measured_examples(inputs.subject)
    lesson.show("Your sentence")
    reading = inputs.reading.padded(0)
    if reading.length > MOST_MEASURED:  # hundreds of passes
        said = _("Every head and every token is changed in a pass of its own: here the model reads {n} tokens only.")
        st.caption(said.format(n=MOST_MEASURED))
        reading = reading.first(MOST_MEASURED)
    position = word_to_hide(reading, lesson.points.get(inputs.text))
    if position is not None:
        no_explanation(inputs.subject, reading.hiding(position), position)
    lesson.show("What follows from it")


def measured_examples(subject: InspectedModel) -> None:
    """The two sentences of EXAMPLES side by side, with the model on which they were measured."""
    from minibert.inside.model_input import ModelInput

    language = language_read(subject.name)
    there = {info.name for info in available_models(fill=True)}
    subject = InspectedModel.of(MODELS[language]) if MODELS[language] in there else subject
    tokenizer = load(subject.name).tokenizer
    for number, (box, (text, word)) in enumerate(zip(st.columns(2, gap="medium"), EXAMPLES[language], strict=True)):
        reading = ModelInput.of(tokenizer, text)
        position = reading.tokens.index(word) if word in reading.tokens else reading.words[0]
        hidden = reading.hiding(position)
        with box:
            st.caption(_("{model}: “{word}” is hidden.").format(model=literal(subject.name), word=literal(word)))
            show_tokens(hidden.tokens, selected=position, label=text)
            weight_against_effect(subject, hidden, position, f"attention-example-{number}", height=260)


def weight_against_effect(
    subject: InspectedModel, hidden: ModelInput, position: int, key: str, *, height: int = 290
) -> None:
    """For each other token: the attention it gets from the hidden word, and the effect of hiding it too."""
    from minibert.training.statistics import rank_correlation
    from plots.attention_experiments import weight_and_effect

    weight, effect = by_token(subject, hidden, position)
    known = [i for i in range(len(weight)) if not math.isnan(effect[i])]
    words = [hidden.tokens[i] for i in known]
    weight, effect = weight[known], effect[known]
    agreement(rank_correlation(weight, effect), len(words))
    figure(
        partial(
            weight_and_effect,
            words,
            weight,
            effect,
            axes=(_("attention it gets"), _("probability that moves")),
            marked=spread(weight, effect, words),
            height=height,
        ),
        _("{n} tokens: the attention the hidden word pays them, mean of all heads, and what hiding them moves.").format(
            n=len(words)
        ),
        key,
        data=lambda: pd.DataFrame({_("token"): words, _("attention"): weight, _("moves"): effect}),
    )


@st.fragment(parallel=True)  # every head is changed in turn: the rest of the page does not wait
def no_explanation(subject: InspectedModel, hidden: ModelInput, position: int) -> None:
    from minibert.training.statistics import rank_correlation
    from plots.attention_experiments import weight_and_effect

    heads = by_head(subject, hidden, position)
    layers, count = heads.weight.shape
    names = [head_name(layer, head) for layer in range(layers) for head in range(count)]
    most, about = int(heads.shuffled.flatten().argmax()), (subject, hidden)
    if st.session_state.setdefault("attention-measured", about) != about:  # of another text another head moves most
        st.session_state["attention-measured"], st.session_state[state("tested")] = about, most
    show_tokens(hidden.tokens, selected=position, label=_("The sentence with the hidden word"))
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{_('Hide one token from all others')}**")
        weight_against_effect(subject, hidden, position, "attention-token-effects")
    with right:
        st.markdown(f"**{_('Shuffle the weights of one head')}**")
        agreement(rank_correlation(heads.weight.flatten(), heads.shuffled.flatten()), len(names))
        slot = st.container()
    st.markdown(striking(heads, names))

    st.markdown(f"**{_('Test a head yourself')}**")
    with st.container(horizontal=True):
        tested = pick("tested", _("Head to test"), names, default=most)
        edits = {"shuffled": _("shuffle"), "evened": _("even out"), "removed": _("remove")}
        how = choice("edit", _("What to do to it"), edits)
    with slot:
        figure(
            partial(
                weight_and_effect,
                names,
                heads.weight.flatten(),
                heads.shuffled.flatten(),
                axes=(_("its largest share"), _("probability that moves")),
                marked={tested: names[tested]},
                height=290,
            ),
            _("{n} heads: the largest share in the hidden word's row, and what shuffling the head moves.").format(
                n=len(names)
            ),
            "attention-head-effects",
            on_select=lambda: clicked("attention-head-effects", state("tested")),
            data=lambda: pd.DataFrame(
                {
                    _("largest share"): heads.weight.flatten(),
                    _("shuffled"): heads.shuffled.flatten(),
                    _("evened out"): heads.evened.flatten(),
                    _("removed"): heads.removed.flatten(),
                },
                index=names,
            ),
        )
    test_head(subject, hidden, position, divmod(tested, count), how)


def spread(weight: Any, effect: Any, words: list[str], count: int = 3) -> dict[int, str]:
    """Points to label: those with the most attention, and those with the largest effect."""
    chosen = {*weight.argsort(descending=True)[:count].tolist(), *effect.argsort(descending=True)[:count].tolist()}
    return {index: words[index] for index in chosen}


def agreement(rho: float, count: int) -> None:
    if math.isnan(rho):
        st.caption(_("Too few points to say how weight and effect go together."))
        return
    agreeing = _("little") if rho < 0.35 else _("in part") if rho < 0.8 else _("well")
    text = _("Weight and effect agree {said}: rank correlation **{rho}** ({n} points; +1 is full agreement, 0 none).")
    st.markdown(text.format(said=agreeing, rho=f"{rho:+.2f}".replace("-", "−"), n=count))


def striking(heads: HeadEffects, names: list[str]) -> str:
    """The sharp head with the smallest effect and the even head with the largest, in a sentence with their numbers."""
    weight, removed = heads.weight.flatten(), heads.removed.flatten()
    order = weight.argsort()
    third = max(1, len(order) // 3)
    even, sharp = order[:third], order[-third:]
    a, b = sharp[removed[sharp].argmin()].item(), even[removed[even].argmax()].item()
    return _(
        "Of the third of the heads with the largest shares, **{sharp}** matters least: it puts {w:.1%} on one token,"
        " and removing it moves **{s:.1%}** of the probability. Of the third with the smallest, **{even}** matters "
        "most: no share above {v:.1%}, and removing it moves **{r:.1%}**."
    ).format(
        sharp=names[a],
        w=weight[a].item(),
        s=removed[a].item(),
        even=names[b],
        v=weight[b].item(),
        r=removed[b].item(),
    )


def test_head(subject: InspectedModel, reading: ModelInput, position: int, at: tuple[int, int], how: str) -> None:
    """Change one head, `at` = (layer, head): the predictions before and after."""
    import torch

    from minibert.inside.explanations.interventions import (
        evened,
        fill_in,
        fill_in_edited,
        removed,
        shuffled,
        total_variation,
    )

    batch = reading.batch()
    edit, explanation = {
        "shuffled": (
            shuffled(*at, batch.padding[0], torch.Generator().manual_seed(0)),
            _("Each row’s weights are shuffled among its tokens: as sharp as before, but on other words."),
        ),
        "evened": (evened(*at, batch.padding[0]), _("Each row looks at all tokens alike.")),
        "removed": (removed(*at), _("The head hands on zeros.")),
    }[how]
    before = fill_in(subject.model, batch, position)[0]
    after = fill_in_edited(subject.model, batch, position, [edit])[0]
    left, right = st.columns([1, 2], gap="medium")
    with left:
        st.metric(_("Probability that moved"), f"{total_variation(before, after).item():.1%}")
        st.caption(explanation)
    with right:
        show_guesses(subject, before, after, (_("as trained"), _("changed")), "attention-test-words")
