"""A text whose masks fall anew in each epoch: our own view, animated in the browser."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from ui.computations import fingerprint
from ui.player import playing
from ui.text import visible
from ui.translations import _

_HTML = """<div class="mb-falling">
<ol tabindex="0" dir="auto"></ol>
<div class="way"><button type="button"></button><button type="button"></button><button type="button"></button>
<p class="said" aria-live="polite"></p></div>
</div>"""


@dataclass(frozen=True)
class MaskedCopy:
    """One masked version of a text. read: the model's input tokens · fates: what happened to each (cloze.FATES)."""

    read: Sequence[str]
    fates: Sequence[str]


def falling_masks(key: str, tokens: Sequence[str], special: Sequence[bool], draws: Sequence[MaskedCopy]) -> None:
    """The text with its masks, one epoch per click or arrow key; the first falls at once."""
    data = {
        "tokens": [visible(token) for token in tokens],
        "special": list(special),
        "epochs": [
            {
                "read": [visible(token) for token in draw.read],
                "fates": list(draw.fates),
                "under": [_under(fate, visible(token)) for fate, token in zip(draw.fates, tokens, strict=True)],
                "said": caption,
            }
            for draw, caption in zip(draws, _captions(draws, special), strict=True)
        ],
        "colours": _colours(),
        "words": {
            "row": _("What the model reads"),
            "before": _("Epoch before"),
            "after": _("Next epoch"),
            **playing(),
        },
    }
    _component()(key=key, data={"identity": fingerprint(data), **data})


def _under(fate: str, token: str) -> str:
    return {"masked": _("was {token}"), "random": _("was {token}"), "kept": _("kept")}.get(fate, "").format(token=token)


def _captions(draws: Sequence[MaskedCopy], special: Sequence[bool]) -> list[str]:
    """For each epoch: how many tokens are targets, of which fate, and how many for the first time."""
    captions, covered, n = [], set(), len(special) - sum(special)
    for number, draw in enumerate(draws, 1):
        targets = {place for place, fate in enumerate(draw.fates) if fate != "untouched"}
        new, covered = targets - covered, covered | targets
        captions.append(
            _(
                "Epoch {number} of {all}: {asked} asked ({masked} [MASK], {random} random, {kept} kept), {new} for the "
                "first time; {seen} of {n} so far"
            ).format(
                number=number,
                all=len(draws),
                asked=len(targets),
                **{name: draw.fates.count(name) for name in ("masked", "random", "kept")},
                new=len(new),
                seen=len(covered),
                n=n,
            )
        )
    return captions


def _colours() -> dict[str, str]:
    """Colour of each fate except "untouched", as red, green, blue."""
    from plots.masking import FATE_COLOURS

    targets = {fate: colour.lstrip("#") for fate, colour in FATE_COLOURS.items() if colour.startswith("#")}
    return {fate: ", ".join(str(int(colour[i : i + 2], 16)) for i in (0, 2, 4)) for fate, colour in targets.items()}


def _component():
    """Register on every run: the registry lives as long as the server, and any page may be opened first."""
    folder = Path(__file__).parent
    css, js = (folder.joinpath(f"falling_masks.{end}").read_text(encoding="utf-8") for end in ("css", "js"))
    return st.components.v2.component("minibert_falling_masks", html=_HTML, css=css, js=js)
