"""How many positions are trained: on the user's sentence, BERT's masked positions beside the discriminator's labels."""

import streamlit as st

from sections.electra.side_by_side import draw
from sections.electra.subject import Inputs, networks
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import tokens_html
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.relatives.parts.replaced_token_detection import NetworkPair, ReplacedTokens

    lesson.show("Every token is a question")
    replaced = draw(inputs)
    if replaced is not None:
        one = replaced.one
        everything = range(len(one.read))
        tokenizer = networks(inputs.pair)[2]
        hidden = [tokenizer.mask_id if gone else i for gone, i in zip(one.hidden, one.original, strict=True)]
        n, all_ = sum(one.hidden), len(one.read)
        st.markdown(_("**BERT** has a loss at {n} of {all} tokens: which word stood here?").format(n=n, all=all_))
        st.html(
            tokens_html(
                [replaced.vocab[i] for i in hidden],
                under=[_("which?") if one.hidden[i] else "" for i in everything],
                kinds=["mask" if one.hidden[i] else "faded" for i in everything],
                label=_("where BERT has a loss"),
            )
        )
        st.markdown(_("**ELECTRA** has a loss at {all} of {all}: is this the word that stood here?").format(all=all_))
        st.html(
            tokens_html(
                [replaced.vocab[i] for i in one.read],
                under=[_("replaced") if one.replaced[i] else _("original") for i in everything],
                kinds=["changed" if one.replaced[i] else "plain" for i in everything],
                label=_("where ELECTRA has a loss"),
            )
        )
    lesson.show("The loss")
    filled = rf"-\textstyle\sum_{{t\in\text{{{_('hidden')}}}}}\log p_G(x_t)"
    told = r"-\textstyle\sum_{t}\big[\,r_t\log D_t+(1-r_t)\log(1-D_t)\,\big]"
    names = _("generator: masked LM"), _("discriminator: all tokens")
    st.latex(
        rf"\mathcal{{L}} = \underbrace{{{filled}}}_{{\text{{{names[0]}}}}}"
        rf"\;+\;50\,\underbrace{{{told}}}_{{\text{{{names[1]}}}}}"
    )
    st.caption(
        _(
            "Both sums are means over the tokens with a loss. D is how likely the discriminator finds it that the "
            "token was replaced; r is 1 where it was."
        )
    )
    show_source(NetworkPair.forward, find="filled_in", label=_("The generator fills, the discriminator reads"))
    show_source(NetworkPair.labels, find="!= original", label=_("A sample that is right counts as original"))
    show_source(ReplacedTokens.loss_weight, label=_("The weight of the discriminator’s loss"))
