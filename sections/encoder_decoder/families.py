"""Encoder, decoder and both, side by side in a table."""

import pandas as pd
import streamlit as st

from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, names: list[str], tokens: int) -> None:
    """The three families by name, and how many tokens of a sentence of length `tokens` each trains on."""
    import torch

    from minibert.corruption import masking_budget

    asked = int(masking_budget(torch.tensor([tokens]), 0.15)[0])
    lesson.show("Side by side")
    some = _("{n} of {all} ({share:.0%})")
    full = some.format(n=tokens, all=tokens, share=1)
    rows = [
        (_("Input"), _("the whole text"), _("the text so far"), _("a source; the target so far")),
        (_("Mask"), _("none but padding"), _("causal"), _("none on the source, causal on the target")),
        (_("Is asked"), _("hidden tokens"), _("the next token, everywhere"), _("the next target token, everywhere")),
        (
            _("Tokens that teach, of yours"),
            some.format(n=asked, all=tokens, share=asked / tokens if tokens else 0),
            full,
            _("{full}, as the target").format(full=full),
        ),
        (_("Good for"), _("classifying, tagging, finding"), _("writing on"), _("translating, summarising")),
        (_("For instance"), _("BERT, RoBERTa"), _("GPT"), _("the Transformer of 2017, T5, BART")),
    ]
    head = ("", *names)
    with st.container(key="wide-families"):
        st.table(pd.DataFrame(rows, columns=head).set_index(""))
