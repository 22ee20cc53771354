"""Epoch after epoch: how much of a text is ever a target, and how few targets each epoch has."""

from functools import partial

import numpy as np
import streamlit as st

from sections.masking import draws
from sections.masking.subject import Inputs
from ui.figures import figure
from ui.first_views import first_view
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.text import visible
from ui.translations import _

COLUMNS = 40  # most tokens in the figure
HIDDEN = (5, 15, 30, 45, 60, 75, 90)  # percent of the tokens
COPIES = 4  # draws at each of them


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    place = st.container()  # the picture stands above what sets it
    readings = draws.read(inputs)
    if readings is None:
        return
    with place:
        _show_rows(readings)
    lesson.show("Epoch after epoch", title=False)
    lesson.show("What it costs")
    _show_cost(readings.n, readings.num_targets, readings.settings.rate, readings.settings.split)
    lesson.show("Hiding more")
    _show_hiding_more(inputs, readings)


def fate_names() -> dict[str, str]:
    return {"untouched": _("not chosen"), "masked": "[MASK]", "random": _("random token"), "kept": _("kept")}


def _show_rows(readings: draws.MaskedText) -> None:
    """Each epoch's draw as a row; beside its name, how many tokens are targets for the first time."""
    from plots.masking import mask_rows

    encoding, n, each = readings.encoding, readings.n, readings.num_targets
    rows = [draw.fates for draw in readings.draws]

    candidates = [i for i, special in enumerate(encoding.special) if not special]
    covered: set[int] = set()
    names = []
    for number, row in enumerate(rows, 1):
        new = {i for i in candidates if row[i] != "untouched"} - covered
        covered |= new
        names.append(_("Epoch {number}: {new} new").format(number=number, new=len(new)))
    shown = candidates[:COLUMNS]
    if len(shown) < n:
        st.caption(
            _("The figure shows the first {shown} of {n} tokens; the numbers count all.").format(shown=COLUMNS, n=n)
        )
    summary = _("After {epochs} epochs {seen} of {n} tokens have been predicted at least once: {share:.0%}").format(
        epochs=len(rows), seen=len(covered), n=n, share=len(covered) / n
    )
    tokens, fates = [visible(encoding.tokens[i]) for i in shown], fate_names()
    cells = [[row[i] for i in shown] for row in rows]
    figure(
        partial(mask_rows, tokens, cells, names, names=fates, title=summary),
        summary + _("."),
        "epoch-rows",
        data=lambda: {
            _("token"): tokens,
            **{name: [fates[fate] for fate in row] for name, row in zip(names, cells, strict=True)},
        },
        wide=True,
    )
    if readings.settings.drawing == "static":
        st.markdown(_("More epochs add nothing: the same tokens fall each time."))
    elif readings.settings.whole_words:  # then tokens are not equally likely to be chosen
        st.markdown(_("A word longer than the budget is passed over: its tokens may never be predicted."))
    else:
        st.markdown(
            _("{epochs} new draws of {each} are expected to reach 1 − (1 − {each}/{n}){power} = {share:.0%}.").format(
                epochs=len(rows), each=each, n=n, power=_power(len(rows)), share=1 - (1 - each / n) ** len(rows)
            )
        )


def _power(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _show_cost(n: int, num_targets: int, rate: int, split: tuple[int, ...]) -> None:
    """How few tokens are targets, and how much of the pre-training input never occurs in fine-tuning."""
    from plots.masking import percent, what_is_read

    with st.container(key="cost"):
        st.markdown(
            _(
                "In one reading BERT predicts **{chosen}** of {n} tokens ({share:.0%}), a left-to-right model all "
                "**{n}**. For as many predictions BERT reads the text **{times}** times."
            ).format(
                chosen=num_targets, n=n, share=num_targets / n, times=f"{n / num_targets:.1f}" if num_targets else "∞"
            )
        )
    masked, random, kept = (rate / 100 * share / 100 for share in split)
    figure(
        partial(
            what_is_read,
            rate / 100,
            (split[0] / 100, split[1] / 100, split[2] / 100),
            rows=(_("Pre-training reads"), _("Fine-tuning reads")),
            names=fate_names(),
            title=_("{masked} of what pre-training reads is [MASK], 0 % in fine-tuning").format(masked=percent(masked)),
        ),
        _(
            "Of the tokens read in pre-training, on average, {masked} are [MASK], {random} random, {kept} kept but "
            "predicted, {rest} without a loss. In fine-tuning all are ordinary words."
        ).format(masked=percent(masked), random=percent(random), kept=percent(kept), rest=percent(1 - rate / 100)),
        "reading",
    )


def _show_hiding_more(inputs: Inputs, readings: draws.MaskedText) -> None:
    """The model's mean loss at the hidden tokens by the share that is hidden: the more is hidden, the less tells."""
    from plots.attention_experiments import curves

    encoding, seed = readings.encoding, readings.settings.seed
    losses = _losses_by_share(
        inputs.model, version_of(inputs.model), tuple(encoding.ids), tuple(encoding.special), seed
    )
    title = _("Loss at a hidden token: {few:.1f} with {least} % hidden, {many:.1f} with {most} %").format(
        few=losses[0], least=HIDDEN[0], many=losses[-1], most=HIDDEN[-1]
    )
    figure(
        partial(
            curves, HIDDEN, {"": losses}, xaxis=_("hidden, % of the tokens"), yaxis=_("mean −ln p, nats"), height=320
        ),
        title + _("."),
        "loss-by-share",
        title=title,
        data=lambda: {_("hidden, % of the tokens"): list(HIDDEN), _("mean −ln p, nats"): losses},
    )


@st.cache_data(show_spinner=False, max_entries=64)
def _losses_by_share(
    model: str, version: int, ids: tuple[int, ...], special: tuple[bool, ...], seed: int
) -> list[float]:
    """The mean loss at tokens hidden by [MASK], over COPIES draws, for each of HIDDEN."""
    import torch

    from minibert.corruption import MaskVocabulary, mask_tokens
    from minibert.inside.predictions.cloze import token_losses
    from minibert.model import IGNORE

    def compute() -> dict[str, np.ndarray]:
        loaded, rng = load(model), torch.Generator().manual_seed(seed)
        rows, never = torch.tensor(ids).expand(COPIES, -1), torch.tensor(special).expand(COPIES, -1)
        vocabulary, means = MaskVocabulary.of(loaded.tokenizer), []
        for share in HIDDEN:
            hidden, labels = mask_tokens(rows, never, vocabulary, rng, share / 100, (1.0, 0.0, 0.0))
            chosen = labels != IGNORE
            means.append(token_losses(loaded.model, hidden, labels)[chosen].mean().item())
        return {"means": np.array(means)}

    return first_view("masking", "losses", model, [ids, seed, HIDDEN, COPIES], compute)["means"].tolist()
