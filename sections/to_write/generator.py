"""BERT as a generator: tokens sampled one position at a time, each conditioned on all the others."""

from functools import partial

import pandas as pd
import streamlit as st

from sections.to_write.subject import SHIPPED, network
from ui.figures import figure
from ui.inputs import choice, seed_input
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.model_registry import available_models
from ui.model_widgets import choose_model
from ui.source import show_source
from ui.text import literal, show_tokens, visible
from ui.translations import _

MOST = 24


def orders() -> dict[str, str]:
    return {"random": _("any order"), "left_to_right": _("from the left"), "surest": _("the surest first")}


@st.fragment
def show(lesson: Lesson, inputs: None) -> None:
    from minibert.inside.predictions.gibbs import gibbs

    lesson.show("BERT as a generator", title=False)
    infos = available_models(fill=True, trained=True)
    titles = {"toy": _("BERT of the toy world"), **{info.name: info.title for info in infos}}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        model = choose_model("gibbs-model", _("Model"), titles, {info.name: info.directory for info in infos})
        order = choice("order", _("Places are visited in"), orders())
        length = st.slider(_("Tokens"), 3, MOST, 10, key="length", bind="query-params", width=170)
        sweeps = st.slider(_("Sweeps"), 1, 12, 4, key="sweeps", bind="query-params", width=170)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        look = {"format_func": "{:g}".format, "key": "heat", "bind": "query-params", "width": 220}
        heats, hint = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5), _("0: always the likeliest token.")
        temperature = st.select_slider(_("Temperature"), heats, value=0.5, help=hint, **look)
        seed = seed_input(1)
    version = (SHIPPED / "bert" / "model.safetensors").stat().st_mtime_ns if model == "toy" else version_of(model)
    vocab, draws = drawn(model, version, length, sweeps, order, temperature, seed)
    place = st.slider(_("Draws so far"), 0, len(draws) - 1, len(draws) - 1, key="draws")
    shown(vocab, draws, place)
    surprise(vocab, draws, length)
    lesson.show("Order matters")
    by_order(model, version, length, sweeps, temperature, seed)
    show_source(gibbs, "conditional", label=_("The sampler"))


def brain(model: str):
    """(model, tokenizer)"""
    return network(SHIPPED / "bert") if model == "toy" else (load(model).model, load(model).tokenizer)


@st.cache_data(show_spinner=False, max_entries=200)
def drawn(model: str, version: int, length: int, sweeps: int, order: str, temperature: float, seed: int):
    """→ (vocabulary, [(ids without [CLS] and [SEP], position drawn, predictions)])"""
    from minibert.inside.predictions.gibbs import gibbs

    bert, tokenizer = brain(model)
    ids = [tokenizer.cls_id, *[tokenizer.mask_id] * length, tokenizer.sep_id]
    how = {"sweeps": sweeps, "seed": seed, "order": order, "temperature": temperature}
    draws = gibbs(bert, ids, range(1, length + 1), tokenizer.mask_id, never=tokenizer.special_ids, **how)
    return tokenizer.vocab, [
        (one.ids[1:-1], None if one.place is None else one.place - 1, one.guesses) for one in draws
    ]


def shown(vocab, draws: list, number: int) -> None:
    ids, place, guesses = draws[number]
    kinds = ["changed" if i == place else "plain" for i in range(len(ids))]
    show_tokens([vocab[i] for i in ids], kinds=kinds, label=_("The row after {n} draws").format(n=number))
    if place is not None:
        listed = _(", ").join(f"{literal(visible(vocab[i]))} {p:.1%}" for i, p in guesses)
        st.caption(_("Place {n}, given all others: {guesses}").format(n=place + 1, guesses=listed))


def surprise(vocab, draws: list, length: int) -> None:
    """The row at the end of each sweep."""
    rows = [
        {_("sweep"): sweep, _("the row"): " ".join(visible(vocab[i], spaces=False) for i in draws[sweep * length][0])}
        for sweep in range(len(draws) // length + 1)
        if sweep * length < len(draws)
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)


def by_order(model: str, version: int, length: int, sweeps: int, temperature: float, seed: int) -> None:
    """How likely each order's row is after each sweep, by its pseudo-log-likelihood."""
    from plots.to_write import by_sweep

    lines = {words: likely(model, version, length, sweeps, name, temperature, seed) for name, words in orders().items()}
    listed = _("; ").join(
        f"{name}{_(': ')}{_(', ').join(f'{value:.2f}' for value in values)}" for name, values in lines.items()
    )
    figure(
        partial(by_sweep, lines, (_("sweeps"), _("mean ln P(token | all others)"))),
        _("How likely each token is, given all others, after each sweep, by the order of the places. {told}.").format(
            told=listed
        ),
        "gibbs-orders",
        data=[
            {_("order"): name, **{str(n): round(value, 3) for n, value in enumerate(values, 1)}}
            for name, values in lines.items()
        ],
    )


@st.cache_data(show_spinner=False, max_entries=200)
def likely(
    model: str, version: int, length: int, sweeps: int, order: str, temperature: float, seed: int
) -> list[float]:
    """The mean pseudo-log-likelihood per token after each sweep."""
    from minibert.inside.predictions.gibbs import conditional

    bert, tokenizer = brain(model)
    _vocab, draws = drawn(model, version, length, sweeps, order, temperature, seed)
    results = []
    for sweep in range(1, sweeps + 1):
        row = [tokenizer.cls_id, *draws[sweep * length][0], tokenizer.sep_id]
        each = [float(conditional(bert, row, i, tokenizer.mask_id)[row[i]]) for i in range(1, length + 1)]
        results.append(sum(each) / length)
    return results
