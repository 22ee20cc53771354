"""The central picture: one block applied repeatedly beside separate blocks, and how far each application moves each
token's vector."""

import html
from functools import partial

import streamlit as st

from sections.albert.subject import MOST, Inputs, steps_of
from ui.figures import figure
from ui.page import picture
from ui.pairs import networks
from ui.text import literal, visible
from ui.translations import _


def show(inputs: Inputs) -> None:
    from minibert.inside.relatives.repetitions import movement

    albert, bert, tokenizer = networks(inputs.pair)
    encoding = tokenizer.encode(inputs.text, max_length=MOST, truncation="head")
    moved = {"ALBERT": movement(albert.bert, encoding.ids), "BERT": movement(bert.bert, encoding.ids)}
    steps = {name: _followed(one.distances, inputs.token) for name, one in moved.items()}
    who = _("On average") if inputs.token is None else f"“{visible(encoding.tokens[inputs.token])}”"
    with picture():
        words = _(
            "{who}: ALBERT’s block moves the vector by {a0:.1f} when it is used first and by {albert:.1f} when it is "
            "used last; BERT’s first block by {b0:.1f}, its last by {bert:.1f}."
        ).format(
            who=who,
            albert=steps["ALBERT"][-1],
            bert=steps["BERT"][-1],
            a0=steps["ALBERT"][0],
            b0=steps["BERT"][0],
        )
        st.markdown(f"**{literal(words)}**")
        st.html(
            "".join(row_html(name, model.bert, steps[name]) for name, model in (("ALBERT", albert), ("BERT", bert)))
        )
        _draw(moved, [visible(token) for token in encoding.tokens], inputs.token, words)
        steps = {
            name: steps_of(folder) for name, folder in (("albert", inputs.pair.relative), ("bert", inputs.pair.bert))
        }
        bands = _(
            "The bands reach from the token that is moved least to the one that is moved most. Steps of training: "
            "ALBERT {albert:,}, BERT {bert:,}."
        )
        st.caption(bands.format(**steps))
        count = encoding.tokens.count("[UNK]")
        if count:
            unknown = _("{n} of your words are not in the vocabulary of these models: both read {unk} there.")
            st.caption(unknown.format(n=count, unk=literal("[UNK]")))


def _followed(values, token: int | None) -> list[float]:
    """(L, T) → per layer, the value of that token, or the mean over tokens if None."""
    return (values.mean(axis=1) if token is None else values[:, token]).tolist()


def row_html(name: str, bert, steps: list[float]) -> str:
    """One box per layer, as safe HTML: which copy of attention and of the feed-forward it uses, and how far it moves
    the vector. Copies shared with other layers are filled."""
    from minibert.inside.relatives.repetitions import copies

    halves = {"attn": _("attention {n}"), "mlp": _("feed-forward {n}")}
    used = {half: copies(bert, half) for half in halves}
    boxes = []
    for layer, step in enumerate(steps):
        rows = ""
        for half, words in halves.items():
            copy = used[half][layer]
            css = ' class="same"' if used[half].count(copy) > 1 else ""
            rows += f"<span{css}>{html.escape(words.format(n=copy))}</span>"
        width = 100 * step / max(steps)
        moved = html.escape(_("moves {step:.1f}").format(step=step))
        boxes.append(f'<li>{rows}<b style="--w:{width:.0f}%"><i>{moved}</i></b></li>')
    label = html.escape(_("{name}: the blocks that a text goes through, and how far each moves it").format(name=name))
    row = f'<ol aria-label="{label}">{"".join(boxes)}</ol>'
    return f'<div class="mb-albert"><strong>{html.escape(name)}</strong>{row}</div>'


def _draw(moved: dict, tokens: list[str], token: int | None, words: str) -> None:
    from plots.over_layers import Line, Panel, over_layers

    panels = []
    for title, pick in (
        (_("distance between input and output"), lambda one: one.distances),
        (_("cosine between input and output"), lambda one: one.cosines),
    ):
        lines = []
        for (name, one), look in zip(moved.items(), ("first", "second"), strict=True):
            values = pick(one)
            own = name if token is None else _("{name}, {token}").format(name=name, token=tokens[token])
            spread = {"low": values.min(axis=1).tolist(), "high": values.max(axis=1).tolist()}
            lines.append(Line(own, _followed(values, token), look, **spread))
        panels.append(Panel(title, lines))
    layers = max(len(one.distances) for one in moved.values())
    details = "; ".join(
        _("{name}: distances {distances}, cosines {cosines}").format(
            name=name,
            distances=", ".join(f"{x:.1f}" for x in _followed(one.distances, token)),
            cosines=", ".join(f"{x:.2f}" for x in _followed(one.cosines, token)),
        )
        for name, one in moved.items()
    )
    figure(
        partial(over_layers, panels, [str(n + 1) for n in range(layers)], _("layer, or use of the block")),
        f"{words} {details}.",
        "movement",
        wide=True,
        data=lambda: [
            {
                _("model"): name,
                _("layer"): layer + 1,
                **{f"{n} · {word}": round(float(x), 2) for n, (word, x) in enumerate(zip(tokens, row, strict=True), 1)},
            }
            for name, one in moved.items()
            for layer, row in enumerate(one.distances)
        ],
    )
