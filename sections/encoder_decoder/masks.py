"""Who sees whom: one sentence under the masks of an encoder, a decoder, and both together."""

from functools import partial

import pandas as pd
import streamlit as st

from sections.encoder_decoder.subject import Inputs, finding, two_words_needed
from ui.figures import figure, legend
from ui.inputs import choice, clicked, numbered, pick, state
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import literal, visible
from ui.translations import _

MAX_SQUARES = 8  # words in the pictures of the masks: three stand side by side


def mask_names() -> dict[str, str]:
    return {"encoder": _("Encoder"), "decoder": _("Decoder"), "both": _("Encoder–decoder")}


def kinds(mask: str, count: int, start: int) -> list[list[str]]:
    """(N, N): attention from row i to column j, in words of plots.encoder_decoder; the target begins at `start`."""
    import torch

    from minibert.attention_masks import causal_mask, padding_mask, prefix_mask
    from plots.encoder_decoder import CROSS, SELF, UNSEEN

    if mask == "encoder":
        allowed = padding_mask(torch.ones(1, count, dtype=torch.bool)).expand(1, 1, count, count)
    elif mask == "decoder":
        allowed = causal_mask(count)
    else:
        allowed = prefix_mask((torch.arange(count) >= start).long()[None])
    visible_cells = allowed[0, 0].tolist()
    across = [[mask == "both" and j < start <= i for j in range(count)] for i in range(count)]
    return [
        [CROSS if across[i][j] else SELF if visible_cells[i][j] else UNSEEN for j in range(count)] for i in range(count)
    ]


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """The three masks side by side; one of them in numbers; the families they define."""
    from minibert.toy.seq2seq import split_words

    whole = split_words(inputs.text)
    words = [visible(word) for word in whole[:MAX_SQUARES]]
    if len(words) < len(whole):
        said = _("The pictures show the first {n} of {total} words.")
        st.caption(said.format(n=len(words), total=len(whole)))
    if len(words) < 2:
        two_words_needed()
    else:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            position = pick("position", _("Position (row)"), numbered(words), default=len(words) // 2)
            start = 1 + pick(
                "target", _("The target begins at"), numbered(words)[1:], default=max(0, (len(words) + 1) // 2 - 1)
            )
            mask = choice("mask", _("In detail"), mask_names())
        _squares(words, position, start, mask)
        _in_numbers(mask, words, start)
    lesson.show("Who sees whom", title=False)
    lesson.show("What the masks mean")
    _families(lesson, list(mask_names().values()), len(whole))


def _squares(words: list[str], position: int, start: int, mask: str) -> None:
    from plots.encoder_decoder import CROSS, LOOK, SELF, UNSEEN, mask_squares

    panels = {name: kinds(name, len(words), start) for name in mask_names()}
    sights = {
        name: [word for word, kind in zip(words, cells[position], strict=True) if kind != UNSEEN]
        for name, cells in panels.items()
    }
    finding(
        _("Position {n}, “{word}”: an encoder sees {all} words, a decoder {past}, an encoder–decoder {both}").format(
            n=position + 1,
            word=literal(words[position]),
            all=len(sights["encoder"]),
            past=len(sights["decoder"]),
            both=len(sights["both"]),
        )
    )
    counted = {
        name: _("{mask}\nsees {n} of {all}").format(mask=title, n=len(sights[name]), all=len(words))
        for name, title in mask_names().items()
    }
    with st.container(key="wide-masks"):
        figure(
            partial(mask_squares, words, {counted[name]: cells for name, cells in panels.items()}, position),
            _("What {word} sees. {sights}.").format(
                word=words[position],
                sights=_("; ").join(
                    f"{title}{_(': ')}{_(', ').join(sights[name])}" for name, title in mask_names().items()
                ),
            ),
            "ed-masks",
            on_select=lambda: clicked("ed-masks", state("position")),
            data=lambda: pd.DataFrame(panels[mask], index=numbered(words), columns=numbered(words)),
        )
    legend(
        [
            (LOOK[SELF][0], "■", _("sees it by self-attention")),
            (LOOK[CROSS][0], "◆", _("sees it by cross-attention")),
            (LOOK[UNSEEN][0], "×", _("cannot see it")),
        ]
    )


def _in_numbers(mask: str, words: list[str], start: int) -> None:
    """The chosen mask in numbers, and the code that made it."""
    from minibert import attention_masks
    from plots.encoder_decoder import UNSEEN

    cells = kinds(mask, len(words), start)
    open_cells = sum(cell != UNSEEN for row in cells for cell in row)
    explanation = {
        "encoder": _("Only padding is hidden, and there is none here."),
        "decoder": _("n (n + 1) / 2 of n²: about half, and never anything to the right."),
        "both": _(
            "The {s} source words see each other; the {t} target words see all of them, and their own past."
        ).format(s=start, t=len(words) - start),
    }[mask]
    st.markdown(
        _("{name}: **{open} of {all}** pairs are open. {said}").format(
            name=mask_names()[mask], open=open_cells, all=len(words) ** 2, said=explanation
        )
    )
    show_source(
        {
            "encoder": attention_masks.padding_mask,
            "decoder": attention_masks.causal_mask,
            "both": attention_masks.prefix_mask,
        }[mask]
    )


def _families(lesson: Lesson, names: list[str], tokens: int) -> None:
    """The three families by name, and how many tokens of a sentence of length `tokens` each trains on."""
    import torch

    from minibert.corruption import masking_budget

    num_targets = int(masking_budget(torch.tensor([tokens]), 0.15)[0])
    lesson.show("Side by side")
    some = _("{n} of {all} ({share:.0%})")
    full = some.format(n=tokens, all=tokens, share=1)
    rows = [
        (_("Input"), _("the whole text"), _("the text so far"), _("a source; the target so far")),
        (_("Mask"), _("none but padding"), _("causal"), _("none on the source, causal on the target")),
        (_("Predicts"), _("hidden tokens"), _("the next token, everywhere"), _("the next target token, everywhere")),
        (
            _("Your tokens with a loss"),
            some.format(n=num_targets, all=tokens, share=num_targets / tokens if tokens else 0),
            full,
            _("{full}, as the target").format(full=full),
        ),
        (_("Good for"), _("classifying, tagging, finding"), _("writing on"), _("translating, summarising")),
        (_("For instance"), _("BERT, RoBERTa"), _("GPT"), _("the Transformer of 2017, T5, BART")),
    ]
    head = ("", *names)
    with st.container(key="wide-families"):
        st.table(pd.DataFrame(rows, columns=head).set_index(""))
