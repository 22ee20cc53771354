"""The central picture: one block applied repeatedly beside separate blocks, and how far each application moves each
token's vector."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from sections.albert.subject import MOST, Inputs, steps_of
from ui.figures import figure
from ui.limits import say_left_out
from ui.page import picture
from ui.pairs import networks, tokenizer_of, warn_unknown
from ui.text import literal, visible
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.relatives.repetitions import Movement
    from minibert.tokenizer import Encoding


def show(inputs: Inputs) -> None:
    from minibert.inside.geometry.vectors import encoder_of
    from minibert.inside.relatives.repetitions import movement

    albert, bert, tokenizer = networks(inputs.pair)
    encoding = tokenizer.encode(inputs.text, max_length=MOST, truncation="head")
    berts = encoding_of_bert(inputs, encoding)
    moved = {
        "ALBERT": Moved(movement(encoder_of(albert), encoding.ids), encoding.tokens, inputs.token),
        "BERT": Moved(movement(encoder_of(bert), berts.ids), berts.tokens, same_place(encoding, berts, inputs.token)),
    }
    steps = {name: one.followed(one.movement.distances) for name, one in moved.items()}
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
            "".join(
                row_html(name, encoder_of(model), steps[name]) for name, model in (("ALBERT", albert), ("BERT", bert))
            )
        )
        _draw(moved, words)
        bands = _("The bands reach from the token that is moved least to the one that is moved most.")
        st.caption(bands + _read(inputs))
        warn_unknown(encoding.tokens)
        say_left_out(len(tokenizer.encode(inputs.text)) - len(encoding))


def _read(inputs: Inputs) -> str:
    """What the two models have read."""
    pair = inputs.pair
    if pair.further:
        words = _(" {albert} and {bert} have read different texts: compare the form of the curves, not their height.")
        return words.format(albert=literal(pair.relative.name), bert=literal(pair.bert.name))
    words = _(
        " Steps of training: ALBERT {albert:,}, BERT {bert:,}. The runs of *The claim* are others: smaller models, "
        "{claim:,} steps."
    )
    claim = RELATIVE_EXPERIMENTS["albert"].scale.steps
    return words.format(albert=steps_of(pair.relative), bert=steps_of(pair.bert), claim=claim)


def encoding_of_bert(inputs: Inputs, encoding: Encoding) -> Encoding:
    """The text as BERT reads it: the same tokens, but for two models with a vocabulary each."""
    if not inputs.pair.further:
        return encoding
    return tokenizer_of(inputs.pair.bert, inputs.pair.version).encode(inputs.text, max_length=MOST, truncation="head")


def same_place(one: Encoding, other: Encoding, token: int | None) -> int | None:
    """The token of `other` where a token of `one` begins; [CLS] and [SEP] are their own."""
    if token is None or one is other:
        return token
    if one.special[token] and one.words[token] is None:
        return 0 if token == 0 else len(other) - 1
    start = one.offsets[token][0]
    inside = [i for i, word in enumerate(other.words) if word is not None]
    return min(inside, key=lambda i: abs(other.offsets[i][0] - start), default=0)


@dataclass(frozen=True)
class Moved:
    """How far a model moves its tokens, and which of them is followed; None: all."""

    movement: Movement
    tokens: list[str]
    token: int | None

    def followed(self, values) -> list[float]:
        """(L, T) → per layer, the value of the followed token, or the mean over tokens."""
        return (values.mean(axis=1) if self.token is None else values[:, self.token]).tolist()


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


def _draw(moved: dict[str, Moved], words: str) -> None:
    from plots.over_layers import Line, Panel, over_layers

    panels = []
    for title, pick in (
        (_("distance between input and output"), lambda one: one.movement.distances),
        (_("cosine between input and output"), lambda one: one.movement.cosines),
    ):
        lines = []
        for (name, one), look in zip(moved.items(), ("first", "second"), strict=True):
            values = pick(one)
            token = None if one.token is None else visible(one.tokens[one.token])
            own = name if token is None else _("{name}, {token}").format(name=name, token=token)
            spread = {"low": values.min(axis=1).tolist(), "high": values.max(axis=1).tolist()}
            lines.append(Line(own, one.followed(values), look, **spread))
        panels.append(Panel(title, lines))
    layers = max(len(one.movement.distances) for one in moved.values())
    details = _("; ").join(
        _("{name}: distances {distances}, cosines {cosines}").format(
            name=name,
            distances=_(", ").join(f"{x:.1f}" for x in one.followed(one.movement.distances)),
            cosines=_(", ").join(f"{x:.2f}" for x in one.followed(one.movement.cosines)),
        )
        for name, one in moved.items()
    )
    figure(
        partial(over_layers, panels, [str(n + 1) for n in range(layers)], _("layer, or use of the block")),
        f"{words} {details}{_('.')}",
        "movement",
        wide=True,
        data=lambda: [
            {
                _("model"): name,
                _("layer"): layer + 1,
                **{
                    f"{n} · {visible(token)}": round(float(x), 2)
                    for n, (token, x) in enumerate(zip(one.tokens, row, strict=True), 1)
                },
            }
            for name, one in moved.items()
            for layer, row in enumerate(one.movement.distances)
        ],
    )
