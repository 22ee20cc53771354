"""What falls: the masks of a text, drawn anew in each epoch, and their arithmetic."""

import streamlit as st

from sections.masking import draws
from sections.masking.falling_masks import falling_masks
from sections.masking.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.corruption import mask_tokens

    lesson.show("The cloze test", title=False)
    readings = draws.read(inputs)
    if readings is None:
        return
    falling_masks("falling", readings.encoding.tokens, readings.encoding.special, readings.draws)
    _show_arithmetic(readings)
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
            "Whole words: {asked} of the budget of {budget}. A word falls complete or not at all; no other fitted "
            "what was left."
        )
        st.caption(words.format(asked=num_targets, budget=budget))
    elif num_targets > budget:
        words = _("Whole words: every word has more pieces than the budget of {budget}, so the shortest falls alone.")
        st.caption(words.format(budget=budget))
