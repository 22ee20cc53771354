"""Epoch after epoch: how much of a text is ever a target, and how few targets each epoch has."""

from functools import partial

import streamlit as st

from sections.masking import draws
from sections.masking.subject import Inputs
from ui.figures import figure
from ui.lesson import Lesson
from ui.text import visible
from ui.translations import _

COLUMNS = 40  # most tokens in the figure


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("Epoch after epoch", title=False)
    readings = draws.read(inputs)
    if readings is None:
        return
    _show_rows(readings)
    lesson.show("What it costs")
    _show_cost(readings.n, readings.num_targets, readings.settings.rate, readings.settings.split)


def fate_names() -> dict[str, str]:
    return {"untouched": _("not asked"), "masked": "[MASK]", "random": _("random token"), "kept": _("kept")}


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
    summary = _("After {epochs} epochs {asked} of {n} tokens have been predicted at least once: {share:.0%}").format(
        epochs=len(rows), asked=len(covered), n=n, share=len(covered) / n
    )
    tokens, fates = [visible(encoding.tokens[i]) for i in shown], fate_names()
    cells = [[row[i] for i in shown] for row in rows]
    figure(
        partial(mask_rows, tokens, cells, names, names=fates, title=summary),
        f"{summary}.",
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
                "In one reading BERT predicts **{asked}** of {n} tokens ({share:.0%}), a left-to-right model all "
                "**{n}**. For as many predictions BERT reads the text **{times}** times."
            ).format(
                asked=num_targets, n=n, share=num_targets / n, times=f"{n / num_targets:.1f}" if num_targets else "∞"
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
