"""What falls: the masks of a text, drawn anew in each epoch and animated in the browser, and their arithmetic."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from sections.masking import draws
from sections.masking.subject import Inputs
from ui.computations import fingerprint
from ui.lesson import Lesson
from ui.model_cache import version_of
from ui.model_widgets import warn_untrained
from ui.player import playing
from ui.source import show_source
from ui.text import visible
from ui.translations import _


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.corruption import mask_tokens

    warn_untrained(inputs.model)
    place = st.container()  # the picture stands above what sets it
    readings = draws.read(inputs)
    if readings is None:
        return
    ids, labels = zip(*((draw.ids, draw.labels) for draw in readings.draws), strict=True)
    losses = draws.losses(inputs.model, version_of(inputs.model), ids, labels)
    with place:
        falling_masks("falling", readings.encoding.tokens, readings.encoding.special, readings.draws, losses)
    _show_arithmetic(readings)
    lesson.show("The cloze test", title=False)
    lesson.show("What falls", title=False)
    show_source(mask_tokens, find="corrupted = ", label=_("The code that drew these masks"))


def _show_arithmetic(readings: draws.MaskedText) -> None:
    """The number of targets and its split as a table: expected, and in the first draw."""
    import torch

    from minibert.corruption import masking_budget

    n, rate, split = readings.n, readings.settings.rate, readings.settings.split
    budget = int(masking_budget(torch.tensor([n]), rate / 100))
    fates, whole_words = readings.draws[0].fates, readings.settings.whole_words
    counts = [fates.count(fate) for fate in ("masked", "random", "kept")]
    num_targets = sum(counts)
    rounded = round(rate / 100 * n)
    chosen = f"{rate / 100:.2f} × {n} = {rate / 100 * n:.2f} ≈ **{rounded}**"
    if budget != rounded:
        chosen += " " + _("→ at least **{n}**").format(n=budget)
    expected = [f"{share / 100:.2f} × {budget} = {share / 100 * budget:.1f}" for share in split]
    head = [_("chosen of {n} tokens").format(n=n), "[MASK]", _("random token"), _("kept")]
    with st.container(key="arithmetic"):
        st.markdown(
            f"| | {' | '.join(head)} |\n|:--|{':-:|' * 4}\n"
            f"| {_('expected')} | {chosen} | {' | '.join(expected)} |\n"
            f"| **{_('epoch 1')}** | **{num_targets}** | {' | '.join(f'**{count}**' for count in counts)} |"
        )
    if whole_words and num_targets < budget:
        words = _(
            "Whole words: {chosen} of the budget of {budget}. A word falls complete or not at all; no other fitted "
            "what was left."
        )
        st.caption(words.format(chosen=num_targets, budget=budget))
    elif num_targets > budget:
        words = _("Whole words: every word has more pieces than the budget of {budget}, so the shortest falls alone.")
        st.caption(words.format(budget=budget))


_HTML = """<div class="mb-falling">
<ol tabindex="0" dir="auto"></ol>
<div class="way"><button type="button"></button><button type="button"></button><button type="button"></button>
<p class="said" aria-live="polite"></p></div>
</div>"""


def falling_masks(
    key: str,
    tokens: Sequence[str],
    special: Sequence[bool],
    copies: Sequence[draws.MaskedCopy],
    losses: Sequence[Sequence[float]],
) -> None:
    """The text with its masks, one epoch per click or arrow key; the first falls at once. losses: −ln p of each token,
    for each copy."""
    data = {
        "tokens": [visible(token) for token in tokens],
        "special": list(special),
        "epochs": [
            {
                "read": [visible(token) for token in draw.read],
                "fates": list(draw.fates),
                "under": [_under(fate, visible(token)) for fate, token in zip(draw.fates, tokens, strict=True)],
                "losses": [
                    "" if fate == "untouched" else f"−ln p = {loss:.2f}"
                    for fate, loss in zip(draw.fates, each, strict=True)
                ],
                "said": caption,
            }
            for draw, each, caption in zip(copies, losses, _captions(copies, special, losses), strict=True)
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
    if fate in ("masked", "random"):
        return _("was {token}").format(token=token)
    return _("kept") if fate == "kept" else ""


def _captions(
    copies: Sequence[draws.MaskedCopy], special: Sequence[bool], losses: Sequence[Sequence[float]]
) -> list[str]:
    """For each epoch: how many tokens are targets, of which fate, their mean loss, and how many have been targets."""
    captions, covered, n = [], set(), len(special) - sum(special)
    for number, (draw, each) in enumerate(zip(copies, losses, strict=True), 1):
        targets = {place for place, fate in enumerate(draw.fates) if fate != "untouched"}
        covered |= targets
        captions.append(
            _(
                "Epoch {number} of {all}: {chosen} chosen ({masked} [MASK], {random} random, {kept} kept), mean loss "
                "{loss:.2f}; {seen} of {n} tokens so far"
            ).format(
                number=number,
                all=len(copies),
                chosen=len(targets),
                loss=sum(each) / max(1, len(targets)),
                **{name: draw.fates.count(name) for name in ("masked", "random", "kept")},
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
